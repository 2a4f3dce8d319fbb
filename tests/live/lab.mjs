// Answers requests about the lab, one JSON object a line: {"do": NAME, ...} -> {"found": ...}.

import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [live] = process.argv.slice(2);
const { Batches, Model, Run, Source, texts, zip } = await import(`${live}/lab.js`);
const { accuracies, gaps, losses, outcome } = await import(`${live}/lab_draw.js`);
const { Tokenizer } = await import(`${live}/tokenizer.js`);
const read = (path) => readFileSync(path);
const tables = JSON.parse(read(`${live}/lab.json`));
const tokenizer = new Tokenizer(tables.pieces.join("\n"), JSON.parse(read(`${live}/tables.json`)));
const code = new WebAssembly.Module(read(`${live}/lab.wasm`));

/** A model with the weights of a file of float32 numbers. */
function model(settings, pieces, path) {
  const made = new Model(code, settings, pieces, 64);
  const bytes = read(path);
  made.weights.set(new Float32Array(bytes.buffer, bytes.byteOffset, made.weights.length));
  return made;
}

const written = (path, values) => writeFileSync(path, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
let run = null;

const answers = {
  texts: ({ sentences, shuffled }) => texts(tables, { sentences, shuffled }),
  numbers({ name }) {
    const source = new Source(name);
    return [source.bits(32), source.share(), source.below(10), source.shuffle([1, 2, 3, 4, 5])];
  },
  batches({ rows, rate, steps }) {
    const all = new Batches(rows, tokenizer, { size: 64, rate, seed: 3 });
    return Array.from({ length: steps }, (_, step) => all.batch(step));
  },
  gradients({ settings, pieces, path, out, batch }) {
    const made = model(settings, pieces, path);
    const loss = made.loss(batch, true);
    written(out, made.gradients);
    return loss;
  },
  begin({ settings, path }) {
    run = new Run(code, tables, tokenizer, settings);
    if (path) {
      const bytes = read(path);
      run.model.weights.set(new Float32Array(bytes.buffer, bytes.byteOffset, run.model.weights.length));
    }
    return run.start.parameters;
  },
  train({ steps }) {
    const found = [];
    for (let n = 0; n < steps && !run.done; n++) {
      run.advance();
      found.push(run.losses.at(-1));
    }
    return found;
  },
  pace({ seconds }) {
    const began = performance.now();
    const first = run.step;
    while (performance.now() - began < 1000 * seconds) run.advance();
    return 1000 * (run.step - first) / (performance.now() - began);
  },
  look: () => run.look(),
  diverged: () => run.diverged,
  fill: ({ text, step }) => run.fill(text, step ?? null),
  save({ path, step }) {
    writeFileSync(path, Buffer.concat(zip(run.files(step ?? null))));
    return true;
  },
  draw({ run: given, width, spare }) {
    return [losses(given, null, width), accuracies(given, null, width, spare), gaps(given, given.points.at(-1))];
  },
  outcome: ({ run: given, changed, usual }) => outcome(given, changed, usual),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ found: answers[asked.do](asked) })}\n`);
}
