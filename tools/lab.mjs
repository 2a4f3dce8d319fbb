// Trains runs of the lab with the browser's own code and records them:
//   node tools/lab.mjs < [{"path": FILE, "settings": {...all of them}}, ...]

import { readFileSync, writeFileSync } from "node:fs";

const live = new URL("../live/", import.meta.url);
const { Run } = await import(new URL("lab.js", live));
const read = (name) => readFileSync(new URL(name, live));
const code = new WebAssembly.Module(read("lab.wasm"));
const [tables, characters] = ["lab.json", "tables.json"].map((name) => JSON.parse(read(name)));
/** Numbers as they are shown: with four digits. */
const short = (_, value) => typeof value !== "number" || Number.isInteger(value) ? value : Number(value.toPrecision(4));

for (const { path, settings } of JSON.parse(readFileSync(0))) {
  const run = new Run(code, tables, characters, settings);
  run.look();
  while (!run.done) {
    run.advance();
    if (run.moments.has(run.step)) run.look();
  }
  const { start, points, diverged } = run;
  const text = `${JSON.stringify({ start, points, diverged }, short)}\n`;
  writeFileSync(path, text);
  process.stdout.write(`${path}: ${text.length} bytes, ${points.at(-1).accuracy.map((each) => each.toFixed(2))}\n`);
}
