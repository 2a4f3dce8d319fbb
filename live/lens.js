/** The X-ray as a picture: what the lens says of every piece after every layer, and the answers. */

import { codes, headline, label, line, picture, rect, shortened, svg, visible, whole } from "./blocks.js";
import { h } from "./build.js";
import { count, percent, units } from "./numbers.js";

const WORDS = 18; // pieces; of more, only the row that is asked has words
const HIGH = 26;
const LOW = 10;
const READS = {
  affine: "The head was trained on the last layer, so a linear map, fitted on 100 texts, first " +
    "translates the vector to that layer (the affine lens). The raw lens skips this step.",
  raw: "The vector is read as it is, as if the model ended at that layer (the raw lens). The affine " +
    "lens first translates it to the last layer by a linear map fitted on 100 texts.",
};

/** Draw the main part of the X-ray: simpler than on the page with a server. */
export function xrayView(answer, view) {
  const readings = view.readings();
  const { question, tokens, candidates, off, followed, lens } = answer;
  const says = said(answer);
  const measure = question.kind === "next" ? question.target
    : `log-probability of “${visible(followed)}”`;
  const steps = answer.path.map((each, n) => `${n ? `after layer ${n - 1}` : "before the first layer"} ` +
    `${visible(each.answer)} ${percent(each.followed, 1, { finest: 3 })}`);
  const rows = candidates.map((each) => ({ cells: [each.name, each.probability, each.before,
    whole(each.rank), whole(each.rank_before)] }));
  return [
    answer.read_as.length ? line("Read as ", h("code", {}, "[MASK]"), ": ", codes(answer.read_as), ".")
      : null,
    labelNote(view), headline(says),
    picture("xray", `${tokens.length} pieces (rows) on their way through ${answer.layers} layers ` +
      `(columns). ${says} The ${lens} lens at this place, and the probability of ` +
      `${visible(followed)}: ${steps.join(", ")}.`, (width) => grid(answer, readings, width),
    ["piece", "after", "lens", "its probability", "final answer here"], cells(answer, readings)),
    line("The deeper a cell, the surer the final answer already is there."),
    picture("xray-answers", `Answers: ${candidates.map((each) => `${visible(each.name)} ` +
      percent(each.probability)).join(", ")}.`, (width) => bars(candidates, off.length, width),
    ["answer", "probability", "with everything on", "rank", "rank with everything on"], rows),
    off.length ? line("The dark line is the probability with everything on. Change: " +
      `${answer.effect < 0 ? "−" : "+"}${Math.abs(answer.effect).toFixed(3)} nats.`) : null,
    line(`Followed: the ${measure}.`), line(READS[lens]),
  ];
}

function labelNote({ labels, trained }) {
  if (!labels) return null;
  const named = labels.length <= 8 ? `: ${visible(labels.join(", "))}` : "";
  return line(`This head knows ${count(labels.length, "label")} only${named}. Every text gets one of ` +
    `them, also where none fits.${trained ? ` Trained on ${visible(trained)}.` : ""}`);
}

function said({ question, tokens, candidates, off }) {
  const { kind, position } = question;
  const here = `“${visible(tokens[position])}” (piece ${position})`;
  const asked = { word: `At ${here} the model writes`, entity: `The model labels ${here}`,
    label: "The model labels the text", next: "The model says",
    start: "The model lets the answer start at", end: "The model lets the answer end at" }[kind];
  const least = (key) => candidates.reduce((a, b) => b[key] < a[key] ? b : a);
  const [best, first] = [least("rank"), least("rank_before")];
  const quoted = ({ name }) => kind === "word" ? `“${visible(name)}”`
    : kind === "entity" && name === "O" ? "O, no name" : visible(name);
  const answer = `${asked} ${quoted(best)} (${percent(best.probability)})`;
  if (!off.length) return `${answer}.`;
  const parts = `${count(off.length, "part")} off.`;
  if (best === first) return `${answer}; with everything on, ${percent(first.before)}; ${parts}`;
  return `${answer}. With everything on: ${quoted(first)} (${percent(first.before)}); ${parts}`;
}

function cells({ tokens, question, layers }, readings) {
  const few = tokens.length * (layers + 1) <= 100;
  const pieces = few ? [...tokens.keys()] : [question.position];
  return pieces.flatMap((at) => readings.flatMap((row, layer) => row[at] ? [{ at: `0.${at}`, cells: [
    tokens[at], layer ? `layer ${layer - 1}` : "input", row[at].name, row[at].share,
    row[at].agreement] }] : []));
}

function grid({ tokens, question, layers }, readings, width) {
  const narrow = width < 500;
  const left = Math.min(narrow ? 66 : 96, 9 * Math.max(...tokens.map((each) => each.length)) + 10);
  const step = (width - left) / (layers + 1);
  const letter = narrow ? 10.5 : 13;
  const look = (at) => ({ style: `font-size:${letter}px`,
    class: `bx-svg-name${at === question.position ? " bx-svg-strong" : ""}`, "data-at": `0.${at}` });
  const fit = (says, room) => shortened(says, Math.max(1, Math.floor(room / (0.58 * letter))));
  const parts = readings.map((_, layer) => h("text", { x: units(left + (layer + 0.5) * step), y: 11,
    class: "bx-svg-middle", style: `font-size:${letter}px` }, layer ? String(layer - 1) : "input"));
  let y = 22;
  tokens.forEach((token, at) => {
    const words = tokens.length <= WORDS || at === question.position;
    const high = words ? HIGH : LOW;
    if (words || at % 2 === 0) {
      parts.push(h("text", { x: units(left - 6), y: units(y + high / 2), ...look(at) },
        fit(visible(token), left - 8)));
    }
    readings.forEach((row, layer) => {
      const x = left + layer * step;
      const { name = "", share = 0, agreement = 0 } = row[at] ?? {};
      const says = name || (row[at] && share >= 0.005 ? percent(share, 0) : "");
      parts.push(h("rect", { x: units(x + 1), y: units(y + 1), width: units(step - 2),
        height: units(high - 2), rx: 2, class: "bx-svg-cell",
        "fill-opacity": (0.34 * agreement).toFixed(3) }));
      if (words) {
        parts.push(h("text", { x: units(x + step / 2), y: units(y + high / 2),
          class: `bx-svg-middle${at === question.position ? " bx-svg-strong" : ""}`,
          style: `font-size:${letter}px` }, fit(visible(says), step - 4)));
      }
    });
    y += high;
  });
  return svg(width, y + 2, parts);
}

function bars(candidates, off, width) {
  const left = width < 500 ? 120 : 190;
  const room = width - left - 84;
  return svg(width, 34 * candidates.length, candidates.flatMap((each, n) => {
    const [y, x] = [34 * n, left + room * each.before];
    return [label(left - 10, y + 12, `${each.followed ? "▸ " : ""}${shortened(each.name, left / 10)}`,
      "bx-svg-name"),
    rect(left, y, Math.max(1, room * each.probability), 24, each.rank === 1 ? "bx-svg-mark" : "bx-svg-bar"),
    off ? rect(x - 1, y - 2, 2, 28, "bx-live-before") : null,
    label(left + room + 8, y + 12, percent(each.probability), "bx-svg-value")];
  }));
}
