/** The lab in a browser or in Node: texts of the grammar, batches, and a small BERT that learns.
 *
 * The rules are those of `app/features/lab` and `bert_core/pretraining`, whose tables are in
 * `lab.json`; only the random numbers are others, by a generator that both languages can have.
 */

import { Refusal } from "./refusal.js";
import { largest, readSigns, softmax } from "./tasks.js";

const [DECAY, MOST, BETAS] = [0.01, 1, [0.9, 0.999]]; // as `TrainerSettings`, and AdamW
const [GUESSES, MORE] = [3, 5]; // fillings shown of a gap, and of a visitor's own
const MEASURED = 240; // held-out sentences for the loss
const LOOKS = 38; // measurements after the first one; most of them early, as most is learned early
const MEMORY = "The browser gives this page too little memory to train.";

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

  /** Draw one of `options`, given the running sums of their weights. */
  weighted(options, sums) {
    const at = this.share() * sums.at(-1);
    return options[sums.findIndex((sum) => at < sum)];
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

// -- texts ----------------------------------------------------------------------------------------

const running = (options) => {
  let sum = 0;
  return options.map(({ weight }) => (sum += weight));
};

/** One axis of a sentence: all options, and those about one person or animal. */
class Axis {
  constructor({ gaps, rows }) {
    this.options = rows.map(([weight, about, ...words]) => ({ weight, about,
      words: Object.fromEntries(gaps.map((gap, n) => [gap, words[n]])) }));
    this.whole = { options: this.options, sums: running(this.options) };
    this.about = new Map();
  }

  draw(source, about) {
    const named = about.find((each) => this.of(each).options.length);
    const { options, sums } = named === undefined ? this.whole : this.of(named);
    return source.weighted(options, sums).words;
  }

  of(about) {
    if (!this.about.has(about)) {
      const options = this.options.filter((each) => each.about === about);
      this.about.set(about, { options, sums: running(options) });
    }
    return this.about.get(about);
  }
}

/** Draw texts of the grammar, none with a held-out sentence: arrays of sentences. */
export function texts(tables, { sentences, shuffled }) {
  const { grammar, persons, animals, together } = tables;
  const templates = grammar.map((each) => ({ ...each, axes: each.axes.map((axis) => new Axis(axis)) }));
  const sums = running(templates);
  const taken = new Set(tables.phenomena.flatMap(({ probes }) =>
    probes.map(([text, answer]) => text.replace("[MASK]", answer))));
  const source = new Source("0 documents");
  const found = [];
  for (let n = 0; n < Math.floor(sentences / together); n++) {
    const about = [source.choice(persons), source.choice(animals)];
    const text = [];
    while (text.length < together) {
      const { pattern, axes } = source.weighted(templates, sums);
      const words = Object.assign({}, ...axes.map((axis) => axis.draw(source, about)));
      const sentence = pattern.replace(/\{(\w+)\}/g, (_, gap) => words[gap]);
      if (!taken.has(sentence)) text.push(sentence);
    }
    found.push(text);
  }
  if (!shuffled) return found;
  const order = new Source("0");
  return found.map((text) => text.map((each) => order.shuffle(each.split(" ")).join(" ")));
}

// -- batches --------------------------------------------------------------------------------------

/** Round to the nearest whole number, halves to the even one. */
export const rounded = (x) => Math.round(x) - Number(x % 1 === 0.5 && Math.round(x) % 2 === 1);

/** Rows in a new order and with new masks in every epoch, as in `PretrainingBatches`. */
export class Batches {
  /**
   * @param {number[][]} rows ids with [CLS] and [SEP]
   * @param {object} tokenizer of the lab
   */
  constructor(rows, tokenizer, { size, rate, seed }) {
    Object.assign(this, { rows, tokenizer, size, rate, seed, epoch: -1, order: [] });
    const { pieces } = tokenizer;
    this.special = pieces.map((piece) => /^\[(PAD|UNK|CLS|SEP|MASK)\]$/.test(piece));
    this.others = [...pieces.keys()].filter((id) => !this.special[id]);
  }

  #source(number) {
    return new Source(this.seed * 1_000_003 + number);
  }

  #row(place) {
    const count = this.rows.length;
    const epoch = Math.floor(place / count);
    if (this.epoch !== epoch) {
      this.epoch = epoch;
      this.order = this.#source(2 * epoch + 1).shuffle([...this.rows.keys()]);
    }
    return this.rows[this.order[place % count]];
  }

  /** Return a step's batch: ids of all rows in one array, their lengths, hidden places, labels. */
  batch(step) {
    const rows = Array.from({ length: this.size }, (_, n) => this.#row(step * this.size + n));
    const source = this.#source(2 * step);
    const longest = Math.max(...rows.map((row) => row.length));
    const grid = (draw) => rows.map(() => Array.from({ length: longest }, draw));
    const keys = grid(() => source.share());
    const lots = grid(() => source.share());
    const draws = grid(() => source.below(this.others.length));
    const [ids, at, labels] = [[], [], []];
    rows.forEach((row, n) => {
      const open = [...row.keys()].filter((place) => !this.special[row[place]]);
      const wanted = Math.max(1, rounded(Math.fround(open.length * Math.fround(this.rate))));
      const first = ids.length;
      ids.push(...row);
      open.sort((a, b) => keys[n][a] - keys[n][b]);
      for (const place of open.slice(0, wanted).sort((a, b) => a - b)) {
        const lot = lots[n][place];
        at.push(first + place);
        labels.push(row[place]);
        if (lot < 0.8) ids[first + place] = this.tokenizer.mask;
        else if (lot < 0.9) ids[first + place] = this.others[draws[n][place]];
      }
    });
    return { ids, lengths: rows.map((row) => row.length), at, labels };
  }
}

