/** A small BERT in WebAssembly's memory: its weights, its steps, and the files that hold it. */

import { Source } from "./lab_text.js";
import { crc32 } from "./numbers.js";

const [DECAY, MOST, BETAS] = [0.01, 1, [0.9, 0.999]]; // as `TrainerSettings`, and AdamW
const MEMORY = "The browser gives this page too little memory to train.";

/** Return the parts of a model in the order of its weights: { name, shape }. */
function parts({ width: d, layers }, pieces, places) {
  const found = [];
  const add = (prefix, rows) => rows.forEach(([name, ...shape]) => found.push({ name: prefix + name, shape }));
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
  add("bert.pooler.", dense("", d, d)); // only the second task uses them
  add("cls.seq_relationship.", [["weight", 2, d], ["bias", 2]]);
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
    const { width, heads, layers, shared, positions, next_sentence: pairs } = settings;
    const flags = [shared, positions, pairs].map(Number);
    this.address = this.c.begin(width, heads, layers, pieces, places, ...flags) >>> 0;
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
  #at({ ids, types = [], lengths, at }, use) {
    const before = this.c.mark();
    const put = (values) => {
      const place = this.c.take(4 * values.length) >>> 0;
      if (!place) throw new RangeError(MEMORY);
      new Int32Array(this.c.memory.buffer, place, values.length).set(values);
      return place;
    };
    try {
      const [input, counts, places] = [put(ids), put(lengths), put(at)];
      const second = types.length ? put(types) : 0;
      if (this.c.forward(input, second, counts, lengths.length, places, at.length)) throw new RangeError(MEMORY);
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

  /** Return the mean losses { words, pairs } of hidden pieces and of rows (null if they have no labels);
   * with `learns`, gradients are computed as well. */
  loss(batch, learns = false) {
    return this.#at(batch, (_, put) => {
      const mean = (address, labels) => {
        if (!address) throw new RangeError(MEMORY);
        const found = new Float32Array(this.c.memory.buffer, address >>> 0, 2 * labels.length);
        const each = labels.flatMap((label, n) => label < 0 ? [] : [Math.log(found[2 * n]) - found[2 * n + 1]]);
        return each.reduce((a, b) => a + b, 0) / each.length;
      };
      const labels = put(batch.labels);
      const words = mean(this.c.compare(labels), batch.labels);
      const follows = batch.follows ? put(batch.follows) : 0;
      const pairs = follows ? mean(this.c.relate(follows), batch.follows) : null;
      if (learns && this.c.learn(labels, follows)) throw new RangeError(MEMORY);
      return { words, pairs };
    });
  }

  /** Do a step of AdamW; return the losses before it, null for one that is not finite and changes nothing. */
  step(batch, rate) {
    const loss = this.loss(batch, true);
    const norm = this.c.norm();
    if (!Number.isFinite(loss.words + loss.pairs + norm)) return null;
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

/** Write files into one ZIP file, uncompressed: weights hardly get smaller. */
export function zip(files) {
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
    const about = [[2, 20], [2, 0], [2, 0], [2, 0], [2, 0x21], [4, crc32(bytes)], // 1980-01-01
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
