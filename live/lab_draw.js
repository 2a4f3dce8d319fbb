/** What runs look like: losses, right guesses, gaps and rows, as `app/features/lab/view*.py` draw them. */

import { picture, svg, visible } from "./blocks.js";
import { h } from "./build.js";
import { count, grouped, percent, rounded, units } from "./numbers.js";
import { MASK } from "./text.js";

const ROOM = 420; // width of a drawing: two are beside each other, on a phone below each other
const SPARE = 26; // the letters of a browser may be wider than those of the site
const [TOP, PLOT, ROW, SPARK] = [14, 150, 30, 25];
const [LEARNED, HALF, ALIKE] = [0.9, 0.5, 0.03]; // of the way from guessing to the best possible
const [SMALL, NAME, MIDDLE] = ["bx-svg-small", "bx-svg-name bx-svg-small", "bx-svg-middle bx-svg-small"];
const look = (run, field) => `bx-lab-line bx-lab-run${run} bx-lab-${field}`;
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** A place with two scales; steps are placed by their square root, as most is learned early. */
class Panel {
  constructor([left, right], [top, bottom], last, high = 1) {
    Object.assign(this, { left, right, top, bottom, last, high, drawn: [] });
  }

  x(step) {
    return this.left + (this.right - this.left) * Math.sqrt(step / this.last);
  }

  y(value) {
    return this.bottom - (this.bottom - this.top) * value / this.high;
  }

  stroke(x1, x2, y1, y2, kind) {
    this.drawn.push(h("line", { x1: units(x1), x2: units(x2), y1: units(y1), y2: units(y2), class: kind }));
  }

  level(value, kind = "bx-svg-grid") {
    this.stroke(this.left, this.right, this.y(value), this.y(value), kind);
  }

  post(step) {
    this.stroke(this.x(step), this.x(step), this.bottom, this.top, "bx-svg-here");
  }

  line(points, kind) {
    const places = points.map(([x, y]) => `${units(this.x(x))},${units(this.y(y))}`).join(" ");
    this.drawn.push(h("polyline", { points: places, class: kind }));
  }

  text(x, y, says, kind = SMALL) {
    this.drawn.push(h("text", { x: units(x), y: units(y), class: kind }, says));
  }

  sample(x, y, says, kind) {
    this.stroke(x, x + 24, y, y, kind);
    this.text(x + 31, y, says);
  }
}

/** Return the point of a run that is nearest to a step; the newest one for null. */
export const moment = ({ points }, at) => at === null ? points.at(-1)
  : points.reduce((best, each) => Math.abs(each.step - at) < Math.abs(best.step - at) ? each : best);

/** The losses of one run or two, with their names; `at` marks a step. */
export function losses(runs, names = [], at = null, width = ROOM) {
  const [{ start }] = runs;
  const last = Math.max(...runs.map((run) => run.start.settings.steps));
  const top = 2 * Math.ceil(Math.max(...runs.map((run) => Math.max(run.start.log_v, run.points[0].held_out))) / 2);
  const bottom = TOP + PLOT;
  const panel = new Panel([30, width - 8], [TOP, bottom], last, top);
  for (let tick = 0; tick <= top; tick += 2) {
    panel.level(tick);
    panel.text(22, panel.y(tick), String(tick), NAME);
  }
  panel.text(panel.x(0), bottom + 16, "step 0", SMALL);
  panel.text(panel.x(last / 4), bottom + 16, grouped(Math.round(last / 4)), MIDDLE);
  panel.text(panel.x(last), bottom + 16, grouped(last), NAME);
  for (const [loss, says] of [[start.log_v, "blind guess, log V"], [start.unigram, "guess by frequency"]]) {
    panel.level(Math.min(loss, top), "bx-lab-guess");
    panel.text(panel.x(last), panel.y(Math.min(loss, top)) + 11, `${says} ${loss.toFixed(2)}`, `${NAME} bx-lab-says`);
  }
  if (at !== null) panel.post(at);
  runs.forEach(({ points }, number) => ["loss", "held_out"].forEach((field) =>
    panel.line(points.map((each) => [each.step, Math.min(each[field], top)]), look(number, field))));
  panel.text(36, bottom - 10, "steps by square root", `${SMALL} bx-lab-says`);
  panel.sample(10, bottom + 40, "loss of new sentences", look(0, "held_out"));
  panel.sample(0.66 * width, bottom + 40, "training", look(0, "loss"));
  names.forEach((name, number) => panel.sample(10, bottom + 62 + 22 * number, name, look(number, "held_out")));
  return svg(width, bottom + 52 + 22 * names.length, panel.drawn);
}

