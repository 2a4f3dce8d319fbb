/** A recorded page that answers: the line with the button, the boxes, and where answers appear. */

import { build } from "./build.js";
import { controls } from "./controls.js";

const PAUSE = 300; // milliseconds without a key after which the text is read
const LONG = 700; // milliseconds after which it is said that an answer takes longer
const BROKEN = "The model could not be started in this browser. The recorded answers stay.";
const make = (name, attributes, ...children) => build(document, { name, attributes, children });
const press = (says) => make("button", { type: "button", class: "bx-button" }, says);

/** @param {HTMLElement} place the line, with what the page's script put into its data */
export function mount(place) {
  const task = place.dataset.live;
  const given = JSON.parse(place.dataset.given);
  const files = JSON.parse(place.dataset.files);
  const boxes = [...document.querySelectorAll(".bx-given textarea")];
  const recorded = document.querySelector(".bx-recorded > .bx-result");
  const remark = document.querySelector(".bx-example"); // on the recorded answer
  const status = make("span", { role: "status", class: "bx-line" });
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Loading the model" });
  const button = press("Load the model");
  const stop = press("Stop");
  const back = press("Show the recorded answer");
  const agree = press("Open it");
  const live = make("section", { class: "bx-result bx-live-answer", "aria-label": "Answer" });
  const output = make("div", { class: "bx-live-nodes" });
  const typed = boxes.map((box) => box.value);
  let source = {}; // a folder, or nothing for the page's own model
  let worker = null;
  let coming = null; // a worker that is being loaded
  let busy = false;
  let waiting = false;
  let pause = 0;
  let slow = 0;
  let asked = 0;
  let note = "";
  let reading = ""; // of a long text
  let told = ""; // of the model that answers

  place.append(button, " ", status, folder(place, (files) => begin({ folder: files })));
  const said = make("p", { class: "bx-note" }, "Live: the main part of the answer, computed in " +
    "this browser. ");
  said.append(back);
  live.append(said, output);
  button.addEventListener("click", () => begin({}));
  stop.addEventListener("click", halt);
  back.addEventListener("click", reset);
  agree.addEventListener("click", () => {
    agree.remove();
    coming.postMessage({ open: true });
  });
  output.addEventListener("click", ({ target }) => {
    const drawing = target.closest?.("[data-name=attention-all-heads] svg");
    const at = drawing ? [...drawing.querySelectorAll("image")].indexOf(target) : -1;
    if (at >= 0) set({ layer: Math.floor(at / shape.heads), head: at % shape.heads });
  });
  let shape = {};
  let set = () => {};

  async function begin(wanted) {
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
      note = `${told} It is kept in this browser, also offline.`;
      if (!busy) status.textContent = note;
    } else if (data.all) reading = ` part ${data.read + 1} of ${data.all}`;
    else if (data.answer === asked) shown(data.nodes);
  }

  /** Say why a model is not there; one that answers already goes on. */
  function refused(says, from) {
    from?.terminate();
    coming = null;
    bar.remove();
    status.textContent = says;
    if (from && from === worker) {
      worker = null;
      idle();
    }
    if (!worker) status.before(button, " ");
  }

  function ready(data, from) {
    worker?.terminate();
    [worker, coming, shape] = [from, null, data];
    bar.remove();
    if (data.own) status.after(button); // the way back to the page's own model
    told = data.own ? `“${data.own}” answers here, and stays in this tab.`
      : "The model is here: change the text.";
    note = data.own || globalThis.isSecureContext ? told
      : `${told} This page came without https: the model is not kept for the next visit.`;
    status.textContent = note;
    place.querySelector(":scope > p")?.remove();
    for (const box of boxes) {
      box.readOnly = false;
      box.addEventListener("input", changed);
    }
    set = controls(task, given, data, changed) ?? set;
    if ((data.own && !source.agreed) || boxes.some((box, n) => box.value !== typed[n]) || waiting) ask();
    source.agreed = true; // after Stop it is opened again, and waits for a key
    if (document.activeElement === document.body) boxes[0]?.focus({ preventScroll: true });
  }

  function changed() {
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE);
  }

  function rows() {
    const values = { ...given };
    for (const box of boxes) if (box.isConnected) values[box.id.replace(/^given-/, "")] = box.value;
    if (task === "multiple_choice") {
      return [{ ...values, choices: values.choices.split("\n").filter((each) => each.trim()) }];
    }
    const lines = (values.question ?? "").split("\n").filter((each) => each.trim());
    if (task !== "qa" || !lines.length) return [values];
    return lines.map((question) => ({ ...values, question }));
  }

  function ask() {
    if (busy || !worker) return void (waiting = true);
    busy = true;
    waiting = false;
    worker.postMessage({ ask: ++asked, task, rows: rows() });
    reading = "";
    slow = setInterval(() => {
      status.textContent = `Computing …${reading}`;
      if (!stop.isConnected) status.after(stop);
    }, LONG);
  }

  function shown(nodes) {
    idle();
    status.textContent = note;
    put(nodes);
    if (waiting) ask();
  }

  function put(nodes) {
    output.replaceChildren(...nodes.map((each) => build(document, each)));
    if (!live.isConnected) recorded.before(live);
    show(true);
  }

  function idle() {
    busy = false;
    clearInterval(slow);
    stop.remove();
  }

  /** End a computation; the worker begins anew, with the weights that this browser keeps. */
  function halt() {
    quiet();
    worker.terminate();
    worker = null;
    for (const box of boxes) box.removeEventListener("input", changed);
    boxes.forEach((box, n) => { typed[n] = box.value; });
    put([{ name: "p", attributes: { class: "bx-note" }, children: ["Stopped: no answer for this text."] }]);
    begin(source);
    status.textContent = "Stopped.";
  }

  /** Expect no answer any more, neither to what is computed nor to what was typed just now. */
  function quiet() {
    clearTimeout(pause);
    waiting = false;
    asked++;
    idle();
  }

  function reset() {
    quiet();
    if (worker) status.textContent = note;
    boxes.forEach((box, n) => { typed[n] = box.value = box.defaultValue; });
    show(false);
  }

  function show(own) {
    live.hidden = !own;
    recorded.hidden = own;
    if (remark) remark.hidden = own;
  }
}

