/**
 * Loads the model and answers, beside the page. Messages: { load: digests of the files, folder, name,
 * again: whether from what this browser keeps alone }, { open } for the folder that was looked at, and
 * { ask, task, rows }.
 */

const KEPT = "bert-explorer-weights";
const ELSEWHERE = "The recorded answers stay.";
const MODULES = ["draw", "engine", "tasks", "tokenizer"];
const LATER = ["doors.js", "folder.js", "unzip.js", "lesson.js", "xray_switches.js"]; // or by pages alone
let digests = {};
let parts = {}; // what the modules give
let code = null;
let tables = null;
let tasks = null;
let open = () => {};

class Refusal extends Error {} // before refusal.js is compared with its digest

const at = (name) => new URL(name, import.meta.url);
const say = (message) => postMessage(message);

/** Load a file of the site; one whose digest is not that of the page is refused. */
async function got(name) {
  const integrity = digests[name];
  let response;
  try {
    response = await fetch(at(name), integrity ? { integrity } : {});
  } catch {
    const there = integrity && await fetch(at(name)).then(({ ok }) => ok, () => false);
    throw new Refusal(there ? `${name} is not the file that this page was written with. Reload the ` +
      `page; if it says so again, the site must be rebuilt. ${ELSEWHERE}`
      : `${name} could not be loaded: there is no connection. ${ELSEWHERE}`);
  }
  if (!response.ok) {
    throw new Refusal(`${name} could not be loaded (${response.status}). ${ELSEWHERE}`);
  }
  return response;
}

async function load({ load: named, folder, name, again, agreed }) {
  digests = named;
  const scripts = Object.keys(digests).filter((name) =>
    name.endsWith(".js") && !LATER.includes(name));
  const stated = got("live.json").then((each) => each.json());
  const weights = folder ? null : stated.then((model) => find(model, again)); // on their way while scripts are loaded
  weights?.catch(() => {}); // said below
  const [model, vocabulary] = await Promise.all([stated, got("vocab.txt").then((each) => each.text()),
    got("tables.json").then(async (each) => { tables = await each.json(); }),
    got("bert.wasm").then(async (each) => { code = await each.arrayBuffer(); }), ...scripts.map(got),
  ]);
  parts = Object.assign({}, ...await Promise.all(MODULES.map((name) => import(at(`${name}.js`)))));
  if (!globalThis.WebAssembly || !WebAssembly.validate(code)) {
    throw new Refusal("This browser cannot run the model: it has no WebAssembly with SIMD. A " +
      `browser of 2023 or later has it. ${ELSEWHERE}`);
  }
  if (folder) return look(folder, name, agreed);
  const engine = new parts.Engine(new WebAssembly.Module(code), model);
  const tokenizer = new parts.Tokenizer(vocabulary, tables);
  const keep = await fill(engine, model, await weights);
  engine.ready();
  begin(engine, tokenizer, model);
  if (await keep()) say({ kept: true });
}

function begin(engine, tokenizer, model) {
  tasks = new parts.Tasks(engine, tokenizer, model, tables);
  tasks.progress = (done, all) => all > 1 && say({ read: done, all });
  const { num_hidden_layers: layers, num_attention_heads: heads } = model.config;
  say({ ready: true, layers, heads, own: model.answers ? model.model : "" });
}

async function later(...names) {
  await Promise.all(names.map(got));
  return import(at(names[0]));
}

/** Look at a folder and say what memory it takes; `open` takes it. */
async function look(folder, name, agreed) {
  const { inspect } = await later("folder.js", "unzip.js");
  const found = await inspect(folder, tables, name);
  open = () => told(async () => {
    const engine = new parts.Engine(new WebAssembly.Module(code), found.model);
    const place = engine.room(found.file.size);
    if (!await read([new Response(found.file)], place)) {
      throw new Refusal("model.safetensors changed while it was read. Choose the folder again.");
    }
    found.model.weights = (await digest(place))?.slice(0, 12) ?? "";
    engine.ready(found.named);
    begin(engine, new parts.Tokenizer(found.pieces.join("\n"), tables, found.model.lower_case), found.model);
  });
  if (agreed) open();
  else say({ found: found.says });
}

