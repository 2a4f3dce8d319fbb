/** BERT's tokenizer: text to pieces with their places; the same ids and offsets as `bert_core`. */

import { Refusal } from "./refusal.js";

const HANGUL = 0xac00;
const LONGEST = 100; // characters of a word; longer ones are unknown
export const SPECIAL = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"];
const LETTER = /[\p{L}\p{N}]/u;
const CHARACTERS = new Intl.Segmenter("und", { granularity: "grapheme" });

/** A set of characters, from ranges such as "61-7a e9". */
export class Characters {
  constructor(ranges) {
    const pairs = ranges.split(" ").filter(Boolean).map((each) => {
      const [first, last = first] = each.split("-");
      return [parseInt(first, 16), parseInt(last, 16)];
    }).sort((a, b) => a[0] - b[0]);
    this.firsts = Uint32Array.from(pairs, (each) => each[0]);
    this.lasts = Uint32Array.from(pairs, (each) => each[1]);
  }

  has(char) {
    const point = char.codePointAt(0);
    let low = 0;
    let high = this.firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.firsts[middle] <= point) low = middle + 1;
      else high = middle;
    }
    return low > 0 && point <= this.lasts[low - 1];
  }
}

/** The rules by which a text becomes words. */
export class Normalizer {
  /** `lowercase`: whether capitals and accents are dropped. */
  constructor(tables, lowercase = true) {
    this.lowercase = lowercase;
    for (const name of ["removed", "blank", "chinese", "nonspacing", "punctuation"]) {
      this[name] = new Characters(tables[name]);
    }
    this.decomposed = new Map(Object.entries(tables.decomposed));
    this.classes = new Map();
    for (const [rank, ranges] of Object.entries(tables.classes)) {
      const set = new Characters(ranges);
      set.firsts.forEach((first, n) => {
        for (let point = first; point <= set.lasts[n]; point++) {
          this.classes.set(String.fromCodePoint(point), Number(rank));
        }
      });
    }
    this.lowered = new Map([["\u0130", "i\u0307"]]);
    for (const each of tables.lowered.split(" ")) {
      const [, first, last, step, by] = each.match(/^(\w+)-(\w+)\/(\d)([+-]\w+)$/);
      for (let at = parseInt(first, 16); at <= parseInt(last, 16); at += Number(step)) {
        const small = String.fromCodePoint(at + parseInt(by, 16));
        this.lowered.set(String.fromCodePoint(at), small);
      }
    }
  }

  clean(char) {
    if (this.removed.has(char)) return "";
    if (this.blank.has(char)) return " ";
    return this.chinese.has(char) ? ` ${char} ` : char;
  }

  /** Return the canonical decomposition of a character, as characters. */
  decompose(char) {
    const point = char.codePointAt(0) - HANGUL;
    if (point >= 0 && point < 11172) {
      const parts = [0x1100 + Math.floor(point / 588), 0x1161 + Math.floor((point % 588) / 28)];
      if (point % 28) parts.push(0x11a7 + (point % 28));
      return parts.map((each) => String.fromCodePoint(each));
    }
    return Array.from(this.decomposed.get(char) ?? char);
  }

  /** Decompose and put marks in canonical order: pairs [character, begins a decomposition]. */
  *ordered(chars) {
    let pending = [];
    const flush = () => {
      const found = pending.sort((a, b) => a[0] - b[0]); // stable
      pending = [];
      return found.map(([, char, first]) => [char, first]);
    };
    for (const char of chars) {
      for (const [n, part] of this.decompose(char).entries()) {
        const rank = this.classes.get(part) ?? 0;
        if (!rank) yield* flush();
        pending.push([rank, part, n === 0]);
      }
    }
    yield* flush();
  }

