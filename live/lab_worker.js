/** Trains beside the page. Messages: { settings, files: their digests }, { go }, { fill, step }, { save, step }. */

import { Run, zip } from "./lab.js";
import { Refusal } from "./refusal.js";
import { Tokenizer } from "./tokenizer.js";

const [TURN, TOLD] = [100, 250]; // milliseconds of training between messages, and between reports
const say = (message, ...moved) => postMessage(message, ...moved);
let run = null;
let going = false;
let waiting = false; // for the next turn
let seconds = 0;
let told = 0;

async function got(name, integrity) {
  const response = await fetch(new URL(name, import.meta.url), { integrity }).catch(() => null);
  if (!response?.ok) throw new Refusal(`${name} could not be loaded, or is not the file that this page was written with. The recorded run stays.`);
  return response;
}

async function begin(settings, files) {
  const [tables, characters, code] = await Promise.all([
    got("lab.json", files["lab.json"]).then((each) => each.json()), got("tables.json", files["tables.json"]).then((each) => each.json()),
    got("lab.wasm", files["lab.wasm"]).then((each) => each.arrayBuffer()),
  ]);
  if (!globalThis.WebAssembly || !WebAssembly.validate(code)) {
    throw new Refusal("This browser cannot train: it has no WebAssembly with SIMD. A browser of " +
      "2023 or later has it. The recorded run stays.");
  }
  const tokenizer = new Tokenizer(tables.pieces.join("\n"), characters);
  run = new Run(new WebAssembly.Module(code), tables, tokenizer, settings);
  say({ start: run.start, point: run.look() });
  go(true);
}

function go(wanted) {
  going = wanted;
  if (!going || run.done || waiting) return;
  waiting = true;
  setTimeout(train);
}

function train() {
  waiting = false;
  if (!going) return;
  const began = performance.now();
  let now = began;
  do {
    run.advance();
    now = performance.now();
  } while (!run.done && !run.moments.has(run.step) && now - began < TURN);
  seconds += (now - began) / 1000;
  if (run.moments.has(run.step) || run.done) {
    const point = run.look(seconds);
    say({ point, done: run.done, diverged: run.diverged });
  } else if (now - told > TOLD) {
    told = now;
    say({ step: run.step, seconds });
  }
  go(true);
}

function answer({ data }) {
  if (data.settings) return begin(data.settings, data.files).catch(refused);
  if (data.go !== undefined) return go(data.go);
  try {
    if (data.fill !== undefined) say({ filled: run.fill(data.fill, data.step), text: data.fill });
    else say({ saved: new Blob(zip(run.files(data.step)), { type: "application/zip" }) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say({ filled: [], text: data.fill, refused: error.message });
  }
}

function refused(error) {
  const known = error instanceof Refusal || error instanceof RangeError;
  if (!known) console.error(error);
  say({ stopped: known ? error.message : "The training could not be started in this browser." });
}

addEventListener("message", answer);
