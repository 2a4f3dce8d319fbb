// Answers requests about the lab, one JSON object a line: {"do": NAME, ...} -> {"found": ...}.

import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [live] = process.argv.slice(2);
const { Run } = await import(`${live}/lab.js`);
const { Batches, pairRows, sentenceRows } = await import(`${live}/lab_batches.js`);
const { accuracies, gaps, losses, outcome } = await import(`${live}/lab_draw.js`);
const { Model, zip } = await import(`${live}/lab_model.js`);
const { basicWords, buildVocabulary, corpusOf, sentencesOf, Source } = await import(`${live}/lab_text.js`);
const { Unicode } = await import(`${live}/text.js`);
const { Normalizer, Tokenizer } = await import(`${live}/tokenizer.js`);
const read = (path) => readFileSync(path);
const [tables, characters] = ["lab", "tables"].map((name) => JSON.parse(read(`${live}/${name}.json`)));
const usual = JSON.parse(read(`${live}/runs/usual.json`)).start.settings;
const code = new WebAssembly.Module(read(`${live}/lab.wasm`));
const basic = basicWords(new Normalizer(characters));
const unicode = new Unicode(characters);

/** Put the float32 numbers of a file into a model. */
function fill(model, path) {
  const bytes = read(path);
  model.weights.set(new Float32Array(bytes.buffer, bytes.byteOffset, model.weights.length));
}

const written = (path, values) => writeFileSync(path, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
let run = null;

const answers = {
  numbers({ name }) {
    const source = new Source(name);
    return [source.bits(32), source.share(), source.below(10), source.shuffle([1, 2, 3, 4, 5])];
  },
  corpus: ({ settings, text }) => corpusOf(tables, basic, unicode, { ...usual, ...settings }, text),
  refused({ text }) {
    try {
      return corpusOf(tables, basic, unicode, { ...usual, corpus: "own" }, text) && "";
    } catch (error) {
      return error.message;
    }
  },
  sentences: ({ text }) => sentencesOf(text, unicode),
  vocabulary: ({ texts, size }) => buildVocabulary(texts.flatMap(basic), size),
  batches({ documents, pieces, pairs, steps, ...options }) {
    const tokenizer = new Tokenizer(pieces.join("\n"), characters);
    const rows = pairs ? pairRows(documents, tokenizer, 64, options.seed) : sentenceRows(documents.flat(), tokenizer, 64);
    const all = new Batches(rows, tokenizer, { size: 64, ...options });
    return Array.from({ length: steps }, (_, step) => all.batch(step));
  },
  gradients({ settings, pieces, path, out, batch }) {
    const model = new Model(code, { ...usual, ...settings }, pieces, 64);
    fill(model, path);
    const { words, pairs } = model.loss(batch, true);
    written(out, model.gradients);
    return words + pairs;
  },
  begin({ settings, path, text }) {
    run = new Run(code, tables, characters, { ...usual, ...settings }, text);
    if (path) fill(run.model, path);
    return { start: run.start, pieces: run.tokenizer.pieces };
  },
  train({ steps }) {
    const before = run.losses.length;
    for (let n = 0; n < steps && !run.done; n++) run.advance();
    return run.losses.slice(before).map(({ words, pairs }) => words + pairs);
  },
  look: () => run.look(),
  diverged: () => run.diverged,
  fill: ({ text, step }) => run.fill(text, step ?? null),
  save({ path, step }) {
    writeFileSync(path, Buffer.concat(zip(run.files(step ?? null))));
    return true;
  },
  draw: ({ run: found, width, spare }) => [losses([found], [], null, width),
    accuracies([found], null, width, spare), gaps(found, found.points.at(-1))],
  outcome: ({ run: found, usual: other }) => outcome(found, other),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ found: answers[asked.do](asked) })}\n`);
}
