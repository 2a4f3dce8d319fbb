/** A recorded page that answers: the line with the button, the boxes, and where answers appear. */

import { build, make } from "./build.js";
import { carried, carry, textsFor } from "./carry.js";
import { controls, rows, textOf } from "./controls.js";
import { keepOffline } from "./offline.js";

export const PAUSE = 300; // milliseconds without a key after which the text is read
const LONG = 700; // milliseconds after which it is said that an answer takes longer
const BROKEN = "The model could not be started in this browser. The recorded answers stay.";
const STOPPED = { name: "p", attributes: { class: "bx-note" }, children: ["Stopped: no answer for this text."] };
const caution = (says) => ({ name: "p", attributes: { class: "bx-note bx-caution" }, children: [says] });
export const press = (says) => make("button", { type: "button", class: "bx-button" }, says);

/**
 * The line that loads the model, and the worker that answers.
 * @param {HTMLElement} place the line, with what the page's script put into its data
 * @param on `here`: what is said when the model is there; `begun()`, `ready(what the worker says, what
 *   was loaded)`, `refused(the status line)` and `stopped()` are called then
 * @returns `ask(task, rows, then)`: who asks again before `then` has the nodes replaces what it asked
 */
export function model(place, on) {
  const files = JSON.parse(place.dataset.files);
  const status = make("span", { role: "status", class: "bx-line", tabindex: "-1" });
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Loading the model" });
  const button = press(`Load the model (${place.dataset.weighs})`);
  const stop = press("Stop");
  const agree = press("Open it");
  const waiting = new Map(); // what is asked next, by who gets the answer
  let source = {}; // a folder, or nothing for the page's own model; `again`: as this browser keeps it
  let worker = null;
  let coming = null; // a worker that is being loaded
  let begun = false;
  let asking = null; // who gets what is computed
  let slow = 0;
  let asked = 0;
  let note = "";
  let reading = ""; // of a long text
  let told = ""; // of the model that answers

  place.append(button, " ", status);
  button.addEventListener("click", () => begin({}));
  stop.addEventListener("click", halt);
  agree.addEventListener("click", () => {
    agree.remove();
    coming.postMessage({ open: true });
  });
  if (carried().kept) begin({ again: true });
  addEventListener("pagehide", () => { // for the way back, browsers keep a page with its worker's memory
    forget();
    for (const each of [worker, coming]) each?.terminate();
    worker = null;
  });
  addEventListener("pageshow", ({ persisted }) => persisted && begun && begin(source));

  async function begin(wanted) {
    begun = true;
    on.begun?.();
    coming?.terminate();
    agree.remove();
    source = wanted;
    bar.value = 0;
    (button.isConnected ? button : status).before(bar);
    button.remove();
    status.textContent = "Loading …";
    const url = new URL("worker.js", import.meta.url);
    const right = await fetch(url, { integrity: files["worker.js"] }).then(({ ok }) => ok, () => false);
    if (!right) return refused("worker.js is not the file that this page was written with, or there is " +
      "no connection. Reload the page. The recorded answers stay.", null);
    const made = coming = new Worker(url, { type: "module" });
    made.addEventListener("message", ({ data }) => heard(data, made));
    made.addEventListener("error", () => refused(BROKEN, made));
    made.postMessage({ load: files, ...wanted });
    keepOffline(Object.keys(files));
  }

  function heard(data, from) {
    if (data.progress) {
      bar.value = data.progress / data.total;
      status.textContent = `${(data.progress / 1e6).toFixed(0)} of ${(data.total / 1e6).toFixed(0)} MB`;
    } else if (data.refused) refused(data.refused, from);
    else if (data.found) {
      bar.remove();
      status.textContent = data.found;
      status.after(agree, " ", ...worker ? [] : [button]);
      agree.focus({ preventScroll: true });
    } else if (data.ready) ready(data, from);
    else if (data.kept) {
      carry({ kept: true });
      const shown = status.textContent === note; // what was said since, of a folder, stays
      note = `${told} It is kept in this browser, also offline.`;
      if (shown) status.textContent = note;
    } else if (data.all) reading = ` part ${data.read + 1} of ${data.all}`;
    else if (data.answer === asked) answered(data.nodes);
  }

  /** Say why a model is not there; one that answers already goes on. */
  function refused(says, from) {
    from?.terminate();
    coming = null;
    begun = false;
    if (source.again) carry({ kept: undefined });
    bar.remove();
    status.textContent = says;
    if (from && from === worker) {
      worker = null;
      idle();
    }
    if (worker) return;
    status.before(button, " ");
    on.refused?.(status);
  }

  function ready(data, from) {
    worker?.terminate();
    [worker, coming] = [from, null];
    idle();
    bar.remove();
    if (data.own) status.after(button); // the way back to the page's own model
    told = data.own ? `“${data.own}” answers on this page, and never leaves this tab.` : on.here;
    note = data.own || globalThis.isSecureContext ? told
      : `${told} This page came without https: the model is not kept for the next visit.`;
    status.textContent = note;
    place.querySelector(":scope > p")?.remove();
    on.ready?.(data, source);
    source.agreed = true; // after Stop it is opened again, and waits for a key
    next();
  }

  function ask(task, rows, then) {
    waiting.set(then, [task, rows]);
    next();
  }

  function next() {
    if (asking || !worker || !waiting.size) return;
    const [[then, [task, rows]]] = waiting;
    waiting.delete(then);
    asking = then;
    worker.postMessage({ ask: ++asked, task, rows });
    reading = "";
    slow = setInterval(() => {
      status.textContent = `Computing …${reading}`;
      if (!stop.isConnected) status.after(stop);
    }, LONG);
  }

  function answered(nodes) {
    const then = asking;
    idle();
    status.textContent = note;
    then(nodes);
    next();
  }

  function idle() {
    asking = null;
    clearInterval(slow);
    stop.remove();
  }

  /** End a computation; the worker begins anew, with the weights that this browser keeps. */
  function halt() {
    const then = asking;
    waiting.delete(then);
    asked++;
    idle();
    worker.terminate();
    worker = null;
    on.stopped?.();
    then([STOPPED]);
    begin(source);
    status.textContent = "Stopped.";
  }

  /** Expect no answer any more. */
  function forget() {
    waiting.clear();
    asked++;
    idle();
    if (worker) status.textContent = note;
  }

  return { ask, begin, forget, need: () => begun || begin({}) };
}

