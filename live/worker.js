/** Loads the model and answers, beside the page. Messages: { load } and { ask, task, rows }. */

import { drawn } from "./draw.js";
import { Engine } from "./engine.js";
import { Refusal } from "./refusal.js";
import { digest } from "./sha256.js";
import { Tasks } from "./tasks.js";
import { Tokenizer } from "./tokenizer.js";

const KEPT = "bert-explorer-weights";
const ELSEWHERE = "The recorded answers stay.";
let tasks = null;

const at = (name) => new URL(name, import.meta.url);
const say = (message) => postMessage(message);

async function got(name) {
  let response;
  try {
    response = await fetch(at(name));
  } catch {
    throw new Refusal(`${name} could not be loaded: there is no connection. ${ELSEWHERE}`);
  }
  if (!response.ok) {
    throw new Refusal(`${name} could not be loaded (${response.status}). ${ELSEWHERE}`);
  }
  return response;
}

async function load() {
  const [model, tables, vocabulary, code] = await Promise.all([
    got("live.json").then((each) => each.json()), got("tables.json").then((each) => each.json()),
    got("vocab.txt").then((each) => each.text()),
    got("bert.wasm").then((each) => each.arrayBuffer()),
  ]);
  if (!globalThis.WebAssembly || !WebAssembly.validate(code)) {
    throw new Refusal("This browser cannot run the model: it has no WebAssembly with SIMD. A " +
      `browser of 2023 or later has it. ${ELSEWHERE}`);
  }
  const engine = new Engine(new WebAssembly.Module(code), model);
  const place = engine.room(model.bytes);
  const cached = await fill(place, model);
  engine.ready();
  tasks = new Tasks(engine, new Tokenizer(vocabulary, tables), model, tables);
  tasks.progress = (done, all) => all > 1 && say({ read: done, all });
  say({ ready: true, cached });
}

/** Read the weights into memory, from this browser's cache or from the site, and check them. */
async function fill(place, model) {
  const key = at(`model-${model.sha256}`);
  const cache = await globalThis.caches?.open(KEPT).catch(() => null);
  const kept = await cache?.match(key);
  if (kept && await read([kept], place) && await digest(place) === model.sha256) return true;
  await cache?.delete(key);
  async function* responses() {
    for (const name of model.files) yield await got(name);
  }
  if (!await read(responses(), place) || await digest(place) !== model.sha256) {
    throw new Refusal(`The weights are damaged or of another version: they are not the ` +
      `${(model.bytes / 1e6).toFixed(1)} MB that this site was made with. Reload the page; if it ` +
      `says so again, the site must be written anew. ${ELSEWHERE}`);
  }
  if (cache) {
    for (const old of await cache.keys()) if (old.url !== key.href) await cache.delete(old);
    await cache.put(key, new Response(new Blob([place]))).catch(() => {}); // no room: not kept
  }
  return false;
}

/** Put the bytes of responses one after another; return whether there were exactly as many. */
async function read(responses, place) {
  let done = 0;
  let told = 0;
  for await (const response of responses) {
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (done + part.value.length > place.length) return false;
      place.set(part.value, done);
      done += part.value.length;
      if (done - told > 1e6 || done === place.length) {
        told = done;
        say({ progress: done, total: place.length });
      }
    }
  }
  return done === place.length;
}

function answer({ ask, task, rows }) {
  const nodes = rows.flatMap((given) => {
    try {
      return drawn(task, tasks.answer(task, given));
    } catch (error) {
      return [refusal(error)];
    }
  });
  say({ answer: ask, nodes });
}

function refusal(error) {
  const known = error instanceof Refusal || error instanceof RangeError;
  const says = known ? error.message : "This text cannot be answered in the browser.";
  if (!known) console.error(error);
  return { name: "p", attributes: { class: "bx-note bx-caution" }, children: [says] };
}

addEventListener("message", ({ data }) => {
  if (data.ask !== undefined) answer(data);
  else {
    load().catch((error) => {
      const known = error instanceof Refusal || error instanceof RangeError;
      if (!known) console.error(error);
      say({ refused: known ? error.message
        : `The model could not be started in this browser. ${ELSEWHERE}` });
    });
  }
});
