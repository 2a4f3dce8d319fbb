/** The lab on a recorded page: what to change, a prediction, the training, and what comes of it. */

import { build, h } from "./build.js";
import { percent, visible } from "./draw.js";
import { curves, gaps, learnable, moment, outcome, way } from "./lab_draw.js";
import { keepOffline } from "./page.js";
import { grouped } from "./tasks.js";

const PAUSE = 300; // milliseconds without a key after which a sentence is read
const WATCH = "Just watch";

/** @param {HTMLElement} place the line, with what the page's script put into its data */
export function mount(place) {
  const recorded = document.querySelector(".bx-recorded > .bx-result");
  const make = (name, attributes = {}, ...children) => {
    const made = build(document, { name, attributes, children: [] });
    made.append(...children);
    return made;
  };
  const button = (says, act) => {
    const made = make("button", { type: "button", class: "bx-button" }, says);
    made.addEventListener("click", act);
    return made;
  };
  const status = make("span", { role: "status", class: "bx-line" });
  const live = make("section", { class: "bx-result bx-lab-live", "aria-label": "Training in this browser" });
  const start = button("Train here", opened);
  const files = JSON.parse(place.dataset.files);
  let tables = null;
  let worker = null;
  place.append(start, " ", status);

  async function opened() {
    status.textContent = "Loading …";
    try {
      tables ??= await (await fetch(new URL("lab.json", import.meta.url), { integrity: files["lab.json"] })).json();
    } catch {
      status.textContent = "The lab could not be loaded: there is no connection, or the site was written anew. Reload the page. The recorded run stays.";
      return;
    }
    keepOffline(Object.keys(files));
    start.remove();
    status.textContent = "";
    recorded.before(live);
    const given = { ...tables.usual, ...JSON.parse(place.dataset.given) };
    ask(Math.max(0, tables.changes.findIndex(({ values }) =>
      Object.entries({ ...tables.usual, ...values }).every(([name, value]) => given[name] === value))));
  }

  /** Offer the changes, and ask what will come of the chosen one. */
  function ask(number) {
    worker?.terminate();
    worker = null;
    const { note, values } = tables.changes[number];
    const changed = Object.keys(values).length > 0;
    const choices = changed ? ["better", "about the same", "worse"]
      : learnable(tables.phenomena).map(({ name }) => name);
    const what = make("select", { id: "lab-what" }, ...tables.changes.map(({ label }, n) =>
      make("option", n === number ? { value: n, selected: "" } : { value: n }, label)));
    what.addEventListener("change", () => ask(Number(what.value)));
    live.replaceChildren(make("label", { for: "lab-what" }, "What if …"), what,
      make("p", { class: "bx-line" }, note),
      make("p", {}, make("strong", {}, changed
        ? "With this change, the model at the end will be …" : "What will it learn first?")),
      make("p", { class: "bx-lab-buttons" }, ...[...choices, WATCH].map((each) =>
        button(each, () => train(number, each)))));
    show(true);
    what.focus({ preventScroll: true });
  }

  function show(own) {
    live.hidden = !own;
    recorded.hidden = own;
  }

  function train(number, guess) {
    const { values } = tables.changes[number];
    const changed = Object.keys(values).length > 0;
    const state = make("p", { class: "bx-lab-state" });
    const facts = make("div");
    const pictures = make("div");
    const sentence = make("input", { id: "lab-gap", type: "text", maxlength: 500, autocomplete: "off" });
    const filled = make("div", { "aria-live": "polite" });
    const slider = make("input", { id: "lab-back", type: "range", min: 0, max: 0, value: 0 });
    const where = make("output", { for: "lab-back" });
    const pause = button("Pause", () => go(!going));
    const save = button("Download the model (ZIP)", () => worker.postMessage({ save: true, step: at() }));
    const again = button("Another run", () => ask(number));
    const back = button("Show the recorded run", () => {
      show(live.hidden);
      back.textContent = live.hidden ? "Show the training" : "Show the recorded run";
    });
    const run = { start: null, points: [] };
    let going = true;
    let over = false;
    let follows = true;
    let waits = 0;

    live.replaceChildren(state, facts,
      make("p", { class: "bx-lab-buttons" }, pause, save, again),
      make("p", { class: "bx-lab-back" }, make("label", { for: "lab-back" }, "Look back"), slider, where),
      pictures, make("label", { for: "lab-gap" }, "A sentence with [MASK] or ___"), sentence, filled);
    status.replaceChildren(back);
    pause.focus({ preventScroll: true });
    said("●", "starts", "The texts are written …");
    slider.addEventListener("input", () => {
      follows = Number(slider.value) === run.points.length - 1;
      draw();
      fill();
    });
    sentence.addEventListener("input", () => {
      clearTimeout(waits);
      waits = setTimeout(fill, PAUSE);
    });
    worker = new Worker(new URL("lab_worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => heard(data));
    worker.addEventListener("error", () => stopped("The training ended: this browser gives the page " +
      "too little memory, or does not run it."));
    worker.postMessage({ settings: values, files });

    const at = () => follows ? null : run.points[Number(slider.value)].step;

    function said(sign, says, more) {
      state.replaceChildren(make("strong", {}, make("span", { "aria-hidden": "true", class: "bx-lab-sign" }, sign),
        make("span", { role: "status" }, ` ${says}`)), make("span", { class: "bx-quiet" }, ` ${more}`));
    }

    function go(wanted) {
      going = wanted;
      pause.textContent = going ? "Pause" : "Go on";
      worker.postMessage({ go: going });
      told();
    }

    /** Say where the run is, and what was predicted. */
    function told() {
      if (!run.start || over) return;
      const predicted = guess === WATCH ? "" : `You predicted: ${guess}.`;
      said(going ? "●" : "❚❚", going ? "trains in this browser" : "paused", predicted);
    }

    function heard(data) {
      if (data.start) {
        run.start = data.start;
        sentence.value = run.start.watched[0][0];
        told();
      }
      if (data.point) {
        run.points.push(data.point);
        slider.max = run.points.length - 1;
        if (follows) slider.value = slider.max;
        draw();
        if (follows) fill();
      }
      if (data.step !== undefined) progress(data.step, data.seconds);
      if (data.done) ended(data.diverged);
      if (data.filled) guesses(data);
      if (data.saved) keep(data.saved);
      if (data.stopped) stopped(data.stopped);
    }

    function draw() {
      const point = moment(run.points, at());
      where.textContent = `step ${grouped(point.step)}`;
      const open = [...pictures.querySelectorAll("details")].map((each) => each.open);
      pictures.replaceChildren(build(document, curves(run, at())), build(document, gaps(run, point)));
      pictures.querySelectorAll("details").forEach((each, n) => (each.open = open[n] ?? false));
      if (follows) progress(point.step, point.seconds);
    }

    function progress(step, seconds) {
      const { steps } = run.start.settings;
      const point = run.points.at(-1);
      const pace = step ? step / seconds : 0;
      const rows = [["step", `${grouped(step)} of ${grouped(steps)}`], ["loss", point.held_out.toFixed(2)]];
      if (pace) rows.push(["steps/s", pace.toFixed(0)]);
      if (pace && step < steps) rows.push(["left", `${((steps - step) / pace).toFixed(0)} s`]);
      const bar = h("div", { class: "bx-share-track bx-lab-bar", "aria-hidden": "true" },
        h("span", { class: "bx-share-fill", style: `width:${(100 * step / steps).toFixed(2)}%` }));
      facts.replaceChildren(build(document, bar), build(document,
        h("ul", { class: "bx-lab-facts", "aria-label": "Progress" }, rows.map(([name, value]) =>
          h("li", {}, h("span", { class: "bx-fact" }, name), " ", h("span", {}, value))))));
    }

    function ended(diverged) {
      over = true;
      pause.remove();
      const last = run.points.at(-1);
      const share = percent(Math.min(1, way(run.start, last)), 0, { counted: true });
      if (diverged) said("⚠", "the loss is no longer a number", diverged);
      else said("✓", "done", `After ${grouped(last.step)} steps the loss of new sentences is ` +
        `${last.held_out.toFixed(2)} nats; its right guesses are ${share} of the way from always ` +
        "guessing the same word to the best possible.");
      const was = outcome(run, changed, tables.usual_way);
      if (guess === WATCH) return;
      const sign = was === guess ? "✓ " : was ? "✗ " : "";
      facts.before(make("p", { class: "bx-line", role: "status" }, `${sign}You predicted: ${guess}. ` +
        (was ? `It was: ${was}.` : "This run does not decide it.")));
    }

    function fill() {
      if (sentence.value.trim()) worker.postMessage({ fill: sentence.value, step: at() });
    }

    function guesses({ filled: rows, text, refused }) {
      if (text !== sentence.value) return;
      filled.replaceChildren(refused ? make("p", { class: "bx-note bx-caution" }, refused)
        : build(document, h("ol", { class: "bx-lab-filled", "aria-label": `Guesses for ${visible(text)}` },
          rows.map((guessed) => h("li", {},
            guessed.map(([word, share]) => `${visible(word)} ${percent(share)}`).join(", "))))));
    }

    function keep(blob) {
      const link = make("a", { href: URL.createObjectURL(blob), download: "bert-lab.zip" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    }

    function stopped(says) {
      worker.terminate();
      over = true;
      pause.remove();
      said("✗", "failed", says);
    }
  }
}