// -- the model ------------------------------------------------------------------------------------

/** Return the parts of a model in the order of its weights: { name, shape, learns }. */
function parts({ width: d, layers }, pieces, places) {
  const found = [];
  const add = (prefix, rows, learns = true) =>
    rows.forEach(([name, ...shape]) => found.push({ name: prefix + name, shape, learns }));
  const normal = (name) => [[`${name}LayerNorm.weight`, d], [`${name}LayerNorm.bias`, d]];
  const dense = (name, out, size) => [[`${name}dense.weight`, out, size], [`${name}dense.bias`, out]];
  add("bert.embeddings.", [["word_embeddings.weight", pieces, d],
    ["position_embeddings.weight", places, d], ["token_type_embeddings.weight", 2, d], ...normal("")]);
  const three = ["query", "key", "value"].map((name) => `attention.self.${name}`);
  for (let n = 0; n < layers; n++) {
    add(`bert.encoder.layer.${n}.`, [
      ...three.map((name) => [`${name}.weight`, d, d]), ...three.map((name) => [`${name}.bias`, d]),
      ...dense("attention.output.", d, d), ...normal("attention.output."),
      ...dense("intermediate.", 4 * d, d), ...dense("output.", d, 4 * d), ...normal("output.")]);
  }
  add("cls.predictions.", [["bias", pieces], ...dense("transform.", d, d), ...normal("transform.")]);
  add("bert.pooler.", dense("", d, d), false); // no task of this lab uses them
  add("cls.seq_relationship.", [["weight", 2, d], ["bias", 2]], false);
  return found;
}

const product = (shape) => shape.reduce((a, b) => a * b, 1);

/** A model in WebAssembly's memory. */
export class Model {
  /**
   * @param {WebAssembly.Module} module compiled from `lab.wasm`
   * @param {object} settings of the run
   * @param {number} pieces of the vocabulary
   * @param {number} places most pieces of a row
   */
  constructor(module, settings, pieces, places) {
    Object.assign(this, { settings, pieces, places, steps: 0 });
    this.room = (pieces + 3) & ~3;
    this.c = new WebAssembly.Instance(module, {}).exports;
    const { width, heads, layers, shared, positions } = settings;
    this.address = this.c.begin(width, heads, layers, pieces, places, Number(shared), Number(positions)) >>> 0;
    if (!this.address) throw new RangeError(MEMORY);
    let at = 0;
    const first = new Map(); // of shared layers, the place of the one that all are
    this.parts = parts(settings, pieces, places).map((part) => {
      const name = shared ? part.name.replace(/layer\.\d+/, "layer.0") : part.name;
      if (!first.has(name)) {
        first.set(name, at);
        at += product(part.shape);
      }
      return { ...part, at: first.get(name) };
    });
    this.rest = new Float32Array(at - this.c.count()); // of what does not learn
  }

