/** The page of the lab: what to try, a guess, the training in this tab, and what comes of it. */

import { visible } from "./blocks.js";
import { build, h, make } from "./build.js";
import { curves, facts, gaps, learnable, moment, numbers, outcome, rows, verdict } from "./lab_draw.js";
import { Choices, inOrder } from "./lab_settings.js";
import { grouped, percent } from "./numbers.js";
import { keepOffline } from "./offline.js";

const PAUSE = 300; // milliseconds without a key after which a sentence is read
const MOST = 2_000_000; // bytes of a visitor's own text
const OWN = ["frequent words", "other words"]; // what is measured in it
const LOST = "The lab could not be loaded: there is no connection, or the site was rebuilt. Reload the page.";
const BROKEN = "The training ended: this browser gives the page too little memory, or does not run it.";

function button(says, act, kind = "") {
  const made = make("button", { type: "button", class: `bx-button ${kind}` }, says);
  made.addEventListener("click", act);
  return made;
}

const options = (pairs, chosen) => pairs.map(([value, says]) =>
  make("option", value === chosen ? { value, selected: "" } : { value }, says));

/** @param {HTMLElement} place an element with `data-lab`: settings, choices, recorded runs, digests of files */
export function mount(place) {
  const data = JSON.parse(place.dataset.lab);
  const choices = new Choices(data);
  const python = document.querySelector(".bx-recorded > .bx-result"); // the same run, drawn by Python
  const address = choices.read();
  const here = { ...data.usual, ...data.settings };
  const known = new Map(); // recorded runs by their files
  let settings = Object.keys(address.values).length ? { ...data.usual, ...address.values } : here;
  let runs = []; // the one that is shown, and the one without the change
  let workers = []; // that train them; they stay, so that nothing is loaded for another run
  let bytes = null; // of the files that they need
  let reference = null; // the recorded run without the change
  let along = false; // whether the run without the change is trained too
  let training = ""; // "" before, then "runs", "paused" or "over"
  let at = null; // the step that is looked back at; null follows the newest
  let asked = 0;
  let waits = 0;

  // -- what is there ------------------------------------------------------------------------------

  const labelled = (says, input) => make("label", { class: "bx-lab-field" }, make("span", {}, says), input);
  const on = (input, act, event = "change") => {
    input.addEventListener(event, act);
    return input;
  };
  const several = make("input", { type: "checkbox", role: "switch" });
  const fields = Object.fromEntries(choices.names.map((name) => {
    const values = choices.of(name);
    const flag = typeof values[0] === "boolean";
    const input = flag ? make("input", { type: "checkbox", role: "switch" }) : make("select");
    if (!flag) input.append(...options(inOrder(values).map((value) => [value, choices.shown(name, value)])));
    on(input, () => change(choices.set(settings, name,
      flag ? input.checked : values.find((value) => String(value) === input.value), several.checked)));
    return [name, { input, flag }];
  }));
  const field = (name) => fields[name].flag
    ? make("label", { class: "bx-lab-switch" }, fields[name].input, ` ${choices.labels[name]}`)
    : labelled(choices.labels[name], fields[name].input);
  const what = on(make("select"), () => change(choices.with(settings, choices.changes[Number(what.value)].values)));
  const note = make("p", { class: "bx-line" });
  const loses = make("p", { class: "bx-line" }, "It trains in this tab, also while you look at another one. Leaving this " +
    "page or changing a setting loses the run.");
  const besides = on(make("input", { type: "checkbox", role: "switch", checked: "" }), draw);
  const beside = make("label", { class: "bx-lab-switch" }, besides, " Beside the run without the change");
  const guess = make("select");
  const question = make("span");
  const invitation = make("label", { class: "bx-lab-field" }, question, guess);
  const own = make("textarea", { rows: 5, placeholder: "At least 20 sentences", spellcheck: "false" });
  const file = on(make("input", { type: "file", accept: ".txt,text/plain" }), async () => {
    if (file.files[0]) own.value = await file.files[0].text();
  });
  const text = make("div", {}, labelled("Your own text", own), labelled("or a text file", file),
    make("p", { class: "bx-line" }, "It never leaves this device: it is cut and learned in this tab, and no link " +
      "has it. Several thousand short sentences work best; a minute of training learns little from prose."));
  const fieldset = make("fieldset", {}, field("corpus"), text, labelled("What if …", what), note, beside, invitation);
  const fold = make("details", { class: "bx-fold" }, make("summary", {}, "Settings"), make("fieldset", {},
    make("label", { class: "bx-lab-switch" }, several, " Change several settings at once"),
    ...choices.names.filter((name) => name !== "corpus").map(field)));
  const start = button("Train here", train, "bx-lab-train");
  const pause = button("Pause", () => go(training === "paused"));
  const again = button("Another run", () => {
    settle();
    start.focus({ preventScroll: true });
  });
  const save = button("Download the model (ZIP)", () => workers[0].postMessage({ save: true, step: at }));
  const says = make("div", { role: "status" }, ...address.says.map((each) =>
    make("p", { class: "bx-note bx-caution" }, each)));
  const state = make("p", { class: "bx-lab-state" });
  const came = make("p", { class: "bx-line", role: "status" });
  const pace = make("div");
  const slider = on(make("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Look back" }), () => {
    at = Number(slider.value) === runs[0].points.length - 1 ? null : runs[0].points[Number(slider.value)].step;
    draw();
    fill();
  }, "input");
  const where = make("output");
  const back = make("p", { class: "bx-lab-back" },
    make("span", { "aria-hidden": "true" }, "Look back"), slider, where);
  const pictures = make("div");
  const sentence = on(make("input", { type: "text", maxlength: 500, autocomplete: "off" }), () => {
    clearTimeout(waits);
    waits = setTimeout(fill, PAUSE);
  }, "input");
  const filled = make("div", { "aria-live": "polite" });
  const trying = make("div", {}, labelled("A sentence with [MASK] or ___", sentence), filled);
  const batch = make("div");
  const first = make("details", { class: "bx-fold" }, make("summary", {}, "Rows of the first batch"), batch);
  const live = make("section", { "aria-label": "The run" }, state, came, pace, back, pictures, trying, first);
  place.classList.add("bx-lab");
  place.replaceChildren(make("div", { class: "bx-lab-stage" }, make("div", {}, says, fieldset,
    make("p", { class: "bx-lab-buttons" }, start, pause, again, save),
    loses, fold), live));
  if (address.says.length) choices.write(settings);
  settle();

  // -- settings -----------------------------------------------------------------------------------

  function change(wanted) {
    settings = wanted;
    says.replaceChildren();
    choices.write(settings);
    settle();
  }

  async function recorded(wanted) {
    const name = data.runs[choices.link(wanted)];
    if (!name) return null;
    if (!known.has(name)) {
      known.set(name, fetch(new URL(`runs/${name}`, import.meta.url), { integrity: data.files[`runs/${name}`] ?? "" })
        .then((response) => response.json()).catch(() => {
          known.delete(name);
          return null;
        }));
    }
    return known.get(name);
  }

  /** Show what is recorded of the settings, with nothing trained yet. */
  async function settle() {
    const now = ++asked;
    end();
    for (const [name, { input, flag }] of Object.entries(fields)) {
      if (flag) input.checked = settings[name];
      else input.value = settings[name];
    }
    const number = choices.change(settings);
    what.replaceChildren(...options([...choices.changes.map(({ label }, n) => [n, label]),
      ...number < 0 ? [[-1, "the settings below"]] : []], number));
    const changed = choices.changed(settings);
    note.textContent = changed ? choices.changes[number]?.note ?? "" : "";
    beside.hidden = !changed;
    text.hidden = settings.corpus !== "own";
    const [run, usual] = await Promise.all([settings, choices.usualOf(settings)].map(recorded));
    if (now !== asked) return;
    reference = usual;
    const ways = changed ? ["better", "about the same", "worse"]
      : settings.corpus === "own" ? OWN : usual ? learnable(usual) : [];
    question.textContent = changed ? "Your guess: with this change, the model at the end will be …"
      : "Your guess: what will it learn first?";
    guess.replaceChildren(...options([["", "no guess"], ...ways.map((way) => [way, way])], ""));
    invitation.hidden = !ways.length;
    runs = run ? [run, changed ? usual : null] : [];
    if (run) tell("◌", "recorded", `${choices.named(settings)}.`);
    else tell("○", "not trained yet", `${choices.named(settings)}. Press Train here.`);
    draw();
  }

  // -- a run --------------------------------------------------------------------------------------

  function tell(sign, named, more) {
    state.replaceChildren(make("strong", {}, make("span", { "aria-hidden": "true", class: "bx-lab-sign" }, sign),
      make("span", { role: "status" }, ` ${named}: `)), make("span", { class: "bx-quiet" }, more));
  }

  /** Show the buttons of a state; the settings wait until a run has ended. */
  function set(now) {
    training = now;
    fieldset.disabled = fold.lastChild.disabled = ["runs", "paused"].includes(now);
    start.hidden = now !== "";
    pause.hidden = !fieldset.disabled;
    again.hidden = loses.hidden = now === "";
    save.hidden = trying.hidden = now === "" || !runs[0]?.points.length;
    pause.textContent = now === "paused" ? "Go on" : "Pause";
  }

  function end() {
    post({ go: false });
    at = null;
    came.replaceChildren();
    pace.replaceChildren();
    filled.replaceChildren();
    set("");
  }

  /** Say why a text cannot be trained on; "" if it can. */
  function wrongWith(typed) {
    if (!typed.trim()) return "Paste a text of at least 20 sentences first.";
    const { size } = new Blob([typed]);
    return size <= MOST ? ""
      : `The text has ${(size / 1e6).toFixed(1)} MB; this page reads at most 2 MB. Paste a part of it.`;
  }

  async function train() {
    const typed = settings.corpus === "own" ? own.value : null;
    const wrong = typed === null ? "" : wrongWith(typed);
    says.replaceChildren(...wrong ? [make("p", { class: "bx-note bx-caution" }, wrong)] : []);
    if (wrong) return own.focus();
    const now = ++asked;
    runs = [];
    at = null;
    set("runs");
    pause.focus({ preventScroll: true });
    tell("●", "starts", "Loading …");
    draw();
    bytes ??= await load().catch(() => null);
    if (now !== asked) return;
    if (!bytes) return stopped(LOST);
    if (!workers.length) workers = [0, 1].map(made);
    const changed = choices.changed(settings);
    if (changed) runs[1] = reference;
    along = changed && besides.checked && !reference;
    [settings, ...along ? [choices.usualOf(settings)] : []].forEach((wanted, n) =>
      workers[n].postMessage({ number: now, settings: wanted, text: typed, files: bytes }));
    if (training === "paused") go(false);
    else tell("●", "starts", "The texts are written …");
  }

  /** Load what training needs, once; every file must be the one that this page was written with. */
  async function load() {
    const all = Object.entries(data.files).filter(([name]) => !name.startsWith("runs/"));
    const found = await Promise.all(all.map(async ([name, integrity]) => {
      const response = await fetch(new URL(name, import.meta.url), { integrity });
      if (!response.ok) throw new TypeError(name);
      return [name, await response.arrayBuffer()];
    }));
    if (python) keepOffline(Object.keys(data.files));
    return Object.fromEntries(found.filter(([name]) => !name.endsWith(".js")));
  }

  function made(_, n) {
    const worker = new Worker(new URL("lab_worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data: message }) => {
      if (!place.isConnected) dismiss(); // the visitor went to another page of the site
      else if (message.number === asked) heard(message, n);
    });
    worker.addEventListener("error", () => {
      dismiss();
      stopped(BROKEN);
    });
    return worker;
  }

  function dismiss() {
    for (const each of workers) each.terminate();
    workers = [];
  }

  function post(message) {
    for (const each of workers) each.postMessage(message);
  }

  function go(wanted) {
    set(wanted ? "runs" : "paused");
    post({ go: wanted });
    trains();
  }

  /** Say that a run of one's own goes on, and what was predicted. */
  function trains() {
    const goes = training === "runs";
    tell(goes ? "●" : "❚❚", goes ? "trains in this browser" : "paused",
      `${choices.named(settings)}.${guess.value ? ` You predicted: ${guess.value}.` : ""}`);
  }

  /** Take what a worker says: 0 trains the run that is shown, 1 the one without the change. */
  function heard(message, n) {
    if (message.start) runs[n] = { start: message.start, points: [], diverged: "" };
    if (message.start && !n) {
      sentence.value = runs[0].start.watched[0]?.[0] ?? "";
      trains();
    }
    if (message.point) runs[n].points.push(message.point);
    if (message.done) Object.assign(runs[n], { diverged: message.diverged, over: true });
    if (message.start && !n) set(training);
    if (!n && message.seconds !== undefined) progress(message.step ?? runs[0].points.at(-1).step, message.seconds);
    if (message.point && (!n || training === "over")) draw();
    if (message.point && !n && at === null) fill();
    if (message.done) ended(n);
    if (message.filled) guesses(message);
    if (message.saved) keep(message.saved);
    if (message.stopped) stopped(message.stopped);
  }

  function progress(step, seconds) {
    const { steps } = settings;
    const speed = step ? step / seconds : 0;
    const bar = h("div", { class: "bx-share-track bx-lab-bar", "aria-hidden": "true" },
      h("span", { class: "bx-share-fill", style: `width:${(100 * step / steps).toFixed(2)}%` }));
    const last = runs[0].points.at(-1);
    pace.replaceChildren(build(document, bar), build(document, facts("Progress", [
      ["step", `${grouped(step)} of ${grouped(steps)}`], ["loss", last.held_out.toFixed(2)],
      ...speed ? [["steps/s", speed.toFixed(0)]] : [],
      ...speed && step < steps ? [["left", `${((steps - step) / speed).toFixed(0)} s`]] : []])));
  }

  function ended(n) {
    if (!n) {
      const [run] = runs;
      const focused = document.activeElement === pause;
      set("over");
      if (focused) again.focus({ preventScroll: true });
      if (run.diverged) tell("⚠", "the loss is no longer a number", run.diverged);
      else tell("✓", "done", `${verdict(run)} Trained in this tab: ${choices.named(settings)}.`);
    }
    const changed = choices.changed(settings);
    const usual = changed ? reference ?? runs[1] : null;
    if (!guess.value || training !== "over" || (along && !usual?.over)) return;
    const was = changed && !usual ? "" : outcome(runs[0], usual);
    const sign = was === guess.value ? "✓ " : was ? "✗ " : "";
    const then = was ? `It was: ${was}.` : "This run does not decide it.";
    came.textContent = `${sign}You predicted: ${guess.value}. ${then}`;
  }

  function stopped(why) {
    const focused = document.activeElement === pause;
    end();
    asked++;
    if (focused) start.focus({ preventScroll: true });
    tell("✗", "failed", why);
  }

  // -- pictures -----------------------------------------------------------------------------------

  function draw() {
    const drawn = runs.filter((run, n) => run?.points.length && (!n || besides.checked));
    const page = python && !training && choices.link(settings) === choices.link(here);
    if (python) python.hidden = !page;
    live.hidden = Boolean(page);
    const ready = runs[0]?.points.length > 0;
    back.hidden = first.hidden = pictures.hidden = !ready;
    if (!ready || page) return;
    const [run] = runs;
    const point = moment(run, at);
    slider.max = run.points.length - 1;
    slider.value = run.points.indexOf(point);
    slider.setAttribute("aria-valuetext", `step ${point.step}`);
    where.textContent = `step ${grouped(point.step)}`;
    const names = drawn.length < 2 ? [] : drawn.map((each, n) => choices.named(each.start.settings,
      choices.unlike(each.start.settings, drawn[1 - n].start.settings)));
    const open = [...pictures.querySelectorAll("details")].map((each) => each.open);
    pictures.replaceChildren(build(document, curves(drawn, names, at)), build(document, gaps(run, point)),
      build(document, numbers(run, point)));
    pictures.querySelectorAll("details").forEach((each, n) => (each.open = open[n] ?? false));
    if (batch.run !== run) batch.replaceChildren(...rows(run).map((each) => build(document, each)));
    batch.run = run;
  }

  function fill() {
    if (training && sentence.value.trim()) workers[0].postMessage({ fill: sentence.value, step: at });
  }

  function guesses({ filled: found, text: of, refused }) {
    if (of !== sentence.value) return;
    filled.replaceChildren(refused ? make("p", { class: "bx-note bx-caution" }, refused)
      : build(document, h("ol", { class: "bx-lab-filled", "aria-label": `Guesses for ${visible(of)}` },
        found.map((guessed) => h("li", {},
          guessed.map(([word, share]) => `${visible(word)} ${percent(share)}`).join(", "))))));
  }

  function keep(blob) {
    const link = make("a", { href: URL.createObjectURL(blob), download: "bert-lab.zip" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}
