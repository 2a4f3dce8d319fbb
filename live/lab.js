/** A run of the lab, in a browser or in Node: a small BERT learns a text and is measured meanwhile.
 *
 * The training is that of `bert_core.pretraining`; only the random numbers are others, by a generator
 * that both languages can have.
 */

import { Batches, pairRows, sentenceRows } from "./lab_batches.js";
import { Model } from "./lab_model.js";
import { basicWords, buildVocabulary, corpusOf, counted, remembering } from "./lab_text.js";
import { largest, softmax } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { MASK, readSigns, Unicode } from "./text.js";
import { Normalizer, Tokenizer } from "./tokenizer.js";

const [BATCH, LENGTH, WARMUP] = [64, 64, 50]; // rows (half as many pairs), most pieces of a row, steps
const [GUESSES, MORE] = [3, 5]; // fillings shown of a gap, and of a visitor's own
const [MEASURED, SHOWN] = [240, 4]; // held-out sentences for the loss; rows of the first batch
const LOOKS = 38; // measurements after the first one; most of them early, as most is learned early

/** One training from its start: steps, measurements, and states to look back at. */
export class Run {
  /**
   * @param {WebAssembly.Module} module compiled from `lab.wasm`
   * @param {object} tables `lab.json`
   * @param {object} characters `tables.json`
   * @param {object} settings all of them
   * @param {string} text a visitor's own, for the corpus "own"
   */
  constructor(module, tables, characters, settings, text = "") {
    Object.assign(this, { settings, states: new Map(), points: [], diverged: "" });
    const { mask_rate: rate, whole_words: words, next_sentence: pairs, seed, steps } = settings;
    const basic = basicWords(new Normalizer(characters));
    const corpus = corpusOf(tables, basic, new Unicode(characters), settings, text);
    const sentences = corpus.documents.flat();
    const pieces = buildVocabulary(sentences.flatMap(basic), settings.pieces);
    this.tokenizer = new Tokenizer(pieces.join("\n"), characters);
    this.encode = remembering((part) => this.tokenizer.cut(part).map(({ id }) => id));
    const documents = corpus.documents.map((each) => each.map(this.encode));
    const rows = pairs ? pairRows(documents, this.tokenizer, LENGTH, seed)
      : sentenceRows(documents.flat(), this.tokenizer, LENGTH);
    this.batches = new Batches(rows, this.tokenizer,
      { size: pairs ? BATCH / 2 : BATCH, rate: rate / 100, words, seed });
    const held = sentenceRows(corpus.held.map(this.encode), this.tokenizer, LENGTH);
    this.heldOut = new Batches(held, this.tokenizer, { size: Math.min(MEASURED, held.rows.length), rate: 0.15 })
      .batch(0);
    this.model = new Model(module, settings, pieces.length, LENGTH);
    this.model.initialise(seed);
    const measured = corpus.phenomena.map((each) => ({ ...each, gaps: this.#gaps(each.probes) }))
      .filter(({ gaps }) => gaps.answers.length);
    this.probes = measured.map(({ gaps }) => gaps);
    this.watched = corpus.watched.map((each) => this.#gaps([each]));
    this.moments = new Set(Array.from({ length: LOOKS + 1 }, (_, n) => Math.round(steps * (n / LOOKS) ** 2)));
    this.#since();
    const seen = rows.rows.flat().filter((id) => !this.batches.special[id]);
    this.start = { settings, sentences: sentences.length, vocabulary: pieces.length,
      words: new Set(sentences.flatMap((each) => each.split(" "))).size,
      parameters: this.model.c.count() + this.model.rest.length, log_v: Math.log(pieces.length),
      unigram: [...counted(seen).values()].reduce((sum, n) => sum - n / seen.length * Math.log(n / seen.length), 0),
      phenomena: measured.map(({ name, floor, ceiling }) => ({ name, floor, ceiling })),
      watched: corpus.watched, rows: this.batches.shown(SHOWN) };
  }

  /** Return the probes that the vocabulary can spell as rows, with a [MASK] for each piece of an answer. */
  #gaps(probes) {
    const unknown = this.tokenizer.ids.get("[UNK]");
    const known = probes.map(([text, answer]) => {
      const wanted = this.encode(answer);
      return { wanted, row: this.encode(text.replace(MASK, wanted.map(() => MASK).join(" "))) };
    }).filter(({ wanted, row }) => wanted.length && !wanted.includes(unknown) && row.length <= LENGTH - 2);
    return { ...this.#packed(known.map(({ row }) => row)), answers: known.map(({ wanted }) => wanted) };
  }

  #packed(sentences) {
    const { rows } = sentenceRows(sentences, this.tokenizer, LENGTH);
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
    const warm = Math.min(1, (this.step + 1) / WARMUP);
    this.rate = most * warm * Math.min(1, (1 - this.step / steps) / 0.5);
    const loss = this.model.step(this.batches.batch(this.step), this.rate);
    if (loss) this.losses.push(loss);
    else this.#astray();
  }

  #astray() {
    this.diverged = `After step ${this.step}, the loss is not a finite number. Try a smaller learning rate.`;
  }

  /** Measure the model, and keep the point and the weights; null if its loss is no longer a number. */
  look() {
    const mean = (name) => this.losses.reduce((sum, each) => sum + each[name], 0) / this.losses.length;
    const loss = this.losses.length ? mean("words") : this.start.log_v;
    const pairs = this.settings.next_sentence
      ? { next_sentence: this.losses.length ? mean("pairs") : Math.log(2) } : {};
    const heldOut = this.model.loss(this.heldOut).words;
    if (!Number.isFinite(heldOut)) {
      this.#astray();
      return null;
    }
    const point = { step: this.step, learning_rate: this.rate, loss, ...pairs, held_out: heldOut,
      accuracy: this.probes.map((gaps) => {
        const scores = this.model.scores(gaps);
        const right = gaps.answers.filter((wanted) => scores.splice(0, wanted.length)
          .map((each, n) => each.indexOf(Math.max(...each)) === wanted[n]).every(Boolean));
        return right.length / gaps.answers.length;
      }),
      guesses: this.watched.map((gaps) => gaps.answers.length ? this.#best(this.model.scores(gaps), GUESSES) : []) };
    this.#since();
    this.points.push(point);
    this.states.set(this.step, this.model.weights.slice());
    return point;
  }

  /** Return the most probable fillings of a gap, whose masks are filled each on its own. */
  #best(scores, count) {
    const { pieces } = this.tokenizer;
    const masks = scores.map((each) => {
      const shares = Float32Array.from(softmax([...each]));
      return largest(shares, count).map((id) => [pieces[id], shares[id]]);
    });
    return masks[0].map((_, n) => [masks.map((each) => each[n][0]).join(" ").replace(/ ##/g, ""),
      masks.reduce((share, each) => share * each[n][1], 1)]);
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
    const rows = this.#packed([this.encode(readSigns(text)[0])]);
    if (!rows.at.length) {
      throw new Refusal("The text has no [MASK]. Write [MASK] or ___ where a word is missing.");
    }
    return this.#then(step, () => this.model.scores(rows).map((each) => this.#best([each], MORE)));
  }

  /** Return the folder that Python opens: names and bytes. */
  files(step = null) {
    const { width, heads, layers } = this.settings;
    const { pieces } = this.tokenizer;
    const config = { architectures: ["BertForPreTraining"], model_type: "bert", dtype: "float32",
      vocab_size: pieces.length, hidden_size: width, num_hidden_layers: layers,
      num_attention_heads: heads, intermediate_size: 4 * width, hidden_act: "gelu",
      hidden_dropout_prob: 0, attention_probs_dropout_prob: 0, layer_norm_eps: 1e-12,
      max_position_embeddings: LENGTH, type_vocab_size: 2, pad_token_id: 0,
      initializer_range: width ** -0.5 };
    const options = { tokenizer_class: "BertTokenizer", do_lower_case: true, model_max_length: LENGTH };
    const json = (value) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
    return { "config.json": json(config), "tokenizer_config.json": json(options),
      "vocab.txt": new TextEncoder().encode(pieces.map((each) => `${each}\n`).join("")),
      "model.safetensors": this.#then(step, () => this.model.file()) };
  }
}
