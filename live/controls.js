/** What a page gives its task: the texts of its boxes, and what can be chosen beside them. */

import { build } from "./build.js";

const MOST = 10; // questions at once
const make = (name, attributes, ...children) => build(document, { name, attributes, children });
const ASKS = { auto: "what fits", word: "word", entity: "entity", label: "label of the text",
  next: "next sentence", start: "start of the answer", end: "end of the answer" };
const numbered = (count, first) => [[null, first], ...Array.from({ length: count }, (_, n) => [n, n])];

const CONTROLS = {
  attention: ({ layers, heads }) => ({ layer: ["Layer", numbered(layers, "clearest head")],
    head: ["Head", numbered(heads, "mean of the layer")],
    words: ["Rows and columns", [[false, "pieces"], [true, "whole words"]]] }),
  xray: ({ own }) => ({ ask: ["What is asked", Object.entries(ASKS)],
    off: ["Switched off: 2.7 is head 7 of layer 2, 2.a its attention, 2.f its feed-forward block"],
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
  for (const name of Object.keys(wanted)) {
    document.querySelector(`label[for="given-${name}"]`)?.remove();
    document.querySelector(`#given-${name}`)?.remove();
  }
  const inputs = {};
  const rows = Object.entries(wanted).map(([name, [says, options]]) => {
    const id = `choice-${name}`;
    const input = inputs[name] = options
      ? make("select", { id }, ...options.map(([, each]) => option(each)))
      : make("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
    const values = options?.map(([value]) => value);
    if (values && !values.includes(given[name] ?? null)) given[name] = values[0];
    if (values) input.selectedIndex = values.indexOf(given[name] ?? null);
    else input.value = given[name] ?? "";
    input.addEventListener(options ? "change" : "input", () => {
      given[name] = values ? values[input.selectedIndex] : input.value;
      if (name === "head" && given.head !== null) given.layer ??= 0;
      if (name === "layer" && given.layer === null) given.head = null;
      show();
      changed();
    });
    input.show = () => { if (values) input.selectedIndex = values.indexOf(given[name] ?? null); };
    const row = make("p", {}, { name: "label", attributes: { for: id }, children: [says] });
    row.append(input);
    return row;
  });
  const show = () => Object.values(inputs).forEach((each) => each.show());
  const group = make("div", { class: "bx-live-controls", role: "group", "aria-label": "Choices" });
  group.append(...rows);
  document.querySelector(".bx-given").append(group);
  return (chosen) => {
    Object.assign(given, chosen);
    show();
    changed();
  };
}

const option = (says) => ({ name: "option", attributes: {}, children: [String(says)] });
