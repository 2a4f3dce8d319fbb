/** A text on its way through the layers, with parts of the model off; see `app.features.xray`. */

import { argmax, grouped, softmax } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { MASK, readSigns, strip, Text } from "./text.js";

const MOST = 128; // tokens
const CANDIDATES = 5;
const CLASSES = { word: "BertForMaskedLM", start: "BertForQuestionAnswering",
  end: "BertForQuestionAnswering", entity: "BertForTokenClassification",
  label: "BertForSequenceClassification", next: "BertForNextSentencePrediction" };
const ORDER = ["entity", "label", "word", "next", "start"];
const NEXT = ["B follows A", "B does not follow"];
const BLOCKS = { a: ["attention", "attention"], f: ["feed_forward", "feed-forward"] };

export function xray(given) {
  const { at = null, answer = "", off: named = "", mode = "mean", lens = "affine" } = given;
  const [text, pair, signs] = gaps(given);
  if (given.rank) throw new Refusal("The browser ranks no parts.");
  const auto = !given.ask || given.ask === "auto";
  let kind = auto ? fitting.call(this, text, pair) : given.ask;
  const read = encoded.call(this, kind, text, pair);
  const parts = readParts(named, this.engine.config);
  if (!this.fitted && (lens === "affine" || (parts.length && mode === "mean"))) {
    throw new Refusal("This model brings no means and no maps of the lens. Choose the raw lens, and " +
      "“zero” for what is off.");
  }
  const begun = () => ({ kind, read, lens, name: (n) => nameOf.call(this, kind, read, n),
    temperature: kind === "start" || kind === "end" ? 1 : this.calibration(CLASSES[kind]).temperature });
  let asking = begun();
  const run = (off) => this.engine.run(read.ids, read.types, { attentions: false, off,
    instead: off && mode === "mean" ? this.fitted.means : null });
  const whole = run(null);
  if (auto && kind === "entity" && !hasName.call(this, asking, whole)) {
    kind = ["label", "word"].find((each) => offered.call(this, each)) ?? kind;
    asking = begun();
  }
  const now = parts.length ? run(switches(parts, this.engine.config)) : whole;
  const position = placeOf.call(this, asking, whole, at);
  const before = layerScores.call(this, asking, whole, position);
  const chosen = chosenOf.call(this, asking, position, before.at(-1), answer);
  const after = parts.length ? layerScores.call(this, asking, now, position) : before;
  const shares = [before, after].map((rows) => rows.map((each) => softmax(each, asking.temperature)));
  const values = [before, after].map((rows) => targetValue(kind, rows.at(-1), chosen));
  const question = { kind, position, chosen, target: target(kind, position, chosen) };
  return {
    tokens: read.tokens, question, followed: asking.name(chosen),
    candidates: candidates(asking, chosen, shares[0].at(-1), shares[1].at(-1)),
    effect: (kind === "next" && chosen === 1 ? -1 : 1) * (values[1] - values[0]),
    off: parts.map((part) => part.name), mode, lens,
    path: shares[1].map((row, number) => ({ layer: number ? number - 1 : null,
      answer: asking.name(argmax(row)), probability: Math.max(...row), followed: row[chosen] })),
    ranking: [], layers: this.engine.config.num_hidden_layers,
    heads: this.engine.config.num_attention_heads, read_as: signs,
    view: { readings: () => readings.call(this, asking, now, whole), // only a picture has them
      labels: kind === "label" ? this.model.labels[CLASSES.label] : null,
      trained: this.model.trained_on[CLASSES[kind]] },
  };
}

function gaps({ text, text_pair: pair = "" }) {
  const found = [text, pair].map(readSigns);
  return [found[0][0], found[1][0], [...new Set(found.flatMap(([, signs]) => signs))]];
}

function offered(kind) {
  if (this.model.answers && !this.model.answers.includes(CLASSES[kind])) return false;
  return kind !== "label" || this.model.labels[CLASSES.label].length > 1;
}

function fitting(text, pair) {
  const wanted = [...((text + pair).includes(MASK) ? ["word"] : []), ...(strip(pair) ? ["next"] : [])];
  const kind = [...wanted, ...ORDER].find((each) => offered.call(this, each));
  if (kind) return kind;
  throw new Refusal(`${this.model.model} has no trained head, so it gives no answer that could be ` +
    "followed. Choose another model.");
}

