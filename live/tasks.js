/** The tasks: values in, the JSON of `app.faces.ask` out, with `view` for what a page draws. */

import { attention } from "./attention.js";
import { argmax, grouped, largest, softmax } from "./numbers.js";
import { questions } from "./questions.js";
import { Refusal } from "./refusal.js";
import { readSigns, strip, Text, Unicode, unread, words, wordsOf } from "./text.js";
import { readers } from "./tokenizer.js";
import { xray } from "./xray.js";

const MASKS = 20;
const CONTEXT = 40; // characters on each side of a mask
const PIECES = 12; // of a word that is named
const TOKENS = 16000; // read for such a word

export class Tasks {
  /**
   * @param engine an `Engine` that is ready
   * @param tokenizer a `Tokenizer`
   * @param model what `live.json` says of the model
   * @param tables `tables.json`
   */
  constructor(engine, tokenizer, model, tables) {
    Object.assign(this, { engine, tokenizer, model });
    this.unicode = new Unicode(tables);
    this.limit = model.config.max_position_embeddings;
    this.progress = () => {}; // is told the windows of a long text that were read, and all of them
  }

  /** Return whether the model has the head of a task. */
  can(task) {
    const { answers } = this.model; // of a model of one's own: the classes whose heads it has
    return !answers || !CLASSES[task] || answers.includes(CLASSES[task]);
  }

  /** Answer a task; a `Refusal` says in words why it cannot be done. */
  answer(task, given) {
    if (!this.can(task)) {
      throw new Refusal(`${this.model.model} has no head for this page. Open a page for which it ` +
        "has one, or load the page's own model.");
    }
    const { view, ...answer } = TASKS[task].call(this, given);
    const provenance = { model: this.model.model, weights: this.model.weights };
    return { answer: { ...answer, provenance }, view };
  }

  calibration(name) {
    return this.model.calibrations[name];
  }

  unread(encodings) {
    return unread(encodings, this.unicode, this.model.scripts);
  }

  /** Encode and cut to the model's length; `names` say what a text without pieces is called. */
  fitting(text, pair, refusals, tokenizer = this.tokenizer) {
    const whole = tokenizer.encode(text, pair);
    refusals.forEach((says, side) => {
      if (!whole.sides.includes(side)) throw new Refusal(says);
    });
    const read = whole.ids.length > this.limit
      ? tokenizer.encode(text, pair, this.limit) : whole;
    return { whole, read, cut: cutOf(whole, read, this.limit) };
  }

  /** Run inputs and apply the head of a class to the pooled output. */
  pooled(name, encoding) {
    const { last } = this.engine.run(encoding.ids, encoding.types);
    return [...this.engine.head(name, this.engine.pooled(last))];
  }

  readable(id) {
    return this.tokenizer.pieces[id] ?? `[row ${id}]`;
  }
}

function cutOf(whole, read, limit) {
  const count = (encoding, side) => encoding.sides.filter((each) => each === side).length;
  const counts = (encoding) => [count(encoding, 0), count(encoding, 1)];
  return { limit, found: whole.ids.length, lengths: counts(whole), kept: counts(read) };
}

const inputOf = (read) => ({ tokens: read.tokens, input_ids: read.ids, offsets: read.offsets });

// -- masked words ---------------------------------------------------------------------------------

function fillMask({ text, top_k: most = 5, word = "" }) {
  if (!strip(text)) {
    throw new Refusal("The text is empty. Type a sentence and write [MASK] where a word is hidden.");
  }
  if (!(most >= 1 && most <= 100)) throw new Refusal(`Found top_k=${most}; expected 1 to 100.`);
  const [read, signs] = readSigns(text);
  const whole = this.tokenizer.encode(read);
  const masks = whole.ids.flatMap((id, at) => id === this.tokenizer.mask ? [at] : []);
  if (masks.length > MASKS) {
    throw new Refusal(`The text has ${masks.length} masks; this page fills at most ${MASKS} at ` +
      "once. Fill in some of them yourself.");
  }
  const size = this.limit;
  const fits = masks.length ? size : whole.ids.length;
  const windows = this.tokenizer.windows(whole, { fits, size, stride: size >> 1 });
  const [pieces, note] = named.call(this, word, masks.length * Math.min(whole.ids.length, size));
  const scores = maskScores.call(this, windows, masks);
  const calibration = this.calibration("BertForMaskedLM");
  const slots = masks.map((at, n) => slot.call(this, {
    whole, at, number: n + 1, scores: scores[n], most, pieces, temperature: calibration.temperature,
  }));
  return {
    model: this.model.model, text: read, shuffle: 0, read_as: signs, slots,
    vocabulary: this.tokenizer.pieces.length, tokens: whole.ids.length,
    read: Math.max(...windows.inputs.map((each) => each.ids.length)), note,
    unread: this.unread([whole]), calibration,
    view: { words: wordsOf(whole).map((each) =>
      ({ ...each, masked: whole.ids[each.at[0]] === this.tokenizer.mask })) },
  };
}

