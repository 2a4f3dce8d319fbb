/** What the lab trains on: random numbers, the three corpora, and a vocabulary of their pieces.
 *
 * The rules of an own text, of its sentences and of the vocabulary are those of `bert_core`; the
 * grammar and the facts are data, in `lab.json`.
 */

import { grouped } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { MASK, strip, Text } from "./text.js";

export const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK];
const [TOGETHER, MEASURED] = [4, 40]; // sentences of a text; held-out ones of a phenomenon for the loss
const [SHORTEST, FREQUENT] = [20, 20]; // sentences of an own text; words of it that count as frequent
const [LETTERS, LONGEST] = [1_000, 100]; // of a vocabulary's characters, and of a word
const LINES = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

// -- random numbers -------------------------------------------------------------------------------

/** Random numbers by a name: sfc32 (Chris Doty-Humphrey), drawn from as `random.Random` does. */
export class Source {
  constructor(name) {
    let hash = 0x811c9dc5; // FNV-1a
    for (const byte of new TextEncoder().encode(String(name))) {
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    [this.a, this.b, this.c, this.d] = [hash, 0x9e3779b9 | 0, 0x243f6a88, 1];
    for (let n = 0; n < 12; n++) this.bits(32);
  }

  bits(count) {
    const found = (this.a + this.b + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + found) | 0;
    return found >>> (32 - count);
  }

  /** Return a number from 0 up to 1, a multiple of 2^-24. */
  share() {
    return this.bits(24) / 2 ** 24;
  }

  below(limit) {
    const count = 32 - Math.clz32(limit);
    let found = this.bits(count);
    while (found >= limit) found = this.bits(count);
    return found;
  }

  choice(values) {
    return values[this.below(values.length)];
  }

  /** Draw one of `options` by their weights. */
  weighted(options, weight) {
    let at = this.share() * options.reduce((sum, each) => sum + weight(each), 0);
    return options.find((each) => (at -= weight(each)) < 0);
  }

  shuffle(values) {
    for (let n = values.length - 1; n > 0; n--) {
      const other = this.below(n + 1);
      [values[n], values[other]] = [values[other], values[n]];
    }
    return values;
  }

  /** Return a normally distributed number (Box and Muller 1958). */
  normal() {
    const far = Math.sqrt(-2 * Math.log(1 - this.share()));
    return far * Math.cos(2 * Math.PI * this.share());
  }
}

// -- corpora --------------------------------------------------------------------------------------

/**
 * Return a corpus, cut and shuffled as the settings say: `documents` of sentences, `held` sentences
 * that are never trained on, `phenomena` with probes [text, answer], and `watched` ones.
 * @param {object} tables `lab.json`
 * @param basic what splits a text into words
 * @param {object} unicode the `Unicode` of the tables, for a visitor's own `text`
 */
export function corpusOf(tables, basic, unicode, settings, text) {
  const { corpus, sentences, shuffled } = settings;
  const found = corpus === "own" ? own(text, basic, unicode)
    : corpus === "facts" ? facts(tables.facts) : grammar(tables, sentences);
  const documents = found.documents.slice(0, Math.max(1, Math.floor(sentences / TOGETHER)));
  const order = new Source("0");
  return { ...found, documents: !shuffled ? documents
    : documents.map((each) => each.map((sentence) => order.shuffle([...basic(sentence)]).join(" "))) };
}

const filled = ([text, answer]) => text.replace(MASK, () => answer);
const heldOut = (phenomena) => phenomena.flatMap(({ probes }) => probes.slice(0, MEASURED).map(filled));
const put = (pattern, words) => pattern.replace(/\{(\w+)\}/g, (_, gap) => words[gap]);
const inDocuments = (sentences) => sentences.flatMap((_, n) =>
  n % TOGETHER ? [] : [sentences.slice(n, n + TOGETHER)]);

/** Count equal values. */
export function counted(values) {
  const counts = new Map();
  for (const each of values) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}

/** A phenomenon whose floor is counted in its probes; its ceiling is unknown. */
function measured(name, probes) {
  const most = Math.max(0, ...counted(probes.map(([, answer]) => answer)).values());
  return { name, floor: most / Math.max(1, probes.length), ceiling: null, probes };
}

/** Draw the words of one axis of a sentence, about a person or an animal if it names any. */
function drawn({ gaps, rows }, source, about) {
  const named = rows[0][1] ? rows.filter((row) => about.includes(row[1])) : [];
  const [, , ...words] = source.weighted(named.length ? named : rows, ([weight]) => weight);
  return Object.fromEntries(gaps.map((gap, n) => [gap, words[n]]));
}

/** Draw texts of four sentences about one person and one animal, without the held-out sentences. */
function grammar({ patterns, persons, animals, phenomena }, sentences) {
  const taken = new Set(phenomena.flatMap(({ probes }) => probes.map(filled)));
  const source = new Source("0 documents");
  const documents = Array.from({ length: Math.floor(sentences / TOGETHER) }, () => {
    const about = [source.choice(persons), source.choice(animals)];
    const text = [];
    while (text.length < TOGETHER) {
      const { pattern, axes } = source.weighted(patterns, ({ weight }) => weight);
      const sentence = put(pattern, Object.assign({}, ...axes.map((axis) => drawn(axis, source, about))));
      if (!taken.has(sentence)) text.push(sentence);
    }
    return text;
  });
  const watched = phenomena.filter(({ floor, ceiling }) => ceiling > floor).map(({ probes }) => probes[0]);
  return { documents, phenomena, watched, held: heldOut(phenomena) };
}

/** Write sentences about countries; of every fact, one wording is held out. */
function facts({ names, countries, sentences }) {
  const source = new Source("0");
  const probes = Object.fromEntries(Object.keys(sentences).map((relation) => [relation, []]));
  const documents = countries.flatMap((row) => {
    const country = Object.fromEntries(names.map((name, n) => [name, row[n]]));
    const text = Object.entries(sentences).flatMap(([relation, wordings]) => {
      const held = source.below(wordings.length);
      probes[relation].push([put(wordings[held], { ...country, [relation]: MASK }), country[relation]]);
      return wordings.filter((_, n) => n !== held).map((each) => put(each, country));
    });
    return inDocuments(source.shuffle(text));
  });
  const phenomena = Object.entries(probes).map(([relation, each]) => measured(relation, each));
  const watched = Array.from({ length: 5 }, (_, n) =>
    phenomena[n % phenomena.length].probes[15 + Math.floor(n / phenomena.length)]);
  return { documents: source.shuffle(documents), phenomena, watched, held: heldOut(phenomena) };
}

/** Prepare a visitor's text; every tenth sentence is held out. */
function own(text, basic, unicode) {
  const sentences = text.split(LINES).flatMap((each) => sentencesOf(each, unicode))
    .filter((each) => basic(each).length > 2);
  if (sentences.length < SHORTEST) {
    throw new Refusal(`The text has ${grouped(sentences.length)} sentences of three words or more; it ` +
      `needs at least ${SHORTEST}, better several thousand. Paste a longer text.`);
  }
  const [kept, held] = [false, true].map((out) => sentences.filter((_, n) => (n % 10 === 9) === out));
  const alphabetic = (word) => Array.from(word).every((letter) => unicode.letters.has(letter));
  const counts = counted(kept.flatMap(basic).filter(alphabetic));
  const frequent = new Set([...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)).slice(0, FREQUENT));
  const hidden = (wanted) => {
    const source = new Source("0");
    return held.filter((each) => !each.toLowerCase().includes("[mask]")).flatMap((sentence) => {
      const words = basic(sentence);
      const places = [...words.keys()].filter((place) => wanted(words[place]));
      if (!places.length) return [];
      const place = source.choice(places);
      return [[words.map((word, n) => n === place ? MASK : word).join(" "), words[place]]];
    });
  };
  const phenomena = [
    measured("frequent words", hidden((word) => frequent.has(word))),
    measured("other words", hidden((word) => counts.get(word) > 2 && !frequent.has(word))),
  ];
  const watched = phenomena.flatMap(({ probes }) => probes.slice(0, 3)).slice(0, 5);
  return { documents: inDocuments(kept), phenomena, watched, held };
}