  get weights() {
    return new Float32Array(this.c.memory.buffer, this.address, this.c.count());
  }

  get gradients() {
    return new Float32Array(this.c.memory.buffer, this.c.gradients() >>> 0, this.c.count());
  }

  /** Set random weights as `bert_core` does, with the lab's deviation of 1 / sqrt(width). */
  initialise(seed) {
    const source = new Source(`${seed} weights`);
    const all = new Float32Array(this.c.count() + this.rest.length);
    for (const { name, shape, at } of this.parts) {
      const part = all.subarray(at, at + product(shape));
      if (name.endsWith("LayerNorm.weight")) part.fill(1);
      else if (name.includes("position") && !this.settings.positions) part.fill(0);
      else if (shape.length === 2) {
        for (let n = 0; n < part.length; n++) part[n] = source.normal() * this.settings.width ** -0.5;
      }
    }
    this.weights.set(all.subarray(0, this.c.count()));
    this.rest.set(all.subarray(this.c.count()));
  }

  /** Run rows and call `use` with the address of scores, rows of `this.room`; then forget both. */
  #at({ ids, lengths, at }, use) {
    const before = this.c.mark();
    const put = (values) => {
      const place = this.c.take(4 * values.length) >>> 0;
      if (!place) throw new RangeError(MEMORY);
      new Int32Array(this.c.memory.buffer, place, values.length).set(values);
      return place;
    };
    try {
      const [input, counts, places] = [put(ids), put(lengths), put(at)];
      if (this.c.forward(input, counts, lengths.length, places, at.length)) throw new RangeError(MEMORY);
      const scores = this.c.fill() >>> 0;
      if (!scores) throw new RangeError(MEMORY);
      return use(scores, put);
    } finally {
      this.c.release(before);
    }
  }

  /** Return the scores of all pieces at the places of rows: one array (V,) for each. */
  scores(rows) {
    return this.#at(rows, (scores) => rows.at.map((_, n) =>
      new Float32Array(this.c.memory.buffer, scores + 4 * n * this.room, this.pieces).slice()));
  }

  /** Return the mean loss of hidden pieces; with `learns`, gradients are computed as well. */
  loss(batch, learns = false) {
    return this.#at(batch, (_, put) => {
      const labels = put(batch.labels);
      const said = this.c.compare(labels) >>> 0;
      const found = new Float32Array(this.c.memory.buffer, said, 2 * batch.labels.length);
      let sum = 0;
      for (let n = 0; n < found.length; n += 2) sum += Math.log(found[n]) - found[n + 1];
      if (learns && this.c.learn(labels)) throw new RangeError(MEMORY);
      return sum / batch.labels.length;
    });
  }

  /** Do a step of AdamW; return the loss before it. A step that is not finite changes nothing. */
  step(batch, rate) {
    const loss = this.loss(batch, true);
    const norm = this.c.norm();
    if (!Number.isFinite(loss + norm)) return Number.NaN;
    this.steps++;
    const [first, second] = BETAS.map((beta) => 1 - beta ** this.steps);
    this.c.adjust(rate, DECAY, Math.min(1, MOST / (norm + 1e-6)), first, second);
    return loss;
  }

  /** Return the weights as a safetensors file, in the layout of `bert_core`. */
  file(weights = this.weights) {
    const header = { __metadata__: { format: "pt" } };
    const count = this.c.count();
    let at = 0;
    const data = this.parts.map(({ name, shape, at: from }) => {
      const size = product(shape);
      header[name] = { dtype: "F32", shape, data_offsets: [at, at += 4 * size] };
      return from < count ? weights.subarray(from, from + size)
        : this.rest.subarray(from - count, from - count + size);
    });
    let said = JSON.stringify(header);
    said += " ".repeat((64 - (said.length + 8) % 64) % 64); // the data begin at a cache line
    const found = new Uint8Array(8 + said.length + at);
    new DataView(found.buffer).setBigUint64(0, BigInt(said.length), true);
    found.set(new TextEncoder().encode(said), 8);
    let place = 8 + said.length;
    for (const each of data) {
      found.set(new Uint8Array(each.buffer, each.byteOffset, each.byteLength), place);
      place += each.byteLength;
    }
    return found;
  }
}