function maskScores(windows, masks) {
  const { number } = readers(windows.bounds);
  const rows = [];
  windows.inputs.forEach((input, window) => {
    const own = masks.flatMap((at, n) => number[at - 1] === window ? [n] : []);
    if (!own.length) return;
    const { last } = this.engine.run(input.ids, input.types);
    const places = own.map((n) => masks[n] - windows.bounds[window][0]);
    this.engine.wordScores(last, places).forEach((scores, n) => { rows[own[n]] = scores; });
  });
  return rows;
}

/** Cut the word that was named into ids, or say why it gets no probability. */
function named(word, tokens) {
  const ids = this.tokenizer.cut(strip(word)).map((each) => each.id);
  const shown = new Text(strip(word)).slice(0, 60);
  if (ids.includes(this.tokenizer.ids.get("[UNK]"))) {
    return [[], `“${shown}” contains something this vocabulary cannot spell, so the model can ` +
      "never write it: it has no probability. Try another word."];
  }
  if (ids.length > PIECES) {
    return [[], `“${shown}” is ${ids.length} pieces in this vocabulary; this page puts at most ` +
      `${PIECES} into one gap. Choose a shorter word.`];
  }
  if (ids.length > 1 && tokens * ids.length > TOKENS) {
    return [[], `“${shown}” is ${ids.length} pieces; to score them in every gap, the model would ` +
      `read ${grouped(tokens * ids.length)} tokens, and this page reads at most ` +
      `${grouped(TOKENS)} for it. Hide fewer words or shorten the text.`];
  }
  return [ids, ""];
}

function slot({ whole, at, number, scores, most, pieces, temperature }) {
  const shares = softmax(scores, temperature);
  const candidate = (id, rank) =>
    ({ token: this.readable(id), id, probability: shares[id], rank });
  const [start, end] = whole.places[at];
  const text = new Text(whole.text);
  const wanted = pieces.length === 1 ? pieces[0] : null;
  const above = (id) => scores.reduce((count, each) => count + (each > scores[id]), 1);
  return {
    number, position: at, start, end,
    before: text.slice(start - CONTEXT, start), after: text.slice(end, end + CONTEXT),
    candidates: largest(scores, most).map((id, n) => candidate(id, n + 1)),
    named: wanted === null ? null : candidate(wanted, above(wanted)),
    spelled: pieces.length < 2 ? null : spelled.call(this, whole, at, pieces, temperature),
    entropy: Math.max(0, -shares.reduce((sum, each) => sum + (each ? each * Math.log2(each) : 0), 0)),
  };
}

/** Score a word of several pieces in a gap that has a mask for each, from left to right. */
function spelled(whole, at, pieces, temperature) {
  const room = this.limit - 2 - (pieces.length - 1);
  let { ids } = whole;
  if (ids.length - 2 > room) {
    const start = Math.min(Math.max(1, (2 * at + 1 - room) >> 1), ids.length - 1 - room);
    ids = [ids[0], ...ids.slice(start, start + room), ids.at(-1)];
    at = at - start + 1;
  }
  ids = [...ids.slice(0, at), ...pieces.map(() => this.tokenizer.mask), ...ids.slice(at + 1)];
  const probabilities = pieces.map((piece, n) => {
    const { last } = this.engine.run(ids, ids.map(() => 0));
    const [scores] = this.engine.wordScores(last, [at + n]);
    ids[at + n] = piece;
    return softmax(scores, temperature)[piece];
  });
  const probability = probabilities.reduce((a, b) => a * b, 1);
  return { pieces: pieces.map((id) => this.readable(id)), probabilities, probability };
}