/** @param {HTMLElement} place the line, with what the page's script put into its data */
export function mount(place) {
  const task = place.dataset.live;
  const given = JSON.parse(place.dataset.given);
  const boxes = [...document.querySelectorAll(".bx-given textarea")];
  const recorded = document.querySelector(".bx-recorded > .bx-result");
  const remark = document.querySelector(".bx-example"); // on the recorded answer
  const back = press("Show the recorded answer");
  const live = make("section", { class: "bx-result bx-live-answer", "aria-label": "Answer" });
  const output = make("div", { class: "bx-live-nodes" });
  const named = (box) => box.id.replace(/^given-/, "");
  for (const box of boxes) box.defaultValue = textOf(box.value, given[named(box)]);
  const typed = boxes.map((box) => box.value);
  const line = model(place, { here: "The model is here: change the text.", ready, stopped });
  let pause = 0;
  let set = () => {};

  place.append(folder((files, name) => line.begin({ folder: files, name })));
  const said = make("p", { class: "bx-note" }, "Live: the main part of the answer, computed in " +
    "this browser. ");
  said.append(back);
  live.append(said, output);
  back.addEventListener("click", reset);
  document.addEventListener("click", ({ target }) => {
    const link = target.closest?.("main a"); // through a live door, or to an example
    if (link) carry(link.dataset.carry ? JSON.parse(link.dataset.carry) : { example: link.href });
  });
  output.addEventListener("click", ({ target }) => {
    const [layer, head] = target.dataset?.head?.split(".").map(Number) ?? [];
    if (head !== undefined) set({ layer, head });
  });

  function ready(data, source) {
    const texts = source.agreed ? null : textsFor(place.dataset, boxes.map((box) => box.dataset.key));
    for (const box of boxes) {
      if (texts) box.value = texts[box.dataset.key] ?? "";
      box.readOnly = false;
      box.addEventListener("input", wrote);
    }
    set = controls(task, given, data, changed) ?? set;
    if ((data.own && !source.agreed) || boxes.some((box, n) => box.value !== typed[n])) ask();
    if (document.activeElement === document.body && !source.again) boxes[0]?.focus({ preventScroll: true });
  }

  function wrote() {
    carry({ texts: Object.fromEntries(boxes.map((box) => [box.dataset.key, box.value])),
      whole: undefined, example: undefined });
    changed();
  }

  function changed() {
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE);
  }

  function values() {
    const here = boxes.filter((box) => box.isConnected);
    return { ...given, ...Object.fromEntries(here.map((box) => [named(box), box.value])) };
  }

  function ask() {
    const wanted = rows(task, values());
    if (typeof wanted !== "string") return line.ask(task, wanted, put);
    line.forget();
    put([caution(wanted)]);
  }

  function put(nodes) {
    output.replaceChildren(...nodes.map((each) => build(document, each)));
    if (!live.isConnected) recorded.before(live);
    show(true);
  }

  function stopped() {
    clearTimeout(pause);
    for (const box of boxes) box.removeEventListener("input", wrote);
    boxes.forEach((box, n) => { typed[n] = box.value; });
  }

  function reset() {
    clearTimeout(pause);
    line.forget();
    carry({ texts: undefined, whole: undefined });
    boxes.forEach((box, n) => { typed[n] = box.value = box.defaultValue; });
    show(false);
  }

  function show(own) {
    live.hidden = !own;
    recorded.hidden = own;
    if (remark) remark.hidden = own;
  }
}

/** The fold in which a folder or a ZIP file is chosen; files can also be dropped anywhere on the page. */
function folder(take) {
  const choose = (says, attributes, taken) => {
    const input = make("input", { type: "file", ...attributes });
    input.addEventListener("change", () => input.files.length && taken([...input.files]));
    const label = make("label", {}, `${says} `);
    label.append(input);
    return label;
  };
  const parts = (file) => file.webkitRelativePath.split("/");
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return; // a text
      event.preventDefault();
      if (kind === "drop") take([...event.dataTransfer.files]);
    });
  }
  const fold = make("details", { class: "bx-fold" }, { name: "summary", attributes: {}, children:
    ["A model of your own"] }, { name: "p", attributes: { class: "bx-line" }, children:
    ["The folder of a BERT or DistilBERT: config.json, model.safetensors, and tokenizer.json or vocab.txt " +
    "(one of the two is enough). Or the ZIP file that the lab saves. It is read in this tab and goes " +
    "nowhere. Choose it, or drop its files on this page."] });
  fold.append(choose("Folder of a model", { webkitdirectory: "", multiple: "" }, (files) =>
    take(files.filter((each) => parts(each).length < 3), parts(files[0])[0])),
  choose("ZIP file of the lab", { accept: ".zip" }, take));
  return fold;
}
