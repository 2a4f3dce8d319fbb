/** BERT in a browser or in Node: a weight file in WebAssembly's memory, the layers, and the heads. */

const SPARE = 32 << 20; // bytes that a text may leave behind; after more, the memory is begun anew
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
    return new Uint8Array(this.c.memory.buffer, this.file, size);
  }

  /** Read the header of the weight file (safetensors, float16) and find everything in it. */
  ready() {
    const size = Number(new DataView(this.c.memory.buffer).getBigUint64(this.file, true));
    const header = new Uint8Array(this.c.memory.buffer, this.file + 8, size);
    this.tensors = JSON.parse(new TextDecoder().decode(header));
    this.data = this.file + 8 + size;
    const { config } = this;
    const named = (names, prefix, find) => names.map((name) => find.call(this, prefix + name));
    const layers = [];
    for (let number = 0; number < config.num_hidden_layers; number++) {
      const prefix = `bert.encoder.layer.${number}.`;
      layers.push(...named(LAYER[0], prefix, this.#matrix), ...named(LAYER[1], prefix, this.#vector));
    }
    const embedded = "bert.embeddings.";
    const table = this.#put(Int32Array.from(layers));
    const fields = [
      config.hidden_size, config.intermediate_size, config.num_attention_heads,
      config.num_hidden_layers, new Int32Array(Float32Array.of(config.layer_norm_eps).buffer)[0],
      ...named(["word_embeddings.weight", "position_embeddings.weight",
        "token_type_embeddings.weight"], embedded, this.#matrix),
      ...named(["LayerNorm.weight", "LayerNorm.bias"], embedded, this.#vector), table,
    ];
    this.pointer = this.#put(Int32Array.from(fields));
    const words = "cls.predictions.";
    this.words = {
      dense: this.#matrix(`${words}transform.dense.weight`),
      bias: this.#vector(`${words}transform.dense.bias`),
      weight: this.#vector(`${words}transform.LayerNorm.weight`),
      shift: this.#vector(`${words}transform.LayerNorm.bias`),
      scores: this.#vector(`${words}bias`),
    };
    this.pooler = { weight: this.#values("bert.pooler.dense.weight"),
      bias: this.#values("bert.pooler.dense.bias") };
    this.heads.BertForNextSentencePrediction = {
      weight: this.#values("cls.seq_relationship.weight"),
      bias: this.#values("cls.seq_relationship.bias"),
    };
    this.begun = this.c.mark();
  }

  /**
   * Run the layers on one input of T tokens.
   * @returns `states`: L + 1 arrays (T, D), embeddings first; `attentions`: L arrays (H, T, T), or
   *   null; `last`: the last of the states
   */
  run(ids, types, { attentions = false, off = null } = {}) {
    const { hidden_size: size, num_hidden_layers: layers, num_attention_heads: heads } = this.config;
    const tokens = ids.length;
    const each = heads * tokens * tokens;
    const found = this.#within(() => {
      const input = this.#put(Int32Array.from([...ids, ...types]));
      const states = this.#take((layers + 1) * tokens * size * 4);
      const weights = attentions ? this.#take(layers * each * 4) : 0;
      const without = off ? this.#put(Uint8Array.from(off)) : 0;
      const done = this.c.forward(
        this.pointer, input, input + 4 * tokens, tokens, states, weights, without,
      );
      if (done) throw new RangeError(MEMORY);
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
      c.linear(inner, input, words.dense, words.bias, count, size, size);
      c.gelu(inner, count * size);
      c.normalise(inner, 0, words.weight, words.shift, epsilon, count, size);
      const decoder = this.#matrix("bert.embeddings.word_embeddings.weight");
      c.linear(scores, inner, decoder, words.scores, count, size, vocabulary);
      return positions.map((_, n) => this.#floats(scores + 4 * n * vocabulary, vocabulary).slice());
    });
  }

  /** Return the pooled output (D,) of a last hidden state. */
  pooled(last) {
    const { hidden_size: size } = this.config;
    return affine(this.pooler, last.subarray(0, size)).map(Math.tanh);
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
    if (!at) throw new RangeError(MEMORY);
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
    if (tensor?.dtype !== "F16") throw new Error(`The weight file has no float16 tensor ${name}.`);
    return this.data + tensor.data_offsets[0];
  }

  /** Copy a vector as float32 to the memory, and return its address. */
  #vector(name) {
    const from = this.#matrix(name);
    const length = this.#count(name);
    const at = this.#take(4 * length);
    this.c.widen(at, from, length);
    return at;
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

const MEMORY = "The browser gives this page too little memory for the text.";

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
