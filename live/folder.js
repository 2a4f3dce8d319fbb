/** A model of one's own: what a chosen folder holds, checked before any memory is taken.
 *
 * Config, weights (safetensors, float32 or float16) and vocabulary of a BERT or a DistilBERT, as
 * `transformers` writes them. `bert_core.families` says what is different about DistilBERT.
 */

import { Refusal } from "./refusal.js";
import { CLASSES } from "./tasks.js";
import { Unicode } from "./text.js";
import { SPECIAL } from "./tokenizer.js";
import { unzipped } from "./unzip.js";

const SMALL = 16e6; // bytes of a file that is read as text
const HEADER = 10e6; // bytes
const LARGEST = 1.6e9; // bytes of a weight file
const TYPES = { F32: 4, F16: 2 };
const TITLES = { fill_mask: "fill-mask", next_sentence: "next sentence", qa: "questions", ner: "names",
  classification: "classification", multiple_choice: "multiple choice" };
const HEADS = { BertForQuestionAnswering: "qa_outputs", BertForTokenClassification: "classifier",
  BertForSequenceClassification: "classifier", BertForMultipleChoice: "classifier" };
const DISTIL = [["transformer.layer.", "encoder.layer."], ["attention.q_lin", "attention.self.query"],
  ["attention.k_lin", "attention.self.key"], ["attention.v_lin", "attention.self.value"],
  ["attention.out_lin", "attention.output.dense"], ["sa_layer_norm", "attention.output.LayerNorm"],
  ["ffn.lin1", "intermediate.dense"], ["ffn.lin2", "output.dense"],
  ["output_layer_norm", "output.LayerNorm"]];
const DISTIL_HEAD = { vocab_transform: "cls.predictions.transform.dense",
  vocab_layer_norm: "cls.predictions.transform.LayerNorm", "vocab_projector.weight":
  "cls.predictions.decoder.weight", "vocab_projector.bias": "cls.predictions.bias" };
const KEYS = { hidden_size: "dim", num_hidden_layers: "n_layers", num_attention_heads: "n_heads",
  intermediate_size: "hidden_dim", hidden_act: "activation" };
const WORDPIECE = /^((Bert|DistilBert|Electra)Tokenizer(Fast)?|PreTrainedTokenizerFast|TokenizersBackend)$/;
const ANY_CLASS = /^(PreTrainedTokenizerFast|TokenizersBackend)$/;
const ENTRIES = { fewest: 600, part: 20 }; // of a vocabulary that reads a script

/** Return BERT's name of a parameter. */
function namedAs(family) {
  return (name) => {
    let found = name.replace(/LayerNorm\.gamma$/, "LayerNorm.weight")
      .replace(/LayerNorm\.beta$/, "LayerNorm.bias").replace(/^distilbert\./, "bert.");
    if (family === "distilbert") {
      for (const [own, ours] of DISTIL) found = found.replace(own, ours);
      for (const [own, ours] of Object.entries(DISTIL_HEAD)) {
        if (found === own || found.startsWith(`${own}.`)) found = ours + found.slice(own.length);
      }
    }
    return /^(embeddings|encoder|pooler)\./.test(found) ? `bert.${found}` : found;
  };
}

/**
 * Check the files of a folder, or of one ZIP file.
 * @param {File[]} chosen
 * @param tables `tables.json`
 * @param name of the folder
 * @returns `model` and `named` for the engine, `weights` (the file), the vocabulary, and `says`
 */
