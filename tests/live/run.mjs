// Answers requests of the tests, one JSON object a line: {"do": NAME, ...} -> {"found": ...}.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";

const [live, model, described] = process.argv.slice(2);
const { rows, textOf } = await import(`${live}/controls.js`);
const { Tokenizer } = await import(`${live}/tokenizer.js`);
const { doors } = await import(`${live}/doors.js`);
const { score } = await import(`${live}/numbers.js`);
const { Engine } = await import(`${live}/engine.js`);
const { drawn } = await import(`${live}/draw.js`);
const { inspect } = await import(`${live}/folder.js`);
const { Tasks } = await import(`${live}/tasks.js`);
const read = (path) => readFileSync(path);
const tables = JSON.parse(read(`${live}/tables.json`));
const tokenizer = new Tokenizer(read(`${model}/vocab.txt`).toString(), tables);
let engine;
let tasks;
let own; // the tasks of a folder

function ready() {
  if (engine) return;
  const said = JSON.parse(read(described));
  engine = new Engine(new WebAssembly.Module(read(`${live}/bert.wasm`)), said);
  const weights = read(`${model}/model.safetensors`);
  engine.room(weights.length).set(weights);
  engine.ready();
  tasks = new Tasks(engine, tokenizer, said, tables);
  tasks.fitted = { means: engine.fit(new Uint8Array(read(`${model}/fitted.safetensors`))) };
}

function said(work) {
  try {
    return work();
  } catch (error) {
    if (error.constructor.name !== "Refusal") throw error;
    return { refused: error.message };
  }
}

const answers = {
  encode: ({ pairs }) => pairs.map(([text, pair]) => {
    const found = tokenizer.encode(text, pair);
    return [found.ids, found.offsets, found.places, found.words];
  }),
  forward({ ids, types, off, path }) {
    ready();
    const found = engine.run(ids, types, { attentions: true, off });
    const parts = [...found.states, ...found.attentions,
      ...engine.wordScores(found.last, [0]), Float32Array.from(engine.pooled(found.last))];
    writeFileSync(path, Buffer.concat(parts.map((each) => Buffer.from(each.buffer))));
    return engine.c.memory.buffer.byteLength;
  },
  scores: ({ values }) => values.map(score),
  rows: ({ task, values }) => rows(task, values),
  boxes: ({ texts }) => texts.map(([shown, given]) => textOf(shown, given)),
  draw({ rows: asked }) {
    ready();
    return asked.map(([task, given]) => drawn(task, tasks.answer(task, given)));
  },
  doors(given) {
    ready();
    return doors(tasks, given);
  },
  ask({ rows: asked, folder = false }) {
    ready();
    return asked.map(([task, given]) => said(() => {
      const { answer } = (folder ? own : tasks).answer(task, given);
      return { answer };
    }));
  },
  async open({ folder = "", file = "" }) {
    const files = file ? [new File([read(file)], basename(file))]
      : readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile())
        .map(({ name }) => new File([read(`${folder}/${name}`)], name));
    let found = null;
    const failed = await inspect(files, tables).then((each) => void (found = each), (error) => error);
    if (failed) return said(() => { throw failed; });
    const module = new WebAssembly.Module(read(`${live}/bert.wasm`));
    const one = new Engine(module, found.model);
    one.room(found.file.size).set(new Uint8Array(await found.file.arrayBuffer()));
    one.ready(found.named);
    const cutter = new Tokenizer(found.pieces.join("\n"), tables, found.model.lower_case);
    own = new Tasks(one, cutter, found.model, tables);
    return { says: found.says };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ found: await answers[asked.do](asked) })}\n`);
}