/** Return what a run has of a phenomenon at a moment; null if it does not measure it. */
function right(run, point, name) {
  const at = run.start.phenomena.findIndex((each) => each.name === name);
  return at < 0 ? null : point.accuracy[at];
}

/** A share as it is compared with the best possible: chance in 120 sentences is not better than that. */
const capped = (share, ceiling) => rounded(100 * Math.min(share, ceiling ?? 1));

/** The share of right first guesses, one curve for each phenomenon; `at` marks a step. */
export function accuracies(runs, at = null, width = ROOM, spare = SPARE) {
  const [left, right_] = [172 + spare, width - 94 - spare];
  const last = Math.max(...runs.map((run) => run.start.settings.steps));
  const { phenomena } = runs[0].start;
  const drawn = phenomena.flatMap((each, row) => {
    const low = TOP + row * ROW + SPARK - 8;
    const panel = new Panel([left, right_], [low - SPARK, low], last);
    panel.text(0, panel.y(0.5), each.name);
    panel.drawn.push(h("rect", { x: units(left), y: units(low - SPARK), width: units(right_ - left),
      height: units(SPARK), class: "bx-svg-track" }));
    panel.level(each.floor, "bx-lab-floor");
    if (each.ceiling !== null) panel.level(each.ceiling, "bx-lab-ceiling");
    runs.forEach((run, number) => panel.line(run.points.map((point) => [point.step, right(run, point, each.name)])
      .filter(([, share]) => share !== null), look(number, "held_out")));
    if (at !== null) panel.post(at);
    const shown = runs.map((run) => right(run, moment(run, at), each.name))
      .map((share) => share === null ? "–" : capped(share, each.ceiling)).join(" | ");
    panel.text(right_ + 8, panel.y(0.5), [h("tspan", { class: "bx-svg-strong" }, shown),
      `${each.ceiling === null || runs.length > 1 ? "" : ` of ${rounded(100 * each.ceiling)}`} %`]);
    return panel.drawn;
  });
  const y = TOP + phenomena.length * ROW + 8;
  const key = new Panel([0, width], [0, y], width);
  if (phenomena.some(({ ceiling }) => ceiling !== null)) key.sample(0, y, "best possible", "bx-lab-ceiling");
  key.sample(width / 2 - 40, y, "always the same word", "bx-lab-floor");
  return svg(width, y + 12, [...drawn, ...key.drawn]);
}

/** Both pictures of one run or two with their words and numbers. */
export function curves(runs, names = [], at = null) {
  const [{ start }] = runs;
  const name = (number) => runs.length > 1 ? `${names[number]}: ` : "";
  const lost = runs.map((run, n) => [name(n), moment(run, at)]).map(([who, point]) =>
    `${who}after step ${grouped(point.step)}, new sentences ${point.held_out.toFixed(2)}, training sentences ` +
    `${point.loss.toFixed(2)}`).join("; ");
  const shares = start.phenomena.map(({ name: of, ceiling }) => {
    const found = runs.map((run) => right(run, moment(run, at), of)).filter((share) => share !== null);
    const best = ceiling === null ? "" : ` (best possible ${percent(ceiling, 0, { counted: true })}${
      found.some((share) => share > ceiling) ? "; more than that is chance" : ""})`;
    return `${of} ${found.map((share) => percent(share, 0, { counted: true })).join(" and ")}${best}`;
  }).join("; ");
  const table = (values) => runs.flatMap((run, n) => run.points.map((point) =>
    ({ cells: [...runs.length > 1 ? [names[n]] : [], { whole: point.step }, ...values(run, point)] })));
  const columns = (rest) => [...runs.length > 1 ? ["run"] : [], "step", ...rest];
  return h("div", { class: "bx-lab-pictures" },
    picture("lab-loss", `Loss over the steps: ${lost}. A guess among all pieces has ${start.log_v.toFixed(2)}, ` +
      `a guess by frequency ${start.unigram.toFixed(2)}.`, () => losses(runs, names, at),
      columns(["new sentences", "training sentences", "learning rate"]),
      table((_, each) => [each.held_out, each.loss, each.learning_rate])),
    start.phenomena.length ? picture("lab-accuracy", `Right first guesses in new sentences: ${shares}.`,
      () => accuracies(runs, at), columns(start.phenomena.map((each) => each.name)),
      table((run, point) => start.phenomena.map((each) => right(run, point, each.name) ?? "–"))) : null);
}