// -- sentences and texts --------------------------------------------------------------------------

function nextSentence({ first, second }) {
  const lacks = (name) => `The ${name} sentence has no piece that the model reads; both sentences ` +
    "need at least one. Write a word or pick an example.";
  const { read, cut } = this.fitting(first, second, [lacks("first"), lacks("second")]);
  const name = "BertForNextSentencePrediction";
  const calibration = this.calibration(name);
  const logits = this.pooled(name, read);
  const probabilities = [...softmax(logits, calibration.temperature)];
  return {
    follows: probabilities[0] >= probabilities[1], probabilities, logits, encoding: inputOf(read),
    cut, unread: this.unread([read]), calibration, trained_on: this.model.trained_on[name],
    view: { read },
  };
}

function classification({ text, text_pair: other = "" }) {
  const pair = strip(other) ? other : null;
  const lacks = (name) =>
    `The ${name} text has no piece that the model reads. Write a word or pick an example.`;
  const sides = pair === null ? ["first"] : ["first", "second"];
  const { read, cut } = this.fitting(text, pair, sides.map(lacks));
  const name = "BertForSequenceClassification";
  const calibration = this.calibration(name);
  const logits = this.pooled(name, read);
  const scores = [...softmax(logits, calibration.temperature)];
  const labels = this.model.labels[name];
  return {
    chosen: [labels[argmax(scores)]], kind: "single", labels, scores, logits,
    encoding: inputOf(read), cut, unread: this.unread([read]), calibration,
    trained_on: this.model.trained_on[name], view: { read },
  };
}

function multipleChoice({ context, choices }) {
  if (choices.length < 2 || choices.length > 8) {
    throw new Refusal(`Found ${choices.length} choices; expected 2 to 8, one per line.`);
  }
  const name = "BertForMultipleChoice";
  const calibration = this.calibration(name);
  const found = choices.map((choice, n) => this.fitting(context, choice, [
    "The context has no piece that the model reads. Write a word.",
    `Choice ${n + 1} has no piece that the model reads. Write a word.`,
  ]));
  const logits = found.map(({ read }) => this.pooled(name, read)[0]);
  const shares = softmax(logits, calibration.temperature);
  return {
    best: argmax(shares), context,
    choices: found.map(({ read, cut }, n) => ({
      text: choices[n], logit: logits[n], probability: shares[n], encoding: inputOf(read), cut,
    })),
    unread: this.unread(found.map(({ read }) => read)), calibration,
    trained_on: this.model.trained_on[name], figures: this.model.figures[name],
    view: { read: found.map(({ read }) => read) },
  };
}

// -- names ----------------------------------------------------------------------------------------

const AGGREGATIONS = ["none", "simple", "first", "average", "max"];

function names({ text, aggregation = "first" }) {
  if (!AGGREGATIONS.includes(aggregation)) {
    throw new Refusal(`There is no aggregation '${aggregation}'; expected one of ` +
      `${AGGREGATIONS.join(", ")}.`);
  }
  const name = "BertForTokenClassification";
  const calibration = this.calibration(name);
  const size = this.limit;
  const whole = this.tokenizer.encode(text);
  const count = whole.first.length;
  if (!count) {
    throw new Refusal("The text has no piece that the model reads. Write a word or pick an example.");
  }
  const windows = this.tokenizer.windows(whole, { fits: size, size, stride: size >> 2 });
  const { number, room } = readers(windows.bounds);
  const shares = [];
  windows.inputs.forEach((input, window) => {
    this.progress(window, windows.inputs.length);
    const { last } = this.engine.run(input.ids, input.types);
    const [first, end] = windows.bounds[window];
    const hidden = this.model.config.hidden_size;
    for (let at = first; at < end; at++) {
      if (number[at] !== window) continue;
      const place = at - first + 1;
      const vector = last.subarray(place * hidden, (place + 1) * hidden);
      shares[at] = softmax(this.engine.head(name, vector), calibration.temperature);
    }
  });
  const labels = this.model.labels[name];
  const chars = new Text(text);
  const entities = [];
  for (const { label, start: first, stop, score } of
    stretches(unitsOf(whole.first, shares, aggregation), labels, aggregation)) {
    const start = Math.max(whole.first[first].place[0], entities.at(-1)?.end ?? 0);
    const end = whole.first[stop - 1].place[1];
    if (start < end) entities.push({ text: chars.slice(start, end), label, start, end, score });
  }
  const context = room.reduce((least, each) => Math.min(least, each), count);
  const coverage = { windows: windows.inputs.length, room: size - 2, shared: windows.shared, context };
  const read = this.unread([whole]);
  return { aggregation, names: labels, entities, coverage, unread: read, calibration, view: { whole, shares } };
}