/** The fold in which a folder is chosen; it can also be dropped on the line. */
function folder(place, take) {
  const input = make("input", { type: "file", webkitdirectory: "", multiple: "",
    "aria-label": "Folder of a model" });
  input.addEventListener("change", () => {
    const top = [...input.files].filter((each) => each.webkitRelativePath.split("/").length < 3);
    if (top.length) take(top);
  });
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.());
    const found = (await Promise.all(entries.filter(Boolean).map(filesOf))).flat();
    if (found.length) take(found);
  });
  const fold = make("details", { class: "bx-fold" }, { name: "summary", attributes: {}, children:
    ["A model of your own"] }, { name: "p", attributes: { class: "bx-line" }, children:
    ["A folder with config.json, model.safetensors and vocab.txt of a BERT or DistilBERT. It is read " +
    "in this tab and goes nowhere. Choose it, or drop it on this box."] });
  fold.append(input);
  return fold;
}

const promised = (work) => new Promise(work);

/** List the files of what was dropped: a file, or a folder without those inside it. */
async function filesOf(entry) {
  if (entry.isFile) return [await promised((done, failed) => entry.file(done, failed))];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const more = await promised((done, failed) => reader.readEntries(done, failed));
    if (!more.length) return Promise.all(found);
    found.push(...more.filter((each) => each.isFile).map((each) =>
      promised((done, failed) => each.file(done, failed))));
  }
}

/** Keep this page and what answers need for visits without a connection. */
export async function keepOffline(names) {
  if (!navigator.serviceWorker || !isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL("../service.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    const pages = [location.href.split("#")[0], ...["../", "../index.html"].map((name) =>
      new URL(name, import.meta.url).href)];
    const live = names.filter((name) => name !== "fitted.safetensors") // kept when it is asked for
      .map((name) => new URL(name, import.meta.url).href);
    active.postMessage({ keep: [...pages, ...live] });
  } catch {} // a browser that keeps nothing
}
