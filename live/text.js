/** Texts as Python sees them: places count characters, and spaces are those of Python. */

import { Characters } from "./tokenizer.js";

const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const SPACE = new RegExp(`[${BLANK}]`);
const ENDS = new RegExp(`(?<![.!?])[.!?]+["'”’)\\]]*[${BLANK}]+(?=["'“‘(\\[]?[A-Z0-9])`, "g");
const OTHER_ENDS = new RegExp(
  `[。！？]+[”』」]?[${BLANK}]*|\\n[${BLANK}]*?\\n[${BLANK}]*`, "g");
const ABBREVIATIONS = new Set(`mr mrs ms dr prof st jr sr vs etc e.g i.e cf al no vol pp fig ca
  approx inc ltd co corp gen col lt sgt capt rev hon gov sen rep mt ft u.s u.k a.m p.m jan feb aug
  sept oct nov dec`.split(/\s+/));
const LONGEST = 40;
const PUNCTUATION = new Set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
const SMALL = 3; // pieces of a word
export const MASK = "[MASK]";
const SIGNS = /_{3,}|<mask>|\[\s?mask\s?\]/gi;

const isSpace = (char) => SPACE.test(char);
export function strip(text) {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start++;
  while (start < end && isSpace(text[end - 1])) end--;
  return text.slice(start, end);
}
export const words = (text) => text.split(new RegExp(`[${BLANK}]+`)).filter(Boolean);

/** Return a text with [MASK] for every sign of a gap, and the other signs that it had. */
export function readSigns(text) {
  const signs = [...new Set([...text.matchAll(SIGNS)].map((each) => each[0]))];
  return [text.replace(SIGNS, MASK), signs.filter((each) => each !== MASK)];
}

/** A text whose parts are taken by characters. */
export class Text {
  constructor(text) {
    this.chars = Array.from(text);
  }

  slice(start, end) {
    return this.chars.slice(Math.max(0, start), end).join("");
  }
}

/** What Unicode says of characters, from the tables. */
export class Unicode {
  constructor(tables) {
    for (const name of ["letters", "words"]) {
      this[name] = new Characters(tables[name]);
    }
    this.scripts = Object.entries(tables.scripts).map(([name, set]) => [name, new Characters(set)]);
  }

  script(letter) {
    if (letter < "\x80") return "Latin";
    return this.scripts.find(([, set]) => set.has(letter))?.[0] ?? "";
  }

  /** Return where each sentence after the first begins, as indices of characters; in a `typed` text also
   * after a blank line and after the marks of Chinese and Japanese. */
  sentenceStarts(text, typed = true) {
    const found = new Set();
    let start = 0;
    for (const match of text.matchAll(ENDS)) {
      const before = words(text.slice(Math.max(start, match.index - LONGEST), match.index));
      const word = (before.at(-1) ?? "").replace(/^["'“‘([]+/, "");
      if (match[0][0] === "." && this.#abbreviates(word)) continue;
      start = match.index + match[0].length;
      found.add(start);
    }
    for (const match of typed ? text.matchAll(OTHER_ENDS) : []) found.add(match.index + match[0].length);
    let [done, count] = [0, 0];
    return [...found].sort((a, b) => a - b).map((at) => {
      count += Array.from(text.slice(done, at)).length;
      done = at;
      return count;
    });
  }

  #abbreviates(word) {
    const alone = Array.from(word).length === 1 && this.letters.has(word) && word !== "I";
    return alone || ABBREVIATIONS.has(word.toLowerCase());
  }
}

/** Count what a vocabulary cannot read of some inputs; see `bert_core.reading.unread`. */
export function unread(encodings, unicode, known) {
  const unknown = new Set();
  const scripts = new Map();
  let count = 0;
  let fragments = 0;
  const repeats = (at) => encodings.findIndex((each) => each.text === encodings[at].text) < at;
  const all = encodings.flatMap((each, at) => wordsOf(each).filter((word) => word.side || !repeats(at)));
  for (const { text, tokens } of all) {
    if (tokens.includes("[UNK]") && text !== "[UNK]") unknown.add(text);
    const letter = Array.from(text).find((char) => unicode.letters.has(char));
    if (!letter) continue;
    count++;
    const script = unicode.script(letter);
    if (script && !known.includes(script)) scripts.set(script, (scripts.get(script) ?? 0) + 1);
    else if (tokens.length >= SMALL) fragments++;
  }
  const most = [...scripts].sort((a, b) => b[1] - a[1]);
  return { words: count, unknown: [...unknown], scripts: most, fragments };
}

/**
 * List the words of an input as typed, each with the tokens it became and their places; those that
 * share a character are one.
 */
export function wordsOf(encoding) {
  const texts = [encoding.text, encoding.pair ?? ""].map((each) => new Text(each));
  const found = [];
  encoding.sides.forEach((side, at) => {
    if (side === null) return;
    const [start, end] = encoding.places[at];
    const last = found.at(-1);
    const word = encoding.words[at];
    if (last?.side === side && (last.word === word || start < last.end)) {
      last.word = word;
      last.end = Math.max(last.end, end);
      last.at.push(at);
      last.tokens.push(encoding.tokens[at]);
    } else {
      const tokens = [encoding.tokens[at]];
      found.push({ side, word, start, end, tokens, at: [at] });
    }
  });
  return found.map((each) => ({ ...each, text: texts[each.side].slice(each.start, each.end) }));
}

/** The spans of a text by wording: "the Nile", "Nile" and "Nile," are one; see `wordings`. */
export class Wordings {
  constructor(text, offsets, unicode) {
    this.text = new Text(text).chars;
    this.offsets = offsets;
    const plain = [];
    const places = [];
    this.text.forEach((char, place) => {
      if (PUNCTUATION.has(char)) return;
      for (const small of char.toLowerCase()) {
        plain.push(small);
        places.push(place);
      }
    });
    const kept = plain.map((char) => !isSpace(char));
    for (let at = 0; at < plain.length;) {
      let end = at;
      while (end < plain.length && unicode.words.has(plain[end])) end++;
      if (["a", "an", "the"].includes(plain.slice(at, end).join(""))) kept.fill(false, at, end);
      at = Math.max(end, at + 1);
    }
    const before = new Int32Array(this.text.length + 1);
    plain.forEach((_, n) => before[places[n] + 1] += Number(kept[n]));
    for (let n = 1; n < before.length; n++) before[n] += before[n - 1];
    this.letters = plain.filter((_, n) => kept[n]);
    this.bounds = offsets.map(([start, end]) => [before[start], before[end]]);
  }

  /** Return [row, more] of all spans that say the same as one. */
  alike(score, longest, first, last) {
    const said = this.letters.slice(this.bounds[first][0], this.bounds[last][1]);
    if (said.length) return equal(said, this.letters, this.bounds, score, longest);
    const typed = this.text.slice(this.offsets[first][0], this.offsets[last][1]);
    return equal(typed, this.text, this.offsets, score, longest);
  }
}

function equal(said, letters, bounds, score, longest) {
  const found = [];
  bounds.forEach(([start], row) => {
    if (!said.every((letter, n) => letters[start + n] === letter)) return;
    for (let more = 0; more < longest && row + more < bounds.length; more++) {
      const same = bounds[row + more][1] === start + said.length;
      if (same && Number.isFinite(score[row * longest + more])) found.push([row, more]);
    }
  });
  return found;
}
