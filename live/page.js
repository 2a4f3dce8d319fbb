/** A recorded page that answers: the line with the button, the boxes, and where answers appear. */

import { build } from "./build.js";

const PAUSE = 300; // milliseconds without a key after which the text is read
const LONG = 700; // milliseconds after which it is said that an answer takes longer

/** @param {HTMLElement} place the line, with what the page's script put into its data */
export function mount(place) {
  const task = place.dataset.live;
  const given = JSON.parse(place.dataset.given);
  const boxes = [...document.querySelectorAll(".bx-given textarea")];
  const recorded = document.querySelector(".bx-recorded > .bx-result");
  const remark = document.querySelector(".bx-example"); // on the recorded answer
  const make = (name, attributes, ...children) => build(document, { name, attributes, children });
  const status = make("span", { role: "status", class: "bx-line" });
  const bar = make("progress", { max: "1", value: "0", "aria-label": "Loading the model" });
  const button = make("button", { type: "button", class: "bx-button" }, "Load the model");
  const stop = make("button", { type: "button", class: "bx-button" }, "Stop");
  const back = make("button", { type: "button", class: "bx-button" }, "Show the recorded answer");
  const live = make("section", { class: "bx-result bx-live-answer", "aria-label": "Answer" });
  const output = make("div", { class: "bx-live-nodes" });
  const typed = boxes.map((box) => box.value);
  let worker = null;
  let busy = false;
  let waiting = false;
  let pause = 0;
  let slow = 0;
  let asked = 0;
  let note = "";
  let reading = ""; // of a long text

  place.append(button, " ", status);
  const said = make("p", { class: "bx-note" }, "Live: the main part of the answer, computed in " +
    "this browser. ");
  said.append(back);
  live.append(said, output);
  button.addEventListener("click", start);
  stop.addEventListener("click", halt);
  back.addEventListener("click", reset);

  function start() {
    button.replaceWith(bar);
    status.textContent = "Loading …";
    begin();
    keepOffline();
  }

  function begin() {
    worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => heard(data));
    worker.addEventListener("error", () => refused("The model could not be started in this " +
      "browser. The recorded answers stay."));
    worker.postMessage({ load: true });
  }

  function heard(data) {
    if (data.progress) {
      bar.value = data.progress / data.total;
      status.textContent = `${(data.progress / 1e6).toFixed(0)} of ${(data.total / 1e6).toFixed(0)} MB`;
    } else if (data.refused) refused(data.refused);
    else if (data.ready) ready();
    else if (data.all) reading = ` part ${data.read + 1} of ${data.all}`;
    else if (data.answer === asked) shown(data.nodes);
  }

  function refused(says) {
    bar.remove();
    worker.terminate();
    status.textContent = says;
  }

  function ready() {
    bar.remove();
    const kept = globalThis.isSecureContext ? "It is kept in this browser, also offline."
      : "This page came without https: the model is not kept for the next visit.";
    note = `The model is here: change the text. ${kept}`;
    status.textContent = note;
    place.querySelector("p")?.remove();
    for (const box of boxes) {
      box.readOnly = false;
      box.addEventListener("input", changed);
    }
    if (boxes.some((box, n) => box.value !== typed[n]) || waiting) ask();
    boxes[0]?.focus({ preventScroll: true });
  }

  function changed() {
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE);
  }

  function rows() {
    const values = { ...given };
    for (const box of boxes) values[box.id.replace(/^given-/, "")] = box.value;
    if (task === "multiple_choice") {
      return [{ ...values, choices: values.choices.split("\n").filter((each) => each.trim()) }];
    }
    const lines = (values.question ?? "").split("\n").filter((each) => each.trim());
    if (task !== "qa" || !lines.length) return [values];
    return lines.map((question) => ({ ...values, question }));
  }

  function ask() {
    if (busy) return void (waiting = true);
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
    output.replaceChildren(...nodes.map((each) => build(document, each)));
    if (!live.isConnected) recorded.before(live);
    show(true);
    if (waiting) ask();
  }

  function idle() {
    busy = false;
    clearInterval(slow);
    stop.remove();
  }

  /** End a computation; the worker begins anew, with the weights that this browser keeps. */
  function halt() {
    idle();
    worker.terminate();
    status.textContent = "Stopped.";
    waiting = false;
    for (const box of boxes) box.removeEventListener("input", changed);
    boxes.forEach((box, n) => { typed[n] = box.value; });
    begin();
  }

  function reset() {
    boxes.forEach((box) => { box.value = box.defaultValue; });
    show(false);
  }

  function show(own) {
    live.hidden = !own;
    recorded.hidden = own;
    if (remark) remark.hidden = own;
  }
}

/** Keep this page and what answers need for visits without a connection. */
export async function keepOffline() {
  if (!navigator.serviceWorker || !isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL("../service.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage({ keep: location.href.split("#")[0] });
  } catch {} // a browser that keeps nothing
}