/** The watched gaps with what the model would write there. */
export function gaps({ start }, { guesses }) {
  return h("ul", { class: "bx-lab-gaps", "aria-label": "Gaps in new sentences" },
    start.watched.flatMap(([text, answer], n) => {
      if (!guesses[n].length) return []; // the vocabulary cannot spell the answer
      const [before, after] = text.split(MASK);
      const [[best, share], ...rest] = guesses[n];
      const good = best === answer;
      const mark = h("span", { class: `bx-signed ${good ? "bx-yes" : "bx-no"}` },
        h("span", { class: "bx-sign", "aria-hidden": "true" }, good ? "✓" : "✗"), " ", visible(best));
      const others = rest.map(([word, each]) => `${visible(word)} ${percent(each, 0)}`).join(", ");
      return [h("li", {}, h("span", {}, visible(before), h("b", {}, mark), visible(after)),
        h("small", { class: "bx-quiet" },
          `${percent(share, 0)}; ${others}${good ? "" : `. There: ${visible(answer)}`}`))];
    }));
}

/** Rows of the first batch: what is hidden, and the two sentences. */
export function rows({ start }) {
  const piece = (says, kind) => h("span", { class: `bx-lab-piece bx-lab-${kind}` }, visible(says));
  const legend = h("p", { class: "bx-line" }, "The model learns to name the hidden pieces. Of these, about 80 % are ",
    piece(MASK, "masked"), ", 10 % are ", piece("replaced", "replaced"), " by another piece, and 10 % are ",
    piece("kept", "kept"), ".");
  return [legend, ...start.rows.map(({ pieces, seen, fates, segments, follows }, number) =>
    h("div", { class: "bx-sideways", tabindex: 0, role: "group", "aria-label": `Row ${number + 1} of the first batch` },
      h("ol", { class: "bx-lab-row" }, pieces.map((was, n) => h("li", {},
        piece(seen[n], `s${segments[n]}${fates[n] ? ` bx-lab-${fates[n]}` : ""}`),
        h("small", { class: "bx-quiet" }, fates[n] ? `${visible(was)} (${fates[n]})` : "")))),
      follows === null ? null : h("p", { class: "bx-line" },
        follows ? "The second sentence follows." : "The second sentence does not follow.")))];
}

/** Names with their values. */
export const facts = (label, pairs) => h("ul", { class: "bx-lab-facts", "aria-label": label },
  pairs.map(([name, value]) => h("li", {}, h("span", { class: "bx-fact" }, name), " ", h("span", {}, value))));

/** What a run is made of, and the loss of its second task, which has no picture. */
export const numbers = ({ start }, { next_sentence: pairs }) => facts("The run in numbers", [
  ["text", `${count(start.sentences, "sentence")}, ${count(start.words, "word")}`],
  ["vocabulary", count(start.vocabulary, "piece")], ["model", count(start.parameters, "weight")],
  ...pairs === undefined ? [] : [["sentence pairs", `loss ${pairs.toFixed(2)}; a guess has ${Math.LN2.toFixed(2)}`]]]);

/** What a run has learned, in a sentence. */
export function verdict({ start, points }) {
  const { step, held_out: lost } = points.at(-1);
  const known = start.phenomena.length && start.phenomena.every(({ ceiling }) => ceiling !== null);
  const share = known && percent(Math.max(0, Math.min(1, way({ start, points }))), 0, { counted: true });
  return `After ${grouped(step)} steps the loss of new sentences is ${lost.toFixed(2)} nats` + (known
    ? `; its right guesses are ${share} of the way from always guessing the same word to the best possible.` : ".");
}

/** Return how far a run is from guessing to the best possible, over all phenomena together; one without a
 * known ceiling counts up to 1. */
export function way({ start: { phenomena }, points }) {
  const floor = sum(phenomena.map((each) => each.floor));
  return (sum(points.at(-1).accuracy) - floor) / (sum(phenomena.map((each) => each.ceiling ?? 1)) - floor);
}

/** Return the names of phenomena in which more than guessing is possible. */
export const learnable = ({ start }) =>
  start.phenomena.filter(({ floor, ceiling }) => (ceiling ?? 1) > floor).map(({ name }) => name);

/** Return which prediction was right at the end, "" if that cannot be said; `usual` is the run without the
 * change, null if nothing was changed. */
export function outcome(run, usual) {
  if (usual) {
    const more = way(run) - way(usual);
    return more > ALIKE ? "better" : more < -ALIKE ? "worse" : "about the same";
  }
  const ways = (point) => run.start.phenomena.flatMap(({ name, floor, ceiling }, n) =>
    (ceiling ?? 1) > floor ? [[(point.accuracy[n] - floor) / ((ceiling ?? 1) - floor), name]] : []);
  const most = (found) => found.reduce((a, b) => b[0] > a[0] || (b[0] === a[0] && b[1] > a[1]) ? b : a, [0, ""]);
  for (const point of run.points) {
    const near = ways(point).filter(([share]) => share >= LEARNED);
    if (near.length) return most(near)[1];
  }
  const [share, name] = most(ways(run.points.at(-1)));
  return share > HALF ? name : "";
}