/** Split a paragraph as `bert_core.reading.sentences.split_sentences` does. */
export function sentencesOf(paragraph, unicode) {
  const text = new Text(paragraph);
  const starts = [0, ...unicode.sentenceStarts(paragraph, false)];
  return starts.map((start, n) => strip(text.slice(start, starts[n + 1]))).filter(Boolean);
}

// -- pieces ---------------------------------------------------------------------------------------

/** Return what cuts a text at its spaces, and each part as `cut` does; equal parts are cut once. */
export function remembering(cut) {
  const known = new Map();
  return (text) => text.split(" ").flatMap((part) => {
    if (!known.has(part)) known.set(part, cut(part));
    return known.get(part);
  });
}

/** Return what splits a text into words, as a lower-casing `BasicTokenizer` does. */
export const basicWords = (normalizer) => remembering((part) =>
  part.split(/(\[(?:PAD|UNK|CLS|SEP|MASK)\])/).flatMap((each, n) => n % 2 ? [each]
    : normalizer.words(Array.from(each), 0).map(({ chars }) => chars.join(""))));

/** Order two texts by their code points, as Python does. */
function order(a, b) {
  for (let n = 0; n < Math.min(a.length, b.length); n++) {
    const less = a.codePointAt(n) - b.codePointAt(n);
    if (less) return less;
  }
  return a.length - b.length;
}