export async function inspect(chosen, tables, name = "your model") {
  const [packed] = chosen.length === 1 && /\.zip$/i.test(chosen[0].name) ? chosen : [];
  if (packed) name = packed.name.slice(0, -4);
  const files = packed ? await unzipped(packed) : chosen;
  const by = new Map(files.map((file) => [file.name, file]));
  const weights = by.get("model.safetensors") ?? missing(by);
  const stated = object(await text(by, "config.json"), "config.json");
  const family = stated.model_type ?? "bert";
  if (!["bert", "distilbert"].includes(family)) {
    throw new Refusal(`This is a model of the family “${shown(family)}”; the browser runs BERT and ` +
      "DistilBERT. The site with a server opens others.");
  }
  const config = sizes(stated, family);
  const named = namedAs(family);
  const found = await header(weights, named);
  check(found, config, family);
  const { pieces, lower } = await vocabulary(by, config, stated);
  const answers = heads(found, stated, config, family);
  const labels = Object.fromEntries(answers.filter((name) => HEADS[name]).map((name) =>
    [name, labelsOf(stated, found.get(`${HEADS[name]}.weight`).shape[0])]));
  const model = {
    model: name, weights: "",
    lower_case: lower, config, heads: {}, labels, answers,
    layers: Object.fromEntries(answers.filter((name) => HEADS[name]).map((name) => [name, HEADS[name]])),
    calibrations: calibrations(stated), scripts: scriptsOf(pieces, tables),
    figures: Object.fromEntries(Object.values(CLASSES).map((name) => [name, []])),
    trained_on: Object.fromEntries(Object.values(CLASSES).map((name) => [name, ""])),
  };
  const lacks = Object.entries(CLASSES).filter(([, name]) => !answers.includes(name));
  return { model, named, file: weights, pieces, says: says(model, weights.size, lacks) };
}

/** Say what was found, and what memory it takes, before any is taken. */
function says({ model, config }, size, lacks) {
  const { num_hidden_layers: layers, hidden_size: width } = config;
  const none = lacks.length ? ` It has no head for ${lacks.map(([task]) => TITLES[task]).join(", ")}.` : "";
  return `“${shown(model)}”: ${layers} layers, ${width} wide. It takes ${megabytes(size)} of this ` +
    `tab's memory, and up to ${megabytes(memory(size, config))} for a long text.${none}`;
}

const shown = (value) => String(value).slice(0, 60);

function missing(by) {
  const names = [...by.keys()];
  if (names.some((name) => name.startsWith("model.safetensors.index") || /-of-\d+\.safetensors$/.test(name))) {
    throw new Refusal("The weights are in several files; the browser reads one, model.safetensors. " +
      "Save the model again, in one piece.");
  }
  if (names.some((name) => /\.(bin|pt|pth|pkl|ckpt)$/.test(name))) {
    throw new Refusal("The weights are a pickle, a kind of file that can run programs and is never " +
      "opened here. Save the model as model.safetensors (in transformers: save_pretrained).");
  }
  throw new Refusal("There is no model.safetensors among these files. Choose the folder with config.json, " +
    "model.safetensors, and tokenizer.json or vocab.txt.");
}

async function text(by, name) {
  const file = by.get(name);
  if (!file) {
    const either = name === "vocab.txt" ? "tokenizer.json and no vocab.txt (one is enough)" : name;
    throw new Refusal(`There is no ${either} among these files. It belongs to the model; copy it there.`);
  }
  if (file.size > SMALL) throw new Refusal(`${name} has ${file.size} bytes: that is none of a BERT.`);
  return file.text();
}

function object(written, name) {
  let found = null;
  try {
    found = JSON.parse(written);
  } catch {} // said below
  if (found === null || typeof found !== "object" || Array.isArray(found)) {
    throw new Refusal(`${name} is not what it should be, a JSON object. Copy the file again.`);
  }
  return found;
}

/** Read the sizes, under BERT's names. */
function sizes(stated, family) {
  const value = (name) => (family === "distilbert" ? stated[KEYS[name]] : undefined) ?? stated[name];
  const defaults = { layer_norm_eps: 1e-12, hidden_act: "gelu", type_vocab_size: 2 };
  const config = { ...defaults, model_type: family };
  for (const name of ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
    "intermediate_size", "max_position_embeddings"]) {
    config[name] = value(name);
    if (!Number.isInteger(config[name]) || config[name] < 1 || config[name] > 1e6) {
      throw new Refusal(`config.json says ${name} = ${shown(config[name])}; expected a whole number.`);
    }
  }
  config.layer_norm_eps = family === "bert" ? stated.layer_norm_eps ?? 1e-12 : 1e-12;
  const { hidden_size: size, num_attention_heads: heads, intermediate_size: inner } = config;
  if (size % heads || (size / heads) % 8 || inner % 4) {
    throw new Refusal(`Heads of width ${shown(size / heads)} and an inner width of ${inner} do not fit ` +
      "this engine: it needs multiples of 8 and 4.");
  }
  const act = value("hidden_act") ?? "gelu";
  if (act !== "gelu") throw new Refusal(`The activation “${shown(act)}” is not known here; BERT has gelu.`);
  const places = stated.position_embedding_type ?? "absolute";
  if (places !== "absolute" || stated.is_decoder) {
    throw new Refusal("This model reads positions in another way than BERT, or writes from left to " +
      "right. The browser does not run it.");
  }
  return config;
}

