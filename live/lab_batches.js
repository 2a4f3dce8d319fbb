/** The rows that the lab trains on, and which of their pieces are hidden; as `bert_core.pretraining`. */

import { Source } from "./lab_text.js";
import { rounded } from "./numbers.js";

const [MASKED, RANDOM] = [0.8, 0.1]; // shares of the hidden pieces; the rest stays as it is

/** Return rows [CLS] A [SEP] of sentences as ids, of at most `length` pieces. */
export const sentenceRows = (sentences, { ids }, length) => ({ labels: null,
  rows: sentences.map((each) => [ids.get("[CLS]"), ...each.slice(0, length - 2), ids.get("[SEP]")]) });

/** Return rows [CLS] A [SEP] B [SEP], labelled 0 where B follows A and 1 where it does not. */
export function pairRows(documents, { ids }, length, seed) {
  const source = new Source(seed);
  const places = source.shuffle(documents.flatMap((each, n) => each.slice(1).map((_, at) => [n, at])));
  const labels = source.shuffle(places.map((_, n) => Number(n >= Math.ceil(places.length / 2))));
  const rows = places.map(([n, at], row) => {
    let [first, second] = documents[n].slice(at, at + 2);
    if (labels[row]) {
      source.share(); // Python draws here which kind of wrong pair it is
      let other = n;
      while (other === n) other = source.below(documents.length);
      second = source.choice(documents[other]);
    }
    [first, second] = [[...first], [...second]];
    while (first.length + second.length > length - 3) (first.length >= second.length ? first : second).pop();
    return [ids.get("[CLS]"), ...first, ids.get("[SEP]"), ...second, ids.get("[SEP]")];
  });
  return { rows, labels };
}

/** Rows in a new order and with new masks in every epoch, as in `PretrainingBatches`. */
export class Batches {
  /**
   * @param {{rows: number[][], labels: number[] | null}} all rows, with labels if they are pairs
   * @param {object} tokenizer of the lab
   */
  constructor({ rows, labels }, tokenizer, { size, rate, words = false, seed = 0 }) {
    Object.assign(this, { rows, labels, tokenizer, size, rate, words, seed, epoch: -1, order: [] });
    const { pieces } = tokenizer;
    this.special = pieces.map((piece) => /^\[(PAD|UNK|CLS|SEP|MASK)\]$/.test(piece));
    this.others = [...pieces.keys()].filter((id) => !this.special[id]);
  }

  #source(number) {
    return new Source(this.seed * 1_000_003 + number);
  }

  #number(place) {
    const count = this.rows.length;
    const epoch = Math.floor(place / count);
    if (this.epoch !== epoch) {
      this.epoch = epoch;
      this.order = this.#source(2 * epoch + 1).shuffle([...this.rows.keys()]);
    }
    return this.order[place % count];
  }

  /** Return which places of a row are hidden, by the keys of its places. */
  #hidden(row, keys) {
    const open = [...row.keys()].filter((place) => !this.special[row[place]]);
    const wanted = Math.max(1, rounded(Math.fround(open.length * Math.fround(this.rate))));
    const by = (values) => values.sort((a, b) => keys[a] - keys[b]);
    if (!this.words) return by(open).slice(0, wanted);
    const groups = [];
    for (const place of open) {
      if (/^##./.test(this.tokenizer.pieces[row[place]]) && groups.at(-1)?.at(-1) === place - 1) {
        groups.at(-1).push(place);
      } else groups.push([place]);
    }
    const ranked = by([...groups.keys()]).map((n) => groups[n]);
    const found = [];
    for (const each of ranked) if (found.length + each.length <= wanted) found.push(...each);
    if (found.length || !ranked.length) return found;
    return ranked.reduce((least, each) => each.length < least.length ? each : least);
  }

  /**
   * Return a step's batch: `ids` and `types` of all rows in one array each, their `lengths`, the places
   * `at` that are scored and their `labels`. Of pairs, [CLS] is such a place too, with the label -1,
   * and `follows` has the labels of the rows.
   */
  batch(step) {
    const numbers = Array.from({ length: this.size }, (_, n) => this.#number(step * this.size + n));
    const rows = numbers.map((number) => this.rows[number]);
    const source = this.#source(2 * step);
    const longest = Math.max(...rows.map((row) => row.length));
    const grid = (draw) => rows.map(() => Array.from({ length: longest }, draw));
    const keys = grid(() => source.share());
    const lots = grid(() => source.share());
    const draws = grid(() => source.below(this.others.length));
    const [ids, types, at, labels] = [[], [], [], []];
    const { mask } = this.tokenizer;
    rows.forEach((row, n) => {
      const first = ids.length;
      ids.push(...row);
      if (this.labels) {
        const second = row.indexOf(row.at(-1)) + 1; // after the first [SEP]
        types.push(...row.map((_, place) => Number(place >= second)));
        at.push(first);
        labels.push(-1);
      }
      for (const place of this.#hidden(row, keys[n]).sort((a, b) => a - b)) {
        const lot = lots[n][place];
        at.push(first + place);
        labels.push(row[place]);
        if (lot < MASKED) ids[first + place] = mask;
        else if (lot < MASKED + RANDOM) ids[first + place] = this.others[draws[n][place]];
      }
    });
    return { ids, types, at, labels, lengths: rows.map((row) => row.length),
      follows: this.labels && numbers.map((number) => this.labels[number]) };
  }

  /** Return the first rows of the first batch in words: what was there, what the model sees, and why. */
  shown(count) {
    const { ids, types, lengths, at, labels, follows } = this.batch(0);
    const { pieces, mask } = this.tokenizer;
    let end = 0;
    return lengths.slice(0, count).map((length, n) => {
      const first = end;
      end += length;
      const was = new Map(at.map((place, each) => [place, labels[each]]).filter(([, label]) => label >= 0));
      const places = Array.from({ length }, (_, each) => first + each);
      return {
        pieces: places.map((place) => pieces[was.get(place) ?? ids[place]]),
        seen: places.map((place) => pieces[ids[place]]),
        fates: places.map((place) => !was.has(place) ? "" : ids[place] === mask ? "masked"
          : ids[place] === was.get(place) ? "kept" : "replaced"),
        segments: places.map((place) => types[place] ?? 0),
        follows: follows && !follows[n],
      };
    });
  }
}
