/** A lesson on a recorded page: every step is covered until its visitor has guessed. */

import { build, h, make } from "./build.js";
import { model, PAUSE, press } from "./page.js";

const PLAYING = "bx-playing"; // covered
const DONE = "bx-done"; // so the next step, which may tell what came out, can be seen
const BEGUN = "bx-begun"; // the model is there or coming: no button need say that it loads it
const RECORDED = "Recorded: this picture is not computed in the browser.";
const COMING = "Recorded, until the model is here.";
const LIVE = "Live in this browser.";
let names = 0;

/** @param {HTMLElement} place the line, with what the page's script put into its data */
export function mount(place) {
  if (!globalThis.WebAssembly) return; // all open, as it was written
  const lesson = document.querySelector(".bx-lesson-whole");
  const spoken = make("div", { role: "status", class: "bx-spoken" });
  const all = press("");
  const line = model(place, { here: "The model is here.", begun: () => lesson.classList.add(BEGUN), refused });
  const cover = (covered) => {
    lesson.classList.toggle(PLAYING, covered);
    all.textContent = covered ? "Open everything" : "Guess first";
  };
  place.querySelector("p").replaceChildren(make("strong", {}, "Guess first. "), place.dataset.says);
  place.append(all);
  document.body.append(spoken);
  all.addEventListener("click", () => cover(!lesson.classList.contains(PLAYING)));

  /** Open everything, as without a model; who was in a step is told why. */
  function refused(status) {
    const inside = lesson.contains(document.activeElement);
    lesson.classList.remove(BEGUN);
    cover(false);
    if (inside) status.focus();
  }

  const tell = (nodes) => { spoken.textContent = nodes.map(unfolded).join(" "); };
  const compute = (...asked) => {
    line.need();
    line.ask(...asked);
  };
  for (const step of lesson.querySelectorAll(".bx-step")) play(step, compute, tell, place.dataset.weighs);
  cover(true);
}

/** Cover a step; what was recorded stays beside it, for paper and for who reads it as a page. */
function play(step, compute, tell, weighs) {
  const { task, given, show, question, why, change } = JSON.parse(step.dataset.step);
  const first = [...step.children].findIndex((each) => each.matches(".bx-turn, .bx-reveal"));
  const recorded = [...step.children].slice(first);
  const whole = make("div", { class: "bx-whole" });
  const stage = make("div", { class: "bx-play" });
  whole.append(...recorded);
  step.append(whole, stage);
  cover();

  function cover() {
    const { field, guess, tells } = question ? KINDS[question.kind](question) : LOOK;
    const form = make("form", {});
    const button = make("button", { class: "bx-button" }, "Show",
      task ? h("small", { class: "bx-size" }, ` and load the model (${weighs})`) : "");
    const changed = () => { button.disabled = guess() === null; };
    form.append(field, button);
    for (const kind of ["input", "click"]) form.addEventListener(kind, changed);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      reveal(guess(), tells);
    });
    changed();
    stage.replaceChildren(form, make("div", { class: "bx-cover" },
      h("p", {}, question ? "Covered until you have guessed." : "Covered until you look.")));
  }

  function reveal(guess, tells) {
    const heading = make("h3", { tabindex: "-1" }, "What came out");
    const compared = tells(guess).map((each) => build(document, each));
    const says = recorded.find((each) => each.matches(".bx-reveal")).cloneNode(true);
    const words = make("div", {});
    const picture = make("div", { class: "bx-shown" });
    const again = press("Guess again");
    const asked = question?.kind === "word" ? { ...given, word: guess } : given;
    const ask = (values, then) => compute(task, [{ ...asked, ...values }], then);
    const draw = (own) => (nodes) => picture.replaceChildren(make("p", { class: "bx-line" }, LIVE),
      ...kept(nodes, show, own).map((each) => build(document, each)));
    const drawOwn = draw(true);
    const turn = () => task && again.before(changing(change, given, (values) => ask(values, drawOwn)));

    words.append(heading, ...compared, says, ...why ? [reasons(why, tell, turn)] : [], again);
    again.hidden = !question;
    picture.append(make("p", { class: "bx-line" }, task ? COMING : RECORDED), ...drawn(recorded));
    step.classList.add(DONE);
    stage.replaceChildren(words, picture);
    if (!why) turn();
    again.addEventListener("click", () => {
      cover();
      stage.querySelector("input, select, button").focus();
    });
    heading.focus();
    tell([...compared, says]);
    if (task) ask({}, draw(false));
  }
}

// -- guesses: the field, what was guessed or null, and what it is compared with --------------------

const LOOK = { field: "", guess: () => 0, tells: () => [] };
const KINDS = { choose, point, number: amount, word };
const named = () => `lesson-${++names}`;

function choose({ ask, choices, its }) {
  const tells = (guess) => [both(choices[guess][0], its), ...answered(choices[guess][1])];
  return { ...radios(ask, choices.map(([say]) => say), "bx-choices"), tells };
}

function point({ ask, at, things, its, counted }) {
  const tells = (guess) => [both(things[guess], its, counted)];
  if (at !== "heads") return { ...radios(ask, things, "bx-choices bx-points"), tells };
  const says = things.map((each) => each.replace(/(\d+)\.(\d+)/, "layer $1, head $2"));
  const list = make("select", { id: named() }, ...["Choose a head", ...says].map((each) => h("option", {}, each)));
  return { field: labelled(list, ask), guess: () => list.selectedIndex ? list.selectedIndex - 1 : null, tells };
}