/** The lens's maps, and the means of what is switched off, of the page's own model. */
async function fit() {
  const { model, engine } = tasks;
  if (tasks.fitted || model.answers) return;
  const response = await got("fitted.safetensors");
  tasks.fitted = { means: engine.fit(new Uint8Array(await response.arrayBuffer())) };
}

/** Return the SHA-256 of bytes; null on a page without https, where browsers compute none. */
async function digest(bytes) {
  const found = await globalThis.crypto.subtle?.digest("SHA-256", bytes);
  return found ? Array.from(new Uint8Array(found), (each) => each.toString(16).padStart(2, "0")).join("") : null;
}

/** Look for the weights in this browser's cache, or begin to load them. */
async function find(model, again) {
  if (!globalThis.crypto.subtle) Object.assign(digests, model.digests); // each part is compared as it comes
  const key = at(`model-${model.sha256}`);
  const cache = await globalThis.caches?.open(KEPT).catch(() => null);
  const kept = await cache?.match(key);
  if (again && !kept) throw new Refusal("This browser no longer keeps the model. Load it again.");
  const first = kept ? null : got(model.files[0]);
  first?.catch(() => {}); // said when it is read
  return { key, cache, kept, first };
}

/**
 * Read the weights into memory, from this browser's cache or from the site, and check them.
 * @returns what keeps them, and whether they are kept then
 */
async function fill(engine, model, { key, cache, kept, first }) {
  const place = engine.room(model.bytes);
  const right = async () => [model.sha256, null].includes(await digest(place));
  if (kept && await read([kept], place) && await right()) return () => true;
  await cache?.delete(key);
  async function* responses() {
    for (const name of model.files) yield await (name === model.files[0] && first || got(name));
  }
  if (!await read(responses(), place) || !await right()) {
    throw new Refusal(`The weights are damaged or of another version: they are not the ` +
      `${(model.bytes / 1e6).toFixed(1)} MB that this site was made with. Reload the page; if it ` +
      `says so again, the site must be rebuilt. ${ELSEWHERE}`);
  }
  return async () => {
    if (!cache) return false;
    for (const old of await cache.keys()) if (old.url !== key.href && old.url.startsWith(at(".").href)) await cache.delete(old);
    return cache.put(key, new Response(new Blob([engine.bytes()]))).then(() => true, () => false); // no room
  };
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

async function answer({ ask, task, rows }) {
  let lost = null;
  if (task === "home") Object.assign(parts, await later("doors.js"));
  if (task === "xray") await fit().catch((error) => { lost = error; });
  const nodes = rows.flatMap((given) => {
    try {
      if (lost) throw lost;
      return task === "home" ? parts.doors(tasks, given) : parts.drawn(task, tasks.answer(task, given));
    } catch (error) {
      return [refusal(error)];
    }
  });
  say({ answer: ask, nodes });
}

const known = (error) => error.constructor.name === "Refusal"; // of any module

function refusal(error) {
  const says = known(error) ? error.message : "This text cannot be answered in the browser.";
  if (!known(error)) console.error(error);
  return { name: "p", attributes: { class: "bx-note bx-caution" }, children: [says] };
}

/** Do something; what goes wrong is said. */
async function told(work) {
  try {
    await work();
  } catch (error) {
    if (!known(error)) console.error(error);
    say({ refused: known(error) ? error.message
      : `The model could not be started in this browser. ${ELSEWHERE}` });
  }
}

addEventListener("message", ({ data }) => {
  if (data.ask !== undefined) told(() => answer(data));
  else if (data.open) open();
  else told(() => load(data));
});