  /**
   * Return the words of a stretch of text: pairs of characters and the place of each one.
   * @param {string[]} chars the stretch
   * @param {number} offset its place in the text
   */
  words(chars, offset) {
    const cleaned = [];
    const origins = [];
    chars.forEach((typed, n) => {
      for (const char of this.clean(typed)) {
        cleaned.push(char);
        origins.push(offset + n);
      }
    });
    const words = [];
    let word = null;
    let place = -1;
    const { lowercase } = this;
    for (const [char, first] of lowercase ? this.ordered(cleaned) : cleaned.map((c) => [c, true])) {
      if (first) place++;
      if (lowercase && this.nonspacing.has(char)) continue;
      for (const small of (lowercase && this.lowered.get(char)) || char) {
        const alone = this.punctuation.has(small);
        if (small === " " || alone) word = null;
        if (small === " ") continue;
        if (!word) words.push(word = { chars: [], places: [] });
        word.chars.push(small);
        word.places.push(origins[place]);
        if (alone) word = null;
      }
    }
    return words;
  }
}

export class Tokenizer {
  /**
   * @param {string} vocabulary the text of `vocab.txt`
   * @param {object} tables `tables.json`
   */
  constructor(vocabulary, tables, lowercase = true) {
    this.pieces = vocabulary.replace(/\n$/, "").split("\n");
    this.ids = new Map(this.pieces.map((piece, id) => [piece, id]));
    this.normalizer = new Normalizer(tables, lowercase);
    this.joined = new Characters(tables.joined);
    this.other = () => new Tokenizer(vocabulary, tables, !lowercase); // with the other casing
    this.longest = Math.max(...this.pieces.map((piece) => piece.length));
    this.mask = this.ids.get("[MASK]");
  }

  /** Split a word into [id, start, end]; an unknown one is [UNK] as a whole. */
  split(chars) {
    const unknown = [[this.ids.get("[UNK]"), 0, chars.length]];
    if (chars.length > LONGEST) return unknown;
    const found = [];
    for (let start = 0; start < chars.length;) {
      let end = Math.min(chars.length, start + this.longest);
      let id;
      for (; end > start; end--) {
        id = this.ids.get((start ? "##" : "") + chars.slice(start, end).join(""));
        if (id !== undefined) break;
      }
      if (end === start) return unknown;
      found.push([id, start, end]);
      start = end;
    }
    return found;
  }

  /**
   * Cut one text into tokens { id, span, place, word }; places count code points. A span is the
   * offsets of `bert_core`; a place ends at whole characters, and words are those of `borders`.
   */
  cut(text) {
    const chars = Array.from(text);
    const lone = chars.findIndex((char) => /^[\ud800-\udfff]$/.test(char));
    if (lone >= 0) throw new Refusal(surrogate(chars[lone], lone));
    const tokens = [];
    const add = (start, end) => {
      for (const each of this.normalizer.words(chars.slice(start, end), start)) {
        for (const [id, first, last] of this.split(each.chars)) {
          tokens.push({ id, span: [each.places[first], each.places[last - 1] + 1] });
        }
      }
    };
    let done = 0;
    for (let at = 0; at < chars.length; at++) {
      const special = chars[at] === "[" &&
        SPECIAL.find((name) => chars.slice(at, at + name.length).join("") === name);
      if (!special) continue;
      add(done, at);
      done = at + special.length;
      tokens.push({ id: this.ids.get(special), span: [at, done] });
      at = done - 1;
    }
    add(done, chars.length);
    return this.inWords(tokens, text);
  }

  /** Say where characters and words of a text begin; see `bert_core.text.borders`. */
  borders(text) {
    const found = { characters: [], words: [], end: 0 };
    let open = false;
    for (const { segment } of CHARACTERS.segment(text)) {
      const inside = this.joined.has(segment) || (open && /^\p{Cf}$/u.test(segment));
      found.characters.push(found.end);
      if (!open || !inside) found.words.push(found.end);
      open = inside;
      found.end += Array.from(segment).length;
    }
    return found;
  }

  /** Give tokens their places and their words. */
  inWords(tokens, text) {
    const { characters, words, end } = this.borders(text);
    const chars = Array.from(text);
    let [character, border, reached, word] = [0, 0, -1, -1];
    return tokens.map(({ id, span: [start, stop] }) => {
      while (characters[character + 1] <= start) character++;
      while (characters[character] > start) character--; // marks change their order
      let after = character;
      while (characters[after] < stop) after++;
      const place = [characters[character], characters[after] ?? end];
      while (words[border] < reached) border++;
      const first = chars[place[0]];
      const alone = LETTER.test(first) && !this.joined.has(first);
      if (alone || (place[0] >= reached && words[border] <= place[0])) word++;
      reached = Math.max(reached, place[1]);
      return { id, span: [start, stop], place, word };
    });
  }

