/** Trains beside the page, one run after the other. Messages: { number, settings, text, files: their bytes },
 * { go }, { fill, step }, { save, step }; every answer has the number of its run. */

import { Run } from "./lab.js";
import { zip } from "./lab_model.js";
import { Refusal } from "./refusal.js";

const [TURN, TOLD] = [100, 250]; // milliseconds of training between messages, and between reports
const LOOKING = 0.25; // seconds of measuring for each second of training, at most
const turns = new MessageChannel(); // a timer would be slowed down in a hidden tab
let number = 0; // of the run
let run = null;
let going = false;
let waiting = false; // for the next turn
let seconds = 0; // of training
let looked = 0; // of measuring
let told = 0;

const say = (message) => postMessage({ ...message, number });
const read = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

function begin({ number: of, settings, text, files }) {
  [number, run, going, seconds, looked, told] = [of, null, false, 0, 0, 0];
  const code = files["lab.wasm"];
  if (!globalThis.WebAssembly || !WebAssembly.validate(code)) {
    throw new Refusal("This browser cannot train: it has no WebAssembly with SIMD. A browser of " +
      "2023 or later has it.");
  }
  run = new Run(new WebAssembly.Module(code), read(files["lab.json"]), read(files["tables.json"]), settings, text);
  say({ start: run.start, point: run.look(), seconds });
  go(true);
}

function go(wanted) {
  going = wanted;
  if (!going || run.done || waiting) return;
  waiting = true;
  turns.port2.postMessage(null);
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
  if (run.done || run.moments.has(run.step) && looked < LOOKING * seconds) {
    const point = run.look();
    looked += (performance.now() - now) / 1000;
    say({ point, seconds, done: run.done, diverged: run.diverged });
  } else if (now - told > TOLD) {
    told = now;
    say({ step: run.step, seconds });
  }
  go(true);
}

function answer({ data }) {
  if (data.go !== undefined) return run && go(data.go);
  try {
    if (data.settings) begin(data);
    else if (data.fill !== undefined) say({ filled: run.fill(data.fill, data.step), text: data.fill });
    else say({ saved: new Blob(zip(run.files(data.step)), { type: "application/zip" }) });
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof RangeError)) throw error;
    say(data.settings ? { stopped: error.message } : { filled: [], text: data.fill, refused: error.message });
  }
}

turns.port1.addEventListener("message", train);
turns.port1.start();
addEventListener("message", answer);
