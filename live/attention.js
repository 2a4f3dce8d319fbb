/** Attention: where every head of the model looks in a text; see `app.features.attention`. */

import { largest } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { readSigns, strip, wordsOf } from "./text.js";

const NOTHING = "The first text has no piece that the model reads; at least one is needed. Write a " +
  "word or pick an example.";
const LINKS = 20;
const TINY = 2 ** -126; // keeps logarithms finite
const PATTERNS = [["to_previous", "previous"], ["to_next", "next"], ["to_itself", "itself"],
  ["to_repeats", "same piece"], ["to_punctuation", "punctuation"]];
const RESTS = [["to_cls", "[CLS]"], ["to_sep", "[SEP]"]];
const BROAD = 0.8;

export function attention(given) {
  const { text, text_pair: other = "", layer = null, head = null, words = false } = given;
  if (given.shuffle) {
    throw new Refusal("The browser reads words in their own order. Choose 0 for “shuffle”.");
  }
  const [[first, signs], [second, more]] = [readSigns(text), readSigns(other)];
  const { read, cut } = this.fitting(first, strip(second) ? second : null, [NOTHING]);
  const { num_hidden_layers: layers, num_attention_heads: heads } = this.engine.config;
  const tokens = read.ids.length;
  const run = this.engine.run(read.ids, read.types, { attentions: true });
  const every = run.attentions.flatMap((each) => Array.from({ length: heads }, (_, n) =>
    each.subarray(n * tokens * tokens, (n + 1) * tokens * tokens)));
  const statistics = measured(every, read, this.tokenizer.normalizer.punctuation);
  const units = unitsOf(read, words);
  const maps = words ? every.map((each) => inWords(each, tokens, units)) : every;
  const typed = units.filter((each) => each.side !== null).map((each) => each.token);
  const repeats = typed.some((token, at) =>
    /[\p{L}\p{N}]/u.test(token) && typed.lastIndexOf(token) > at);
  const patterns = ranked(statistics, Math.log2(tokens), heads);
  const linking = (each) => each.name === "same piece";
  if (!repeats) patterns.sort((a, b) => linking(a) - linking(b));
  const { layer: clear, head: telling } = (repeats && patterns.find(linking)) || patterns[0];
  const places = asked(layer, head, layers, heads) ?? [[clear, telling]];
  const weights = mean(places.map(([one, number]) => maps[one * heads + number]));
  const size = units.length;
  const links = largest(weights, LINKS).map((at) =>
    ({ source: Math.floor(at / size), target: at % size, weight: weights[at] }));
  const matrix = layer === null ? null
    : units.map((_, row) => [...weights.subarray(row * size, (row + 1) * size)]);
  return {
    tokens: units.map((each) => each.token), sides: units.map((each) => each.side), layers, heads,
    patterns, shown: { places }, links, matrix, cut,
    read_as: [...new Set([...signs, ...more])], shuffle: 0,
    view: { model: this.model.model, units, size, maps, weights, statistics, words },
  };
}

/** Return the heads that are asked for, or null. */
function asked(layer, head, layers, heads) {
  if (layer === null && head === null) return null;
  if (layer === null) {
    throw new Refusal(`Found head ${head} without a layer; expected both. Name the layer too.`);
  }
  if (!(layer >= 0 && layer < layers)) {
    throw new Refusal(`There is no layer ${layer}; this model has layers 0 to ${layers - 1}.`);
  }
  if (head === null) return Array.from({ length: heads }, (_, number) => [layer, number]);
  if (!(head >= 0 && head < heads)) {
    throw new Refusal(`There is no head ${head}; every layer has heads 0 to ${heads - 1}.`);
  }
  return [[layer, head]];
}

function mean(maps) {
  return Float32Array.from(maps[0], (_, at) =>
    maps.reduce((sum, each) => sum + each[at], 0) / maps.length);
}

// -- words ----------------------------------------------------------------------------------------

/** List what rows and columns are: pieces, or whole words; { token, side, at }. */
function unitsOf(read, words) {
  const pieces = read.sides.map((side, at) => ({ token: read.tokens[at], side, at: [at] }));
  if (!words) return pieces;
  const begun = new Map(wordsOf(read).map((each) =>
    [each.at[0], { token: each.text, side: each.side, at: each.at }]));
  return pieces.flatMap((each) => each.side === null ? each : begun.get(each.at[0]) ?? []);
}

/** Attention to the pieces of a word is added up, attention from them is averaged. */
function inWords(weights, tokens, units) {
  return Float32Array.from(units.flatMap((row) => units.map((column) => {
    let sum = 0;
    for (const from of row.at) for (const to of column.at) sum += weights[from * tokens + to];
    return sum / row.at.length;
  })));
}

// -- what heads do --------------------------------------------------------------------------------

/** Measure where each head looks; NaN where no piece counts. See `analysis.head_statistics`. */
function measured(maps, { ids, sides, tokens }, punctuation) {
  const count = ids.length;
  const inside = sides.map((side) => side !== null);
  const marks = tokens.map((token, at) =>
    inside[at] && Array.from(token).every((char) => punctuation.has(char)));
  const twins = ids.map((id, at) => ids.flatMap((same, n) =>
    n !== at && id === same && inside[at] && inside[n] ? n : []));
  const repeated = twins.filter((each) => each.length).length;
  return maps.map((weights) => {
    const seen = new Float64Array(count);
    let [previous, next, itself, repeats, entropy] = [0, 0, 0, 0, 0];
    for (let row = 0, at = 0; row < count; row++) {
      for (let column = 0; column < count; column++, at++) {
        seen[column] += weights[at] / count;
        entropy -= weights[at] * Math.log2(weights[at] + TINY);
      }
      const here = row * count + row;
      itself += weights[here];
      if (row) previous += weights[here - 1];
      if (row < count - 1) next += weights[here + 1];
      for (const twin of twins[row]) repeats += weights[row * count + twin];
    }
    const to = (wanted) => seen.reduce((sum, each, at) => sum + (wanted(at) ? each : 0), 0);
    return {
      to_previous: previous / (count - 1), to_next: next / (count - 1), to_itself: itself / count,
      to_repeats: repeated ? repeats / repeated : NaN, to_cls: seen[0],
      to_sep: to((at) => at && !inside[at]),
      to_punctuation: marks.includes(true) ? to((at) => marks[at]) : NaN,
      entropy: entropy / count,
    };
  });
}

/** Name what every head does, the clearest pattern first. */
function ranked(statistics, limit, heads) {
  const clear = (found) => Math.max(...PATTERNS.map(([key]) => found[key] || 0));
  return statistics.map((found, at) => ({
    layer: Math.floor(at / heads), head: at % heads, ...named(found, limit), clear: clear(found),
  })).sort((a, b) => b.clear - a.clear).map(({ clear: _, ...each }) => each);
}

function named(found, limit) {
  for (const [group, least] of [[PATTERNS, 0.3], [RESTS, 0.5]]) {
    const [best] = group.filter(([key]) => found[key] >= least).sort((a, b) =>
      found[b[0]] - found[a[0]] || (a[1] < b[1] ? 1 : -1));
    if (best) return { name: best[1], score: found[best[0]] };
  }
  const spread = found.entropy / limit;
  if (spread >= BROAD) return { name: "broad", score: spread };
  const shares = [...PATTERNS, ...RESTS].map(([key]) => found[key] || 0);
  return { name: "none", score: Math.max(...shares) };
}