// -- a run ----------------------------------------------------------------------------------------

/** One training from its start: steps, measurements, and states to look back at. */
export class Run {
  /**
   * @param {WebAssembly.Module} module compiled from `lab.wasm`
   * @param {object} tables `lab.json`
   * @param {object} tokenizer a `Tokenizer` with the vocabulary of the tables
   * @param {object} settings what differs from the usual ones
   */
  constructor(module, tables, tokenizer, settings) {
    this.settings = { ...tables.usual, ...settings };
    Object.assign(this, { tables, tokenizer, states: new Map(), points: [], diverged: "" });
    const { mask_rate: rate, seed, steps } = this.settings;
    const documents = texts(tables, this.settings);
    const rows = documents.flat().map((each) => this.#row(each));
    this.batches = new Batches(rows, tokenizer, { size: tables.batch, rate: rate / 100, seed });
    this.model = new Model(module, this.settings, tokenizer.pieces.length, tables.length);
    this.model.initialise(seed);
    const probes = ({ probes: all }) => {
      const masked = all.map(([text]) => this.#row(text));
      return { ...this.#packed(masked), answers: all.map(([, answer]) => tokenizer.ids.get(answer)) };
    };
    this.probes = tables.phenomena.map(probes);
    this.watched = tables.watched.map((each) => this.#packed([this.#row(each[0])]));
    const held = tables.phenomena.flatMap(({ probes: all }) => all.slice(0, tables.measured)
      .map(([text, answer]) => this.#row(text.replace("[MASK]", answer))));
    this.heldOut = new Batches(held, tokenizer, { size: Math.min(MEASURED, held.length), rate: 0.15, seed: 0 })
      .batch(0);
    this.moments = new Set(Array.from({ length: LOOKS + 1 }, (_, n) => Math.round(steps * (n / LOOKS) ** 2)));
    this.#since();
    const counts = new Map();
    for (const id of rows.flatMap((row) => row.slice(1, -1))) counts.set(id, (counts.get(id) ?? 0) + 1);
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    this.start = { settings: this.settings, phenomena: tables.phenomena, watched: tables.watched,
      sentences: rows.length, vocabulary: tokenizer.pieces.length, log_v: Math.log(tokenizer.pieces.length),
      parameters: this.model.c.count() + this.model.rest.length,
      unigram: -[...counts.values()].reduce((sum, n) => sum + n / total * Math.log(n / total), 0) };
  }

  /** The pieces of a sentence of the grammar, whose words are in the vocabulary, as a row. */
  #row(sentence) {
    const { ids } = this.tokenizer;
    return [ids.get("[CLS]"), ...sentence.split(" ").map((word) => ids.get(word)), ids.get("[SEP]")];
  }

  #packed(rows) {
    const ids = rows.flat();
    const at = [...ids.keys()].filter((place) => ids[place] === this.tokenizer.mask);
    return { ids, lengths: rows.map((row) => row.length), at };
  }

  #since() {
    this.losses = [];
    this.rate = 0;
  }

  get step() {
    return this.model.steps;
  }

  get done() {
    return this.diverged !== "" || this.step >= this.settings.steps;
  }

  /** Do a step; a loss that is no longer a number ends the run, which is a result. */
  advance() {
    const { steps, learning_rate: most } = this.settings;
    const warm = Math.min(1, (this.step + 1) / this.tables.warmup);
    this.rate = most * warm * Math.min(1, (1 - this.step / steps) / 0.5);
    const loss = this.model.step(this.batches.batch(this.step), this.rate);
    if (Number.isNaN(loss)) {
      this.diverged = `After step ${this.step}, the loss is not a finite number. Try a smaller ` +
        "learning rate.";
    } else this.losses.push(loss);
  }

  /** Measure the model, and keep the point and the weights. */
  look(seconds = 0) {
    const accuracy = this.probes.map((rows) => {
      const right = this.model.scores(rows)
        .filter((scores, n) => scores.indexOf(Math.max(...scores)) === rows.answers[n]);
      return right.length / rows.answers.length;
    });
    const mean = this.losses.reduce((a, b) => a + b, 0) / this.losses.length;
    const before = this.points.at(-1);
    const point = { step: this.step, seconds, accuracy, learning_rate: this.rate,
      loss: this.losses.length ? mean : this.start.log_v, held_out: this.model.loss(this.heldOut),
      guesses: this.watched.map((rows) => this.#best(this.model.scores(rows)[0], GUESSES)),
      steps_a_second: before && seconds > before.seconds
        ? (this.step - before.step) / (seconds - before.seconds) : 0 };
    if (!Number.isFinite(point.held_out)) return null;
    this.#since();
    this.points.push(point);
    this.states.set(this.step, this.model.weights.slice());
    return point;
  }

  #best(scores, count) {
    const shares = Float32Array.from(softmax([...scores]));
    return largest(shares, count).map((id) => [this.tokenizer.pieces[id], shares[id]]);
  }

  /** Work with the weights of an earlier moment. */
  #then(step, work) {
    const now = this.model.weights.slice();
    this.model.weights.set(this.states.get(step) ?? now);
    try {
      return work();
    } finally {
      this.model.weights.set(now);
    }
  }

  /** Return the best fillings of each gap of a visitor's text, now or at an earlier moment. */
  fill(text, step = null) {
    const { ids } = this.tokenizer.encode(readSigns(text)[0], null, this.tables.length);
    const rows = this.#packed([ids]);
    if (!rows.at.length) {
      throw new Refusal("The text has no [MASK]. Write [MASK] or ___ where a word is missing.");
    }
    return this.#then(step, () => this.model.scores(rows).map((each) => this.#best(each, MORE)));
  }

  /** Return the folder that Python opens: names and bytes. */
  files(step = null) {
    const { width, heads, layers } = this.settings;
    const config = { architectures: ["BertForPreTraining"], model_type: "bert", dtype: "float32",
      vocab_size: this.tokenizer.pieces.length, hidden_size: width, num_hidden_layers: layers,
      num_attention_heads: heads, intermediate_size: 4 * width, hidden_act: "gelu",
      hidden_dropout_prob: 0, attention_probs_dropout_prob: 0, layer_norm_eps: 1e-12,
      max_position_embeddings: this.tables.length, type_vocab_size: 2, pad_token_id: 0,
      initializer_range: width ** -0.5 };
    const options = { tokenizer_class: "BertTokenizer", do_lower_case: true,
      model_max_length: this.tables.length };
    const json = (value) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
    return { "config.json": json(config), "tokenizer_config.json": json(options),
      "vocab.txt": new TextEncoder().encode(this.tokenizer.pieces.map((each) => `${each}\n`).join("")),
      "model.safetensors": this.#then(step, () => this.model.file()) };
  }
}

/** Write files into one ZIP file, uncompressed: weights hardly get smaller. */
export function zip(files) {
  const table = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
  });
  const checked = (bytes) => ~bytes.reduce((sum, byte) => table[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;
  const record = (sign, ...fields) => { // fields: [bytes, value]
    const all = [[4, sign], ...fields];
    const found = new DataView(new ArrayBuffer(all.reduce((sum, [size]) => sum + size, 0)));
    let at = 0;
    for (const [size, value] of all) {
      if (size === 4) found.setUint32(at, value, true);
      else found.setUint16(at, value, true);
      at += size;
    }
    return new Uint8Array(found.buffer);
  };
  const [parts_, list] = [[], []];
  let at = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const said = new TextEncoder().encode(name);
    const about = [[2, 20], [2, 0], [2, 0], [2, 0], [2, 0x21], [4, checked(bytes)], // 1980-01-01
      [4, bytes.length], [4, bytes.length], [2, said.length], [2, 0]];
    list.push(record(0x02014b50, [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), said);
    parts_.push(record(0x04034b50, ...about), said, bytes);
    at += 30 + said.length + bytes.length;
  }
  const size = list.reduce((sum, each) => sum + each.length, 0);
  const count = list.length / 2;
  return [...parts_, ...list,
    record(0x06054b50, [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0])];
}