function encoded(kind, text, second) {
  if (!CLASSES[kind] || !offered.call(this, kind)) {
    throw new Refusal(`${this.model.model} has no trained head for this question. Ask another one.`);
  }
  const pair = strip(second) ? second : null;
  if (pair === null && ["next", "start", "end"].includes(kind)) {
    const missing = kind === "next" ? "a second text" : "a question";
    throw new Refusal(`This asks about two texts; ${missing} is missing in the second box.`);
  }
  const swapped = kind === "start" || kind === "end";
  const read = swapped ? this.tokenizer.encode(pair, text) : this.tokenizer.encode(text, pair);
  if (read.sides.every((side) => side === null)) {
    throw new Refusal("The text has no piece that the model reads. Write a word.");
  }
  const most = Math.min(MOST, this.limit);
  if (read.ids.length > most) {
    throw new Refusal(`The text has ${grouped(read.ids.length)} pieces; the X-ray shows at most ` +
      `${most}. Shorten it.`);
  }
  return read;
}

/** Read parts from their short names, "2.7 2.a 2.f"; skip everything else. */
function readParts(names, { num_hidden_layers: layers, num_attention_heads: heads }) {
  const found = new Map();
  for (const name of names.split(/[ ,+]+/)) {
    const [, layer, place] = name.match(/^(\d{1,3})\.(\d{1,3}|[af])$/) ?? [];
    if (layer === undefined) continue;
    const block = BLOCKS[place];
    const [number, head] = [Number(layer), block ? -1 : Number(place)];
    if (number >= layers || head >= heads) {
      const says = block ? `the ${block[1]} block of layer ${number}` : `head ${head} of layer ${number}`;
      throw new Refusal(`There is no ${says}: the model has layers 0 to ${layers - 1} with heads 0 ` +
        `to ${heads - 1}.`);
    }
    const part = { layer: number, place: block ? block[0] : "head", head };
    found.set(`${number}.${block ? place : head}`, part);
  }
  return [...found].map(([name, part]) => ({ name, ...part })).sort((a, b) =>
    a.layer - b.layer || (a.place < b.place ? -1 : Number(a.place > b.place)) || a.head - b.head);
}

/** Return (L, H + 2) with 1 for what is off; see `bert.c`. */
function switches(parts, { num_hidden_layers: layers, num_attention_heads: heads }) {
  const off = new Uint8Array(layers * (heads + 2));
  const columns = { attention: heads, feed_forward: heads + 1 };
  for (const { layer, place, head } of parts) off[layer * (heads + 2) + (columns[place] ?? head)] = 1;
  return off;
}

// -- the head on every layer ----------------------------------------------------------------------

/** Return the rows of some pieces after a layer, as the head reads them. */
function rowsOf({ lens }, { states }, layer, places) {
  const size = this.engine.config.hidden_size;
  const rows = new Float32Array(places.length * size);
  places.forEach((at, n) => rows.set(states[layer].subarray(at * size, (at + 1) * size), n * size));
  return lens === "raw" || layer === states.length - 1 ? rows : this.engine.mapped(layer, rows);
}

/** Score all answers at some pieces after a layer: for a start or end one row, else one a piece. */
function scoresAt(asking, run, layer, places) {
  const { engine } = this;
  const size = engine.config.hidden_size;
  const rows = rowsOf.call(this, asking, run, layer, places);
  const { kind } = asking;
  if (kind === "word") return engine.wordScores(rows, places.map((_, n) => n));
  const vectors = places.map((_, n) => rows.subarray(n * size, (n + 1) * size));
  const heads = vectors.map((each) => engine.head(CLASSES[kind],
    kind === "label" || kind === "next" ? engine.pooled(each, CLASSES[kind]) : each));
  return kind === "start" || kind === "end"
    ? [Float64Array.from(heads, (each) => each[Number(kind === "end")])] : heads;
}

const every = ({ read }) => read.ids.map((_, at) => at);
const single = ({ kind }) => kind === "label" || kind === "next";

function layerScores(asking, run, position) {
  const places = asking.kind === "start" || asking.kind === "end" ? every(asking) : [position];
  return run.states.map((_, layer) => scoresAt.call(this, asking, run, layer, places)[0]);
}

/** Return what the head says everywhere: L + 1 rows of { name, share, agreement }, or null. */
function readings(asking, now, whole) {
  const { kind, temperature } = asking;
  const spans = kind === "start" || kind === "end";
  const places = single(asking) ? [0] : every(asking);
  const last = now.states.length - 1;
  const final = spans ? [] : scoresAt.call(this, asking, whole, last, places).map(argmax);
  return now.states.map((_, layer) => {
    const rows = scoresAt.call(this, asking, now, layer, places);
    const said = spans
      ? [...softmax(rows[0], temperature)].map((share) => ({ name: "", share, agreement: share }))
      : rows.map((row, n) => {
        const shares = softmax(row, temperature);
        const best = argmax(row);
        return { name: asking.name(best), share: shares[best], agreement: shares[final[n]] };
      });
    return every(asking).map((at) => said[at] ?? null);
  });
}

