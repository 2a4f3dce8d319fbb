/** What a page gives its task: the texts of its boxes, and what can be chosen beside them. */

import { make } from "./build.js";

const MOST = 10; // questions at once
const ASKS = { auto: "what fits", word: "word", entity: "entity", label: "label of the text",
  next: "next sentence", start: "start of the answer", end: "end of the answer" };
const numbered = (count, first) => [[null, first], ...Array.from({ length: count }, (_, n) => [n, n])];

const CONTROLS = {
  attention: ({ layers, heads }) => ({ layer: ["Layer", numbered(layers, "clearest head")],
    head: ["Head", numbered(heads, "mean of the layer")],
    words: ["Rows and columns", [[false, "pieces"], [true, "whole words"]]] }),
  xray: ({ own }) => ({ ask: ["What is asked", Object.entries(ASKS)],
    mode: ["Replaced by", own ? [["zero", "zero"]] : [["mean", "mean"], ["zero", "zero"]]],
    lens: ["Lens", own ? [["raw", "raw"]] : [["affine", "affine"], ["raw", "raw"]]] }),
};

/** Return an example's text for a box, which shows a tab as an arrow while nothing can be typed. */
export function textOf(shown, given) {
  const text = String(given ?? "").replace(/^\n+|\n+$/g, "");
  return text.replaceAll("\t", "→") === shown ? text : shown;
}

/**
 * Return what a task is asked: a row for each question, or one; a text if there are too many.
 * @param values the texts of the boxes, and what is chosen
 */
export function rows(task, values) {
  if (task === "home" && !values.text.trim()) return "Write a sentence to see what BERT does with it.";
  const lines = (text) => text.split("\n").map((each) => each.trim()).filter(Boolean);
  if (task === "multiple_choice") return [{ ...values, choices: lines(values.choices) }];
  const asked = task === "qa" ? lines(values.question ?? "") : [];
  if (asked.length > MOST) {
    return `There are ${asked.length} questions, one per line; this page answers at most ${MOST} at ` +
      "once. Remove some of them.";
  }
  return asked.length ? asked.map((question) => ({ ...values, question })) : [values];
}

/**
 * Draw the controls of a task below its text boxes.
 * @param given receives what is chosen
 * @param model how many layers and heads there are, and whether it is one of one's own
 * @returns what sets some of them, or undefined where the task has none
 */
export function controls(task, given, model, changed) {
  const wanted = CONTROLS[task]?.(model);
  if (!wanted) return undefined;
  document.querySelector(".bx-live-controls")?.remove();
  document.querySelector(".bx-given > .bx-line")?.remove(); // the same in words, of the example
  for (const name of [...Object.keys(wanted), "off"]) {
    document.querySelector(`label[for="given-${name}"]`)?.remove();
    document.querySelector(`#given-${name}`)?.remove();
  }
  const inputs = {};
  const rows = Object.entries(wanted).map(([name, [says, options]]) => {
    const id = `choice-${name}`;
    const input = inputs[name] = make("select", { id }, ...options.map(([, each]) => option(each)));
    const values = options.map(([value]) => value);
    if (!values.includes(given[name] ?? null)) given[name] = values[0];
    input.show = () => { input.selectedIndex = values.indexOf(given[name] ?? null); };
    input.show();
    input.addEventListener("change", () => {
      given[name] = values[input.selectedIndex];
      if (name === "head" && given.head !== null) given.layer ??= 0;
      if (name === "layer" && given.layer === null) given.head = null;
      show();
      changed();
    });
    const row = make("p", {}, { name: "label", attributes: { for: id }, children: [says] });
    row.append(input);
    return row;
  });
  const show = () => Object.values(inputs).forEach((each) => each.show());
  const group = make("div", { class: "bx-live-controls", role: "group", "aria-label": "Choices" });
  group.append(...rows);
  if (task === "xray") switches(model, given, changed).then((board) => group.append(board));
  document.querySelector(".bx-given").append(group);
  return (chosen) => {
    Object.assign(given, chosen);
    show();
    changed();
  };
}

/** The switches of heads and blocks, drawn as on the page with a server. */
async function switches({ layers, heads }, given, changed) {
  const { default: draw } = await import("./xray_switches.js"); // of assets/components
  const parts = Array.from({ length: layers }, (_, layer) =>
    [...Array(heads).keys(), "a", "f"].map((part) => [layer, part])).flat();
  const names = parts.map((part) => part.join("."));
  const blocks = { a: "The attention", f: "The feed-forward" };
  const notes = parts.map(([layer, part]) =>
    blocks[part] ? `${blocks[part]} block of layer ${layer}.` : `Head ${part} of layer ${layer}.`);
  const off = (given.off ?? "").split(/[ ,+]+/).map((each) => names.indexOf(each)).filter((at) => at >= 0);
  const keep = (numbers) => { given.off = numbers.map((at) => names[at]).join(" "); };
  keep(off); // without what this model does not have
  const board = make("div", { class: "bx-live-switches" });
  draw({ parentElement: board, setTriggerValue: (_, chosen) => (keep(chosen.off), changed()),
    data: { layers, heads, off, effects: null, notes, said: "Click, or hold and drag. ✕ means off.",
      label: `Switched off: ${layers} layers of ${heads} heads, with their attention and feed-forward blocks.` } });
  return board;
}

const option = (says) => ({ name: "option", attributes: {}, children: [String(says)] });