/** Read what tensors the weight file has: name -> { dtype, shape }. */
async function header(file, named) {
  const says = "model.safetensors is no such file, or its beginning is damaged. Copy it again.";
  if (file.size < 9) throw new Refusal(says);
  if (file.size > LARGEST) {
    throw new Refusal(`The weights have ${megabytes(file.size)}; a browser's tab takes up to ` +
      `${megabytes(LARGEST)}. Choose a smaller model.`);
  }
  const length = new DataView(await file.slice(0, 8).arrayBuffer()).getBigUint64(0, true);
  if (length > BigInt(Math.min(HEADER, file.size - 8))) throw new Refusal(says);
  const begin = 8 + Number(length);
  const written = new TextDecoder().decode(await file.slice(8, begin).arrayBuffer());
  const found = new Map();
  let end = 0;
  for (const [name, each] of Object.entries(object(written, "The beginning of model.safetensors"))) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: at } = each ?? {};
    const whole = (list) => Array.isArray(list) && list.every((n) => Number.isInteger(n) && n >= 0);
    if (!whole(shape) || !whole(at) || at.length !== 2 || at[1] < at[0]) throw new Refusal(says);
    const bytes = TYPES[dtype] && shape.reduce((a, b) => a * b, TYPES[dtype]);
    if (bytes && bytes !== at[1] - at[0]) throw new Refusal(says);
    end = Math.max(end, at[1]);
    found.set(named(name), { dtype, shape });
  }
  if (begin + end > file.size) {
    throw new Refusal(`model.safetensors is cut: it has ${file.size} of ${begin + end} bytes. Copy it ` +
      "again.");
  }
  return found;
}

/** Compare the tensors of the encoder with the sizes. */
function check(found, config, family) {
  const { hidden_size: D, intermediate_size: F, vocab_size: V, max_position_embeddings: P } = config;
  const wanted = new Map();
  const norm = (name) => ["weight", "bias"].forEach((each) => wanted.set(`${name}.${each}`, [D]));
  const linear = (name, size, depth) => {
    wanted.set(`${name}.weight`, [size, depth]);
    wanted.set(`${name}.bias`, [size]);
  };
  const embedded = "bert.embeddings.";
  wanted.set(`${embedded}word_embeddings.weight`, [V, D]);
  wanted.set(`${embedded}position_embeddings.weight`, [P, D]);
  if (family === "bert") {
    const rows = found.get(`${embedded}token_type_embeddings.weight`)?.shape[0] ?? 2;
    wanted.set(`${embedded}token_type_embeddings.weight`, [Math.max(2, rows), D]);
  }
  norm(`${embedded}LayerNorm`);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const at = `bert.encoder.layer.${layer}.`;
    for (const each of ["query", "key", "value"]) linear(`${at}attention.self.${each}`, D, D);
    linear(`${at}attention.output.dense`, D, D);
    linear(`${at}intermediate.dense`, F, D);
    linear(`${at}output.dense`, D, F);
    norm(`${at}attention.output.LayerNorm`);
    norm(`${at}output.LayerNorm`);
  }
  compare(found, wanted);
  const kind = found.get(`${embedded}word_embeddings.weight`).dtype;
  for (const [name, shape] of wanted) {
    const { dtype } = found.get(name);
    if (!TYPES[dtype] || (shape.length === 2 && dtype !== kind)) {
      throw new Refusal(`The weights are numbers of the kind ${shown(dtype)}; the browser reads ` +
        "float32 or float16, all of one kind. Save the model in one of them.");
    }
  }
}