/** Return whether a piece of the text belongs to a name. */
function hasName(asking, whole) {
  const labels = this.model.labels[CLASSES.entity];
  return scoresAt.call(this, asking, whole, whole.states.length - 1, every(asking)).some((row, n) =>
    asking.read.sides[n] !== null && labels[argmax(row)] !== "O");
}

function placeOf(asking, whole, at) {
  const { kind, read } = asking;
  if (single(asking)) return 0;
  if (at !== null) {
    if (at < read.ids.length) return at;
    throw new Refusal(`There is no piece ${at}; the text has pieces 0 to ${read.ids.length - 1}.`);
  }
  const own = every(asking).filter((n) => read.sides[n] !== null);
  const scores = () => scoresAt.call(this, asking, whole, whole.states.length - 1, every(asking));
  if (kind === "start" || kind === "end") return argmax(scores()[0]);
  if (kind === "entity") {
    const labels = this.model.labels[CLASSES.entity];
    const rows = scores();
    const worth = (n) => Number(labels[argmax(rows[n])] !== "O") +
      Math.max(...softmax(rows[n], asking.temperature));
    return own.reduce((best, n) => worth(n) > worth(best) ? n : best);
  }
  const masks = own.filter((n) => read.tokens[n] === MASK);
  const letters = own.filter((n) => Array.from(read.tokens[n]).some((char) =>
    char !== "_" && this.unicode.words.has(char)));
  return masks[0] ?? letters.at(-1) ?? own[0];
}

function chosenOf({ kind, name }, position, logits, answer) {
  if (kind === "start" || kind === "end") return position;
  const wanted = strip(answer);
  if (!wanted || kind === "next") return argmax(logits);
  if (kind === "word") {
    const cut = this.tokenizer.cut(wanted);
    const id = this.tokenizer.ids.get(wanted) ?? (cut.length === 1 ? cut[0].id : undefined);
    if (id !== undefined && (this.tokenizer.pieces[id] !== "[UNK]" || wanted === "[UNK]")) return id;
    throw new Refusal(`“${new Text(wanted).slice(0, 60)}” is not one piece of the vocabulary, and at ` +
      "one place the model writes one piece. Follow another word.");
  }
  const names = [...logits.keys()].map(name);
  const found = names.findIndex((each) => each.toLowerCase() === wanted.toLowerCase());
  if (found >= 0) return found;
  throw new Refusal(`There is no answer “${new Text(wanted).slice(0, 60)}”. Answers are: ` +
    `${new Text(names.join(", ")).slice(0, 300)}.`);
}

function nameOf(kind, read, number) {
  if (kind === "word") return this.readable(number);
  if (kind === "start" || kind === "end") return `${read.tokens[number]} (${number})`;
  return kind === "next" ? NEXT[number] : this.model.labels[CLASSES[kind]][number];
}

function target(kind, position, chosen) {
  return {
    word: `log-probability of token ${chosen} at position ${position}`,
    start: `log-probability that the answer starts at position ${chosen}`,
    end: `log-probability that the answer ends at position ${chosen}`,
    entity: `log-probability of label ${chosen} at position ${position}`,
    label: `log-probability of label ${chosen}`,
    next: 'logit of "B follows A" minus logit of "B does not follow"',
  }[kind];
}

function targetValue(kind, logits, chosen) {
  if (kind === "next") return logits[0] - logits[1];
  const top = logits.reduce((most, each) => Math.max(most, each), -Infinity);
  return logits[chosen] - top - Math.log(logits.reduce((sum, each) => sum + Math.exp(each - top), 0));
}

function candidates({ name }, chosen, before, now) {
  const rank = (shares, number) => shares.reduce((sum, each) => sum + (each > shares[number]), 1);
  const best = [...now.keys()].sort((a, b) => now[b] - now[a] || a - b).slice(0, CANDIDATES);
  const shown = [...new Set([...best, chosen, argmax(before)])].sort((a, b) => a - b);
  return shown.map((number) => ({
    number, name: name(number), probability: now[number], before: before[number],
    rank: rank(now, number), rank_before: rank(before, number), followed: number === chosen,
  })).sort((a, b) => a.rank - b.rank);
}