function radios(ask, things, look) {
  const name = named();
  const field = make("fieldset", { class: look }, h("legend", {}, ask), ...things.map((each, n) =>
    h("label", {}, h("input", { type: "radio", name, value: n }), " ", h("bdi", {}, each))));
  const guess = () => {
    const found = field.querySelector(":checked");
    return found && Number(found.value);
  };
  return { field, guess };
}

function amount({ ask, unit, ends: [low, high], its, truth, counted }) {
  const input = make("input", { id: named(), type: "range", min: low, max: high, value: (low + high) >> 1 });
  const output = make("output", { for: input.id });
  const says = () => `${input.value} ${unit}`.trim();
  const shown = () => {
    output.textContent = says();
    input.setAttribute("aria-valuetext", says());
  };
  const share = (value) => (value - low) / (high - low);
  input.addEventListener("input", shown);
  shown();
  return { field: labelled(input, ask, output), guess: () => Number(input.value),
    tells: (guess) => [both(says(), its, counted, ["● ", "◆ "]), axis(share(guess), share(truth))] };
}

function word({ ask, its }) {
  const input = make("input", { id: named(), type: "text", maxlength: 40, autocomplete: "off", spellcheck: "false" });
  return { field: labelled(input, ask), guess: () => input.value.trim() || null, tells: (guess) => [both(guess, its)] };
}

function labelled(input, says, ...more) {
  const field = make("div", {}, h("label", { for: input.id }, says));
  field.append(input, ...more);
  return field;
}

const both = (mine, its, counted = false, signs = ["", ""]) => h("ul", { class: "bx-both" },
  [["You", mine], [counted ? "Counted" : "The model", its]].map(([who, says], n) =>
    h("li", {}, h("strong", {}, `${signs[n]}${who}: `), h("bdi", {}, says))));
const answered = (says) => says ? [h("p", { class: "bx-reply" }, says)] : [];

/** Draw two shares of a scale; the list above has them in words. */
function axis(mine, its) {
  const at = (share) => 12 + 336 * share;
  return h("svg", { viewBox: "0 0 360 28", class: "bx-svg bx-axis", "aria-hidden": "true" },
    h("rect", { x: 12, y: 10, width: 336, height: 8, class: "bx-svg-track" }),
    h("circle", { cx: at(mine), cy: 14, r: 8, class: "bx-svg-bar" }),
    h("path", { d: `M${at(its)} 4l10 10-10 10-10-10z`, class: "bx-svg-mark" }));
}

// -- what comes out -------------------------------------------------------------------------------

/** Ask for the reason; every choice is answered, and another one can be tried. */
function reasons({ ask, choices }, tell, then) {
  const group = make("div", { class: "bx-why", role: "group", "aria-label": ask }, h("p", { class: "bx-turn" }, ask));
  const said = make("div", {});
  const buttons = choices.map(([say]) => press(say));
  buttons.forEach((button, n) => button.addEventListener("click", () => {
    if (!said.firstChild) then();
    for (const each of buttons) each.setAttribute("aria-pressed", each === button);
    said.replaceChildren(make("p", { class: "bx-reply" }, choices[n][1]));
    tell([said]);
  }));
  group.append(...buttons, said);
  return group;
}

/** The boxes of what may be changed; each pause after a key is followed by an answer. */
function changing({ ask, edits }, given, then) {
  const group = make("div", { class: "bx-change" }, h("h4", {}, "Change one thing"), ask ? h("p", {}, ask) : "");
  const values = {};
  let pause = 0;
  for (const [name, says] of edits) {
    const input = make("textarea", { id: named(), rows: 1, dir: "auto" });
    input.value = given[name];
    input.addEventListener("input", () => {
      values[name] = input.value;
      clearTimeout(pause);
      pause = setTimeout(() => then(values), PAUSE);
    });
    group.append(labelled(input, says));
  }
  return group;
}

/** The recorded picture of a step: all that is between the words about it and the next question. */
function drawn(recorded) {
  const rest = recorded.slice(recorded.findIndex((each) => each.matches(".bx-reveal")) + 1);
  const end = rest.findIndex((each) => each.matches(".bx-turn"));
  return (end < 0 ? rest : rest.slice(0, end)).map((each) => each.cloneNode(true));
}

/** Of an answer, a step shows the named pictures, or all up to the last one. */
function kept(nodes, show, own) {
  const look = (node) => node.attributes.class ?? "";
  if (show.length) {
    return nodes.filter((node) => look(node).includes("bx-note") || (own && look(node) === "bx-headline") ||
      show.some((name) => node.attributes["data-name"]?.startsWith(name)));
  }
  const last = nodes.findLastIndex((node) => node.name === "figure");
  return nodes.filter((node, at) => look(node) !== "bx-hint" && (last < 0 || at <= last));
}

/** What a screen reader is told: without what is folded. */
function unfolded(node) {
  const copy = node.cloneNode(true);
  for (const folded of copy.querySelectorAll(".bx-term > span")) folded.remove();
  return copy.textContent.trim();
}