/** Form what gets one label each: single pieces, or words by one of three rules. */
function unitsOf(tokens, shares, how) {
  if (how === "none" || how === "simple") {
    return tokens.map((_, at) => ({ start: at, stop: at + 1, shares: shares[at] }));
  }
  const units = [];
  tokens.forEach((token, at) => {
    if (at && tokens[at - 1].word === token.word) units.at(-1).stop = at + 1;
    else units.push({ start: at, stop: at + 1 });
  });
  for (const unit of units) {
    const own = shares.slice(unit.start, unit.stop);
    if (how === "first") [unit.shares] = own;
    if (how === "max") unit.shares = own[argmax(own.map((each) => Math.max(...each)))];
    if (how === "average") {
      unit.shares = own[0].map((_, label) =>
        own.reduce((sum, each) => sum + each[label], 0) / own.length);
    }
  }
  return units;
}

/** Join units into stretches by the rules of BIO. */
function stretches(units, labels, how) {
  const found = [];
  let open = null;
  for (const unit of units) {
    const best = argmax(unit.shares);
    const [role, kind] = labels[best] === "O" ? ["O", ""] : labels[best].split(/-(.*)/);
    const joins = how !== "none" && role === "I" && open?.label === kind;
    if (joins) {
      open.stop = unit.stop;
      open.scores.push(unit.shares[best]);
      continue;
    }
    const { start, stop } = unit;
    const label = how === "none" ? labels[best] : kind;
    open = kind ? { label, start, stop, scores: [unit.shares[best]] } : null;
    if (open) found.push(open);
  }
  return found.map(({ scores, ...each }) =>
    ({ ...each, score: scores.reduce((a, b) => a + b, 0) / scores.length }));
}

// -- the tokenizer --------------------------------------------------------------------------------

function tokenize({ text, text_pair: other = "", cased = null }) {
  if (!strip(text) && !strip(other)) {
    throw new Refusal("The text is empty. Type something to see it cut into pieces.");
  }
  const pair = strip(other) ? other : null;
  const lower = cased === null ? this.model.lower_case : !cased;
  const { tokenizer } = this;
  this.cutters ??= { [tokenizer.normalizer.lowercase]: tokenizer };
  const cutter = this.cutters[lower] ??= tokenizer.other();
  const { whole, read, cut } = this.fitting(text, pair, [], cutter);
  const texts = pair === null ? [text] : [text, pair];
  const seen = wordsOf(whole);
  const left = [...cut.kept];
  const places = whole.sides.flatMap((side, at) => side === null || left[side]-- > 0 ? [at] : []);
  return {
    model: this.model.model,
    columns: { tokens: whole.tokens, ids: whole.ids, spans: whole.offsets, words: whole.words,
      segments: whole.types, sides: whole.sides },
    words: seen.length, unknown: whole.tokens.filter((each) => each === "[UNK]").length,
    lower_case: lower, model_lower_case: this.model.lower_case, max_length: this.limit, cut,
    received: { tokens: read.tokens, ids: read.ids, segments: read.types,
      mask: read.ids.map(() => 1), places },
    view: { texts, whole },
  };
}

export const CLASSES = { fill_mask: "BertForMaskedLM", next_sentence: "BertForNextSentencePrediction",
  qa: "BertForQuestionAnswering", ner: "BertForTokenClassification",
  classification: "BertForSequenceClassification", multiple_choice: "BertForMultipleChoice" };
const TASKS = {
  fill_mask: fillMask, next_sentence: nextSentence, qa: questions, ner: names, classification,
  multiple_choice: multipleChoice, tokenizer: tokenize, attention, xray,
};