/**
 * Build a vocabulary as `bert_core.pretraining.build_vocabulary` does: special tokens, characters, then
 * the most frequent pair of neighbours becomes a piece, again and again.
 * @param {string[]} words of the texts, in any order
 * @param {number} size most pieces
 */
export function buildVocabulary(words, size) {
  const counts = [...counted(words)]
    .filter(([word]) => !SPECIAL.includes(word) && Array.from(word).length <= LONGEST);
  const letters = new Map();
  for (const [word, count] of counts) {
    for (const letter of word) letters.set(letter, (letters.get(letter) ?? 0) + count);
  }
  const common = [...letters.keys()].sort((a, b) => letters.get(b) - letters.get(a) || order(a, b));
  const kept = new Set(common.slice(0, LETTERS));
  const all = counts.filter(([word]) => Array.from(word).every((letter) => kept.has(letter)))
    .map(([word, count]) => ({ count, pieces: Array.from(word, (letter, n) => n ? `##${letter}` : letter) }));
  const known = new Set([...SPECIAL, ...[...new Set(all.flatMap(({ pieces }) => pieces))].sort(order)]);
  if (known.size > size) {
    throw new Refusal(`The text needs ${grouped(known.size)} pieces for its characters alone; the largest ` +
      `vocabulary has ${grouped(size)}. Choose a larger one.`);
  }
  const pairs = new Map(); // two pieces with a space between: how often, and in which words
  const note = (word, sign) => word.pieces.slice(1).forEach((piece, n) => {
    const name = `${word.pieces[n]} ${piece}`;
    if (!pairs.has(name)) pairs.set(name, { count: 0, words: new Set() });
    const pair = pairs.get(name);
    pair.count += sign * word.count;
    pair.words.add(word);
    if (!pair.count) pairs.delete(name);
  });
  for (const word of all) note(word, 1);
  while (known.size < size) {
    let [best, most] = ["", 1]; // a pair must be there twice
    for (const [name, { count }] of pairs) {
      if (count > most || (count === most && best && order(name, best) < 0)) [best, most] = [name, count];
    }
    if (!best) break;
    const [left, right] = best.split(" ");
    const piece = left + right.slice(2);
    for (const word of pairs.get(best).words) {
      note(word, -1);
      word.pieces = word.pieces.reduce((found, each) => {
        if (each === right && found.at(-1) === left) found.splice(-1, 1, piece);
        else found.push(each);
        return found;
      }, []);
      note(word, 1);
    }
    known.add(piece);
  }
  return [...known];
}
