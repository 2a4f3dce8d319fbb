/** What a run looks like: losses, right guesses, gaps; as `app/features/lab/view*.py` draw them. */

import { h } from "./build.js";
import { percent, picture, svg, units, visible } from "./draw.js";
import { rounded } from "./lab.js";
import { grouped } from "./tasks.js";

const ROOM = 420; // width of a drawing: two are beside each other, on a phone below each other
const SPARE = 26; // the letters of a browser may be wider than those of the site
const [TOP, PLOT, ROW, SPARK] = [14, 150, 30, 25];
const [SMALL, NAME, MIDDLE] = ["bx-svg-small", "bx-svg-name bx-svg-small", "bx-svg-middle bx-svg-small"];
const LOOK = (field) => `bx-lab-line bx-lab-run0 bx-lab-${field}`;

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

  stroke(x1, x2, y1, y2, look) {
    this.drawn.push(h("line", { x1: units(x1), x2: units(x2), y1: units(y1), y2: units(y2), class: look }));
  }

  level(value, look = "bx-svg-grid") {
    this.stroke(this.left, this.right, this.y(value), this.y(value), look);
  }

  post(step) {
    this.stroke(this.x(step), this.x(step), this.bottom, this.top, "bx-svg-here");
  }

  line(points, look) {
    const places = points.map(([x, y]) => `${units(this.x(x))},${units(this.y(y))}`).join(" ");
    this.drawn.push(h("polyline", { points: places, class: look }));
  }

  text(x, y, says, look = SMALL) {
    this.drawn.push(h("text", { x: units(x), y: units(y), class: look }, says));
  }

  sample(x, y, says, look) {
    this.stroke(x, x + 24, y, y, look);
    this.text(x + 31, y, says);
  }
}

/** The losses; `at` marks a step. */
export function losses({ start, points }, at = null, width = ROOM) {
  const last = start.settings.steps;
  const top = 2 * Math.ceil(Math.max(start.log_v, points[0].held_out) / 2);
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
  for (const field of ["loss", "held_out"]) {
    panel.line(points.map((each) => [each.step, Math.min(each[field], top)]), LOOK(field));
  }
  panel.sample(10, bottom + 40, "loss of new sentences", LOOK("held_out"));
  panel.sample(width / 2 + 10, bottom + 40, "training", LOOK("loss"));
  return svg(width, bottom + 52, panel.drawn);
}

/** The share of right first guesses, one curve for each phenomenon; `at` marks a step. */
export function accuracies({ start, points }, at = null, width = ROOM, spare = SPARE) {
  const [left, right] = [172 + spare, width - 94 - spare];
  const last = start.settings.steps;
  const drawn = start.phenomena.flatMap((each, row) => {
    const low = TOP + row * ROW + SPARK - 8;
    const panel = new Panel([left, right], [low - SPARK, low], last);
    panel.text(0, panel.y(0.5), each.name);
    panel.drawn.push(h("rect", { x: units(left), y: units(low - SPARK), width: units(right - left),
      height: units(SPARK), class: "bx-svg-track" }));
    panel.level(each.floor, "bx-lab-floor");
    panel.level(each.ceiling, "bx-lab-ceiling");
    panel.line(points.map(({ step, accuracy }) => [step, accuracy[row]]), LOOK("held_out"));
    if (at !== null) panel.post(at);
    const shown = moment(points, at).accuracy[row];
    panel.text(right + 8, panel.y(0.5), [h("tspan", { class: "bx-svg-strong" }, String(rounded(100 * shown))),
      ` of ${rounded(100 * each.ceiling)} %`]);
    return panel.drawn;
  });
  const y = TOP + start.phenomena.length * ROW + 8;
  const key = new Panel([0, width], [0, y], width);
  key.sample(0, y, "best possible", "bx-lab-ceiling");
  key.sample(width / 2 - 40, y, "always the same word", "bx-lab-floor");
  return svg(width, y + 12, [...drawn, ...key.drawn]);
}

/** Return the point of a step; the newest one for null. */
export const moment = (points, at) => points.find((each) => each.step === at) ?? points.at(-1);

const whole = (share) => `${rounded(100 * share)} %`;

/** Both pictures with their words and numbers. */
export function curves(run, at = null) {
  const { start, points } = run;
  const now = moment(points, at);
  const lost = `Loss after step ${grouped(now.step)}: new sentences ${now.held_out.toFixed(2)}, training ` +
    `sentences ${now.loss.toFixed(2)}. A guess among all pieces has ${start.log_v.toFixed(2)}, a guess by ` +
    `frequency ${start.unigram.toFixed(2)}.`;
  const right = start.phenomena.map((each, n) =>
    `${each.name} ${whole(now.accuracy[n])} (best possible ${whole(each.ceiling)})`).join("; ");
  const table = (values) => points.map((each) => ({ cells: [{ whole: each.step }, ...values(each)] }));
  return h("div", { class: "bx-lab-pictures" },
    picture("lab-loss", lost, () => losses(run, at),
      ["step", "new sentences", "training sentences", "learning rate"],
      table((each) => [each.held_out, each.loss, each.learning_rate])),
    picture("lab-accuracy", `Right first guesses in new sentences: ${right}.`, () => accuracies(run, at),
      ["step", ...start.phenomena.map((each) => each.name)], table((each) => each.accuracy)));
}

/** The watched gaps with what the model would write there. */
export function gaps({ start }, { step, guesses }) {
  return h("ul", { class: "bx-lab-gaps", "aria-label": "Gaps in new sentences" },
    start.watched.map(([text, answer], n) => {
      const [before, after] = text.split("[MASK]");
      const [[best, share], ...rest] = guesses[n];
      const right = best === answer;
      const mark = h("span", { class: `bx-signed ${right ? "bx-yes" : "bx-no"}` },
        h("span", { class: "bx-sign", "aria-hidden": "true" }, right ? "✓" : "✗"), " ", visible(best));
      const sentence = h("span", {}, before, h("b", {}, mark), after);
      if (!step) return h("li", {}, sentence);
      const others = rest.map(([word, each]) => `${visible(word)} ${percent(each, 0)}`).join(", ");
      return h("li", {}, sentence, h("small", { class: "bx-quiet" },
        `${percent(share, 0)}; ${others}${right ? "" : `. There: ${answer}`}`));
    }));
}

/** Return how far a point is from guessing to the best possible, over all phenomena together. */
export function way({ phenomena }, { accuracy }) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const floor = sum(phenomena.map((each) => each.floor));
  return (sum(accuracy) - floor) / (sum(phenomena.map((each) => each.ceiling)) - floor);
}

/** Return the phenomena in which more than guessing is possible. */
export const learnable = (phenomena) => phenomena.filter((each) => each.ceiling > each.floor);

/** Return which prediction was right at the end, "" if that cannot be said. */
export function outcome({ start, points }, changed, usualWay) {
  if (changed) {
    const more = way(start, points.at(-1)) - usualWay;
    return more > 0.03 ? "better" : more < -0.03 ? "worse" : "about the same";
  }
  const ways = (point) => start.phenomena.flatMap(({ name, floor, ceiling }, n) =>
    ceiling > floor ? [[(point.accuracy[n] - floor) / (ceiling - floor), name]] : []);
  const most = (found) => found.reduce((a, b) => b[0] > a[0] || (b[0] === a[0] && b[1] > a[1]) ? b : a);
  for (const point of points) {
    const near = ways(point).filter(([share]) => share >= 0.9);
    if (near.length) return most(near)[1];
  }
  const [share, name] = most(ways(points.at(-1)));
  return share > 0.5 ? name : "";
}