  /** Encode a text, or a pair; `room` cuts the longer one to at most so many tokens in all. */
  encode(text, pair = null, room = Infinity) {
    const second = pair === null ? null : this.cut(pair);
    return this.frame(text, pair, ...this.shortened(this.cut(text), second, room));
  }

  shortened(first, second, room) {
    if (second === null) return [first.slice(0, Math.max(0, room - 2)), null];
    const free = room - 3;
    if (first.length + second.length <= free) return [first, second];
    let [shorter, longer] = [first.length, second.length].sort((a, b) => a - b);
    longer = Math.max(shorter, free - shorter);
    if (shorter + longer > free) [shorter, longer] = [free >> 1, free - (free >> 1)];
    const kept = first.length <= second.length ? [shorter, longer] : [longer, shorter];
    return [first.slice(0, kept[0]), second.slice(0, kept[1])];
  }

  /** Put [CLS] and [SEP] around tokens; columns as in `bert_core.text.encoding`. */
  frame(text, pair, first, second) {
    const added = (name) =>
      ({ id: this.ids.get(name), span: [0, 0], place: [0, 0], word: null, side: null });
    const of = (side) => (each) => ({ ...each, side });
    const opening = first.length + 2;
    const rows = [added("[CLS]")].concat(first.map(of(0)), added("[SEP]"),
      second ? [...second.map(of(1)), added("[SEP]")] : []);
    const column = (name) => rows.map((row) => row[name]);
    return {
      text, pair, ids: column("id"), offsets: column("span"), places: column("place"), words: column("word"),
      sides: column("side"), types: rows.map((_, n) => Number(n >= opening)),
      tokens: rows.map((row) => this.pieces[row.id]), first, second,
    };
  }

  /** Return the encoding's inputs if it is too long: windows, and their bounds in the text cut. */
  windows(whole, { fits, size, stride }) {
    const cut = whole.second ?? whole.first;
    if (whole.ids.length <= fits) return { inputs: [whole], bounds: [[0, cut.length]], shared: 0 };
    const room = size - (whole.second ? whole.first.length + 3 : 2);
    const bounds = [];
    for (let start = 0; start < Math.max(cut.length - stride, 1); start += room - stride) {
      bounds.push([start, Math.min(start + room, cut.length)]);
    }
    const inputs = bounds.map(([start, end]) => {
      const part = cut.slice(start, end);
      return whole.second
        ? this.frame(whole.text, whole.pair, whole.first, part)
        : this.frame(whole.text, null, part, null);
    });
    return { inputs, bounds, shared: bounds.length > 1 ? stride : 0 };
  }
}

/**
 * Choose the window that reads each stretch of a text: the one in which it is farthest from a cut.
 * @returns window and distance at [token * longest + more]; -1 where no window holds the stretch
 */
export function readers(bounds, longest = 1) {
  const tokens = bounds.at(-1)[1];
  const number = new Int32Array(tokens * longest).fill(-1);
  const room = new Int32Array(tokens * longest).fill(-1);
  bounds.forEach(([first, end], window) => {
    for (let at = first; at < end; at++) {
      for (let more = 0; more < longest; more++) {
        const right = end - 1 - at - more;
        if (right < 0) break;
        const here = Math.min(first ? at - first : tokens, end < tokens ? right : tokens);
        const place = at * longest + more;
        if (here > room[place]) [number[place], room[place]] = [window, here];
      }
    }
  });
  return { number, room };
}

function surrogate(char, at) {
  const point = char.charCodeAt(0).toString(16).toUpperCase();
  return `The text contains U+${point} at character ${at}, half of a surrogate pair; expected ` +
    "whole Unicode characters. Decode the bytes again, for instance with errors='replace'.";
}