function compare(found, wanted) {
  const lost = [...wanted.keys()].filter((name) => !found.has(name));
  if (lost.length) {
    throw new Refusal(`model.safetensors lacks ${lost.length} parts of the model that config.json ` +
      `describes, such as ${lost[0]}. The two do not belong together.`);
  }
  for (const [name, shape] of wanted) {
    const own = found.get(name).shape;
    if (own.length !== shape.length || own.some((each, n) => each !== shape[n])) {
      throw new Refusal(`${name} has the shape (${own.join(", ")}) in model.safetensors; by ` +
        `config.json it would be (${shape.join(", ")}). The two do not belong together.`);
    }
  }
}

/** Return the classes whose heads are there, whole and of the right shape. */
function heads(found, stated, { hidden_size: D, vocab_size: V }, family) {
  const kind = found.get("bert.embeddings.word_embeddings.weight").dtype;
  const has = (name, size, depth) => found.has(`${name}.weight`) && found.has(`${name}.bias`) &&
    found.get(`${name}.weight`).shape.join() === [size, depth].filter(Boolean).join() &&
    TYPES[found.get(`${name}.weight`).dtype] !== undefined;
  const names = [];
  const words = "cls.predictions";
  if (has(`${words}.transform.dense`, D, D) && has(`${words}.transform.LayerNorm`, D) &&
    found.get(`${words}.bias`)?.shape.join() === String(V) &&
    found.get(`${words}.transform.dense.weight`).dtype === kind) names.push("BertForMaskedLM");
  const pooled = family === "bert" ? has("bert.pooler.dense", D, D) : has("pre_classifier", D, D);
  if (family === "bert" && pooled && has("cls.seq_relationship", 2, D)) {
    names.push("BertForNextSentencePrediction");
  }
  if (has("qa_outputs", 2, D)) names.push("BertForQuestionAnswering");
  const number = found.get("classifier.weight")?.shape[0];
  const made = String(stated.architectures?.[0] ?? "");
  if (!number || !has("classifier", number, D)) return names;
  if (made.endsWith("ForTokenClassification") && labelsOf(stated, number).every((each) =>
    /^(O|[BI]-.+)$/.test(each))) names.push("BertForTokenClassification");
  if (made.endsWith("ForMultipleChoice") && pooled && number === 1) names.push("BertForMultipleChoice");
  if (made.endsWith("ForSequenceClassification") && pooled && number > 1 &&
    !["multi_label_classification", "regression"].includes(stated.problem_type)) names.push("BertForSequenceClassification");
  return names;
}

const labelsOf = ({ id2label: names }, count) =>
  Array.from({ length: count }, (_, n) => shown(names?.[n] ?? `LABEL_${n}`));

function calibrations({ temperatures: found, temperatures_fitted_on: data }) {
  return Object.fromEntries([...Object.values(CLASSES), "BertForQuestionAnswering.has_answer"].map(
    (name) => [name, { temperature: Number(found?.[name]) || 1, named: Number(found?.[name]) > 0,
      fitted_on: shown(data?.[name] ?? ""), errors: [] }]));
}

