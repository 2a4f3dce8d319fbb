/** BERT in a browser or in Node: a weight file in WebAssembly's memory, the layers, and the heads. */

import { Refusal } from "./refusal.js";

const SPARE = 32 << 20; // bytes that a text may leave behind; after more, the memory is begun anew
const EMBEDDED = "bert.embeddings.";
const LAYER = [
  ["attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
    "attention.output.dense.weight", "intermediate.dense.weight", "output.dense.weight"],
  ["attention.self.query.bias", "attention.self.key.bias", "attention.self.value.bias",
    "attention.output.dense.bias", "attention.output.LayerNorm.weight",
    "attention.output.LayerNorm.bias", "intermediate.dense.bias", "output.dense.bias",
    "output.LayerNorm.weight", "output.LayerNorm.bias"],
];

export class Engine {
  /**
   * @param {WebAssembly.Module} module compiled from `bert.wasm`
   * @param {object} model what `live.json` says: its `config` and `heads`
   */
  constructor(module, model) {
    this.module = module;
    this.model = model;
    this.config = model.config;
    this.heads = Object.fromEntries(Object.entries(model.heads).map(([name, head]) => [name, {
      weight: halves(head.weight), bias: halves(head.bias),
    }]));
    this.#begin();
  }

  #begin() {
    this.c = new WebAssembly.Instance(this.module, {}).exports;
  }

  /** Return where the bytes of the weight file belong, to be filled before `ready`. */
  room(size) {
    this.file = this.#take(size);
    this.size = size;
    return this.bytes();
  }

  /** The bytes of the weight file; taking memory may move them. */
  bytes() {
    return new Uint8Array(this.c.memory.buffer, this.file, this.size);
  }

  /**
   * Read the header of the weight file (safetensors) and find everything in it.
   * @param named returns BERT's name of a parameter that another family calls otherwise
   */
  ready(named = (name) => name) {
    const size = Number(new DataView(this.c.memory.buffer).getBigUint64(this.file, true));
    const header = new Uint8Array(this.c.memory.buffer, this.file + 8, size);
    this.tensors = Object.fromEntries(Object.entries(JSON.parse(new TextDecoder().decode(header)))
      .map(([name, tensor]) => [named(name), tensor]));
    this.data = this.file + 8 + size;
    this.kind = this.tensors[`${EMBEDDED}word_embeddings.weight`].dtype;
    this.halves = Number(this.kind === "F16");
    const { config } = this;
    const all = (names, prefix, find) => names.map((name) => find.call(this, prefix + name));
    const layers = [];
    for (let number = 0; number < config.num_hidden_layers; number++) {
      const prefix = `bert.encoder.layer.${number}.`;
      layers.push(...all(LAYER[0], prefix, this.#matrix), ...all(LAYER[1], prefix, this.#vector));
    }
    const types = this.has(`${EMBEDDED}token_type_embeddings.weight`)
      ? this.#matrix(`${EMBEDDED}token_type_embeddings.weight`)
      : this.#put(new Float32Array(2 * config.hidden_size));
    const table = this.#put(Int32Array.from(layers));
    const fields = [
      config.hidden_size, config.intermediate_size, config.num_attention_heads,
      config.num_hidden_layers, new Int32Array(Float32Array.of(config.layer_norm_eps).buffer)[0],
      this.halves,
      ...all(["word_embeddings.weight", "position_embeddings.weight"], EMBEDDED, this.#matrix), types,
      ...all(["LayerNorm.weight", "LayerNorm.bias"], EMBEDDED, this.#vector), table,
    ];
    this.pointer = this.#put(Int32Array.from(fields));
    const words = "cls.predictions.";
    const dense = `${words}transform.dense.weight`;
    this.words = this.has(dense) && {
      dense: this.#matrix(dense),
      bias: this.#vector(`${words}transform.dense.bias`),
      weight: this.#vector(`${words}transform.LayerNorm.weight`),
      shift: this.#vector(`${words}transform.LayerNorm.bias`),
      scores: this.#vector(`${words}bias`),
      decoder: this.#matrix(this.has(`${words}decoder.weight`) ? `${words}decoder.weight`
        : `${EMBEDDED}word_embeddings.weight`),
    };
    this.pooler = this.#linear("bert.pooler.dense") ?? this.#linear("pre_classifier");
    this.squash = this.has("pre_classifier.weight") ? (each) => Math.max(0, each) : Math.tanh;
    for (const [name, layer] of Object.entries({
      BertForNextSentencePrediction: "cls.seq_relationship", ...this.model.layers })) {
      const head = this.#linear(layer);
      if (head) this.heads[name] = head;
    }
    this.begun = this.c.mark();
  }

  /**
   * Run the layers on one input of T tokens.
   * `off` (L, H + 2) and `instead` (L, 3, D) are explained in `bert.c`.
   * @returns `states`: L + 1 arrays (T, D), embeddings first; `attentions`: L arrays (H, T, T), or
   *   null; `last`: the last of the states
   */
  run(ids, types, { attentions = false, off = null, instead = null } = {}) {
    const { hidden_size: size, num_hidden_layers: layers, num_attention_heads: heads } = this.config;
    const tokens = ids.length;
    const each = heads * tokens * tokens;
    const found = this.#within(() => {
      const input = this.#put(Int32Array.from([...ids, ...types]));
      const states = this.#take((layers + 1) * tokens * size * 4);
      const weights = attentions ? this.#take(layers * each * 4) : 0;
      const without = off ? this.#put(Uint8Array.from(off)) : 0;
      const others = instead ? this.#put(instead) : 0;
      const done = this.c.forward(
        this.pointer, input, input + 4 * tokens, tokens, states, weights, without, others,
      );
      if (done) throw new Refusal(MEMORY);
      const cut = (from, count, length) => Array.from({ length: count }, (_, n) =>
        this.#floats(from + 4 * n * length, length).slice());
      return {
        states: cut(states, layers + 1, tokens * size),
        attentions: attentions ? cut(weights, layers, each) : null,
      };
    });
    return { ...found, tokens, last: found.states[layers] };
  }

  /** Score the vocabulary at positions of a last hidden state: one array (V,) for each. */
  wordScores(last, positions) {
    const { hidden_size: size, vocab_size: vocabulary, layer_norm_eps: epsilon } = this.config;
    const { words, c } = this;
    const count = positions.length;
    const rows = new Float32Array(count * size);
    positions.forEach((at, n) => rows.set(last.subarray(at * size, (at + 1) * size), n * size));
    return this.#within(() => {
      const input = this.#put(rows);
      const inner = this.#take(4 * count * size);
      const scores = this.#take(4 * count * vocabulary);
      c.linear(inner, input, words.dense, words.bias, count, size, size, this.halves);
      c.gelu(inner, count * size);
      c.normalise(inner, 0, words.weight, words.shift, epsilon, count, size);
      c.linear(scores, inner, words.decoder, words.scores, count, size, vocabulary, this.halves);
      return positions.map((_, n) => this.#floats(scores + 4 * n * vocabulary, vocabulary).slice());
    });
  }

  /** Return the pooled output (D,) of a last hidden state. */
  pooled(last) {
    const { hidden_size: size } = this.config;
    return affine(this.pooler, last.subarray(0, size)).map(this.squash);
  }

  /**
   * Keep the maps of the lens: a safetensors file with `maps` (L, D + 1, D) in float16.
   * @returns the means (L, 3, D) of what heads, attention and feed-forward blocks put out
   */
  fit(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = Number(view.getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    const data = (name) => bytes.slice(8 + length + header[name].data_offsets[0],
      8 + length + header[name].data_offsets[1]).buffer;
    const { hidden_size: size, num_hidden_layers: layers } = this.config;
    const maps = new Uint16Array(data("maps"));
    this.maps = Array.from({ length: layers }, (_, layer) => {
      const own = maps.subarray(layer * (size + 1) * size, (layer + 1) * (size + 1) * size);
      const turned = new Uint16Array(size * size);
      for (let i = 0; i < size; i++) for (let o = 0; o < size; o++) turned[o * size + i] = own[i * size + o];
      const bias = this.#take(4 * size);
      this.c.widen(bias, this.#put(own.slice(size * size)), size);
      return { weight: this.#put(turned), bias };
    });
    this.begun = this.c.mark();
    const means = new Float32Array(layers * 3 * size);
    for (let layer = 0; layer < layers; layer++) {
      ["head", "attention", "feed_forward"].forEach((site, n) =>
        means.set(new Float32Array(data(`${site}.${layer}`)), (3 * layer + n) * size));
    }
    return means;
  }

  /** Map rows (N, D) after a layer (0: the input) to what they would be after the last one. */
  mapped(layer, rows) {
    const { hidden_size: size } = this.config;
    const { weight, bias } = this.maps[layer];
    return this.#within(() => {
      const [input, output] = [this.#put(rows), this.#take(rows.byteLength)];
      this.c.linear(output, input, weight, bias, rows.length / size, size, size, 1);
      return this.#floats(output, rows.length).slice();
    });
  }

  /** Apply a linear head to one vector (D,). */
  head(name, vector) {
    return affine(this.heads[name], vector);
  }

  /** Begin the memory anew if a long text made it grow; WebAssembly cannot shrink it. */
  #tidy() {
    if (this.c.memory.buffer.byteLength - this.begun <= SPARE) return;
    const used = new Uint8Array(this.c.memory.buffer, 0, this.begun);
    this.#begin();
    this.#take(this.begun - this.c.mark()); // the module's own variables are copied as well
    new Uint8Array(this.c.memory.buffer).set(used);
  }

  #within(work) {
    const before = this.c.mark();
    try {
      return work();
    } finally {
      this.c.release(before);
      this.#tidy();
    }
  }

  #take(bytes) {
    const at = this.c.take(bytes) >>> 0;
    if (!at) throw new Refusal(MEMORY);
    return at;
  }

  #put(values) {
    const at = this.#take(values.byteLength);
    new values.constructor(this.c.memory.buffer, at, values.length).set(values);
    return at;
  }

  #floats(at, length) {
    return new Float32Array(this.c.memory.buffer, at, length);
  }

  #matrix(name) {
    const tensor = this.tensors[name];
    if (!tensor) throw new Error(`The weight file has no tensor ${name}.`);
    return this.data + tensor.data_offsets[0];
  }

  /** Copy a vector as float32 to the memory, and return its address. */
  #vector(name) {
    const from = this.#matrix(name);
    const length = this.#count(name);
    const at = this.#take(4 * length);
    if (this.tensors[name].dtype === "F16") this.c.widen(at, from, length);
    else new Uint8Array(this.c.memory.buffer).copyWithin(at, from, from + 4 * length);
    return at;
  }

  has(name) {
    return name in this.tensors;
  }

  /** Return a linear layer for `affine`; null if the file has none of this name. */
  #linear(name) {
    if (!this.has(`${name}.weight`)) return null;
    return { weight: this.#values(`${name}.weight`), bias: this.#values(`${name}.bias`) };
  }

  #values(name) {
    const before = this.c.mark();
    const values = Float64Array.from(this.#floats(this.#vector(name), this.#count(name)));
    this.c.release(before);
    return values;
  }

  #count(name) {
    return this.tensors[name].shape.reduce((a, b) => a * b, 1);
  }
}

const MEMORY = "The browser gives this page too little memory for the model and this text.";

/** Return weight (C, D) . vector + bias, in double precision. */
function affine({ weight, bias }, vector) {
  return bias.map((start, row) => {
    let sum = start;
    for (let i = 0; i < vector.length; i++) sum += weight[row * vector.length + i] * vector[i];
    return sum;
  });
}

/** Read float16 numbers from base64. */
function halves(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const whole = new Uint16Array(bytes.buffer);
  return Float64Array.from(whole, (bits) => {
    const exponent = (bits >> 10) & 31;
    const part = (bits & 1023) / 1024;
    const size = exponent ? (1 + part) * 2 ** (exponent - 15) : part * 2 ** -14;
    return bits >> 15 ? -size : size;
  });
}