async function vocabulary(by, config, stated) {
  const switches = by.has("tokenizer_config.json")
    ? object(await text(by, "tokenizer_config.json"), "tokenizer_config.json") : {};
  const name = switches.tokenizer_class ?? stated.tokenizer_class ?? "BertTokenizer";
  if (!WORDPIECE.test(name) || switches.auto_map?.AutoTokenizer || stated.auto_map?.AutoTokenizer) {
    throw new Refusal(`Its texts are read by ${shown(name)}; the browser computes BERT's WordPiece alone.`);
  }
  let pieces;
  let own = {};
  let listed = Object.values(switches.added_tokens_decoder ?? {});
  if (by.has("tokenizer.json")) {
    const whole = object(await text(by, "tokenizer.json"), "tokenizer.json");
    if (whole.model?.type !== "WordPiece" || typeof whole.model.vocab !== "object") {
      throw new Refusal("tokenizer.json holds another tokenizer than BERT's WordPiece.");
    }
    pieces = [];
    for (const [piece, id] of Object.entries(whole.model.vocab)) {
      if (Number.isInteger(id) && id >= 0 && id < 1e6) pieces[id] = piece;
    }
    listed = [...listed, ...whole.added_tokens ?? []];
    own = whole.normalizer ?? {};
    if (own.type !== "BertNormalizer" || own.clean_text === false ||
      whole.pre_tokenizer?.type !== "BertPreTokenizer") {
      throw new Refusal("tokenizer.json cleans or splits texts in another way than BERT.");
    }
  } else pieces = (await text(by, "vocab.txt")).replace(/\r?\n$/, "").split(/\r?\n/);
  const last = new Map(pieces.map((piece, id) => [piece, id])); // of equal lines, as in Python
  pieces = Array.from(pieces, (piece, id) => (piece && last.get(piece) === id ? piece : `[row ${id}]`));
  if (pieces.length > config.vocab_size) {
    throw new Refusal(`The vocabulary has ${pieces.length} entries, but config.json says that the model ` +
      `has room for ${config.vocab_size}; the two do not belong together.`);
  }
  const lost = SPECIAL.filter((each) => !pieces.includes(each));
  if (lost.length) throw new Refusal(`The vocabulary has no ${lost.join(", ")}; it is none of a BERT.`);
  await plain(by, switches, listed);
  const told = own.type && ANY_CLASS.test(name) ? {} : switches; // then tokenizer.json counts alone
  const lower = told.do_lower_case ?? own.lowercase ?? true;
  if (!lower && told.do_lower_case == null && Object.keys(told).length) { // transformers lower-cases
    throw new Refusal("tokenizer.json keeps capitals, and tokenizer_config.json does not say " +
      "do_lower_case. Make the two agree.");
  }
  const accents = told.strip_accents ?? own.strip_accents ?? null;
  const chinese = told.tokenize_chinese_chars ?? own.handle_chinese_chars ?? true;
  if ((accents ?? lower) !== lower || !chinese) {
    throw new Refusal("The tokenizer of this model keeps accents, or joins Chinese characters, in a way " +
      "that the browser does not.");
  }
  return { pieces, lower };
}

/** Refuse a tokenizer that finds other tokens in a text than BERT's five, or finds them otherwise. */
async function plain(by, switches, listed) {
  const read = async (name) => (by.has(name) ? object(await text(by, name), name) : {});
  const named = { ...switches, ...await read("special_tokens_map.json") };
  const roles = Object.entries(named).filter(([key, value]) => key.endsWith("_token") && value &&
    ["string", "object"].includes(typeof value)).map(([, value]) => value);
  const more = ["additional_special_tokens", "extra_special_tokens", "never_split"].flatMap((key) =>
    Object.values(named[key] ?? switches[key] ?? {}));
  const all = [...listed, ...roles, ...more, ...Object.keys(await read("added_tokens.json"))];
  const other = all.find((each) => !SPECIAL.includes(each?.content ?? each) || each.lstrip ||
    each.rstrip || each.single_word || each.normalized);
  if (other) {
    throw new Refusal(`The tokenizer has the added token “${shown(other.content ?? other)}”; the browser ` +
      "finds only BERT's own five. The site with a server opens this model.");
  }
  const key = [["do_basic_tokenize", false], ["clean_text", false], ["split_special_tokens", true]]
    .find(([name, value]) => switches[name] === value)?.[0];
  if (key) throw new Refusal(`tokenizer_config.json says ${key} = ${switches[key]}; the browser does not do so.`);
}

/** List the scripts that a vocabulary has entries enough to read; see `known_scripts`. */
function scriptsOf(pieces, tables) {
  const unicode = new Unicode(tables);
  const counts = new Map();
  for (const piece of pieces) {
    if (/^[\x00-\x7f]*$/.test(piece)) continue;
    const own = new Set(Array.from(piece).filter((each) => unicode.letters.has(each))
      .map((each) => unicode.script(each)));
    for (const each of own) counts.set(each, (counts.get(each) ?? 0) + 1);
  }
  const least = Math.min(ENTRIES.fewest, Math.floor(pieces.length / ENTRIES.part));
  return unicode.scripts.map(([name]) => name).filter((name) =>
    name === "Latin" || (counts.get(name) ?? 0) >= least);
}

/** Estimate the bytes that a model takes with a text of its full length, attentions included. */
function memory(size, config) {
  const { hidden_size: D, intermediate_size: F, num_hidden_layers: L, num_attention_heads: H } = config;
  const T = Math.min(512, config.max_position_embeddings);
  return size + 8 * T * ((L + 5) * D + F) + 8 * L * H * T * T;
}

const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;
