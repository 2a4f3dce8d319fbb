/** The home page's doors: one text through six tasks, each with a small result; see `app.overview`. */

import { line, shortened, svg, visible } from "./blocks.js";
import { h } from "./build.js";
import { QUESTION } from "./carry.js";
import { unreadNote } from "./draw.js";
import { doing } from "./maps.js";
import { count, grouped, percent } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { MASK, readSigns, strip, Text, words } from "./text.js";

const [PIECES, CELLS, WORDS] = [40, 16, 60];
const CELL = 18; // side of a cell of the small attention map, in units of the drawing
const SHOWN = 6; // doors at most
const DOORS = { tokenizer: pieces, fill_mask: hiddenWord, attention: clearestHead, ner: names, qa: question,
  next_sentence: next, classification: label };

/**
 * Draw the doors, in the order of the page, below what the model cannot read.
 * @param given the texts, and `doors`: the task, the title and the address of each
 */
export function doors(tasks, { text, question: asked = "", doors: titles }) {
  const answered = (task, given) => {
    const { answer, view } = tasks.answer(task, given);
    return { ...answer, view };
  };
  const cards = titles.filter(([task]) => tasks.can(task)).slice(0, SHOWN).map(([task, title, href]) => {
    let [texts, body] = [{ text }, null];
    try {
      [texts, body] = DOORS[task](answered, text, asked, tasks.unicode);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      body = line(visible(error.message));
    }
    const taken = JSON.stringify({ texts, whole: text, example: null });
    return h("section", { class: "bx-door" }, h("h2", {},
      h("a", { href, class: "bx-door-title", "data-carry": taken }, `${title} →`)), body);
  });
  const note = unreadNote(tasks.unread([tasks.tokenizer.encode(text)]));
  return [...note ? [note] : [], h("div", { class: "bx-doors" }, cards)];
}

const shares = (list, rows) => h(list, { class: "bx-shares" }, rows.map(([name, share]) =>
  h("li", {}, h("span", { class: "bx-name" }, visible(name)),
    h("span", { class: "bx-share-track", "aria-hidden": "true" },
      h("span", { class: "bx-share-fill", style: `width:${(100 * share).toFixed(2)}%` })),
    h("strong", { class: "bx-share-number" }, percent(share)))));

function pieces(answered, text) {
  const { tokens } = answered("tokenizer", { text }).columns;
  const chips = tokens.slice(0, PIECES).map((each, at) =>
    h("span", { class: "bx-chip", "data-at": `0.${at}` }, visible(each)));
  const more = tokens.length - chips.length;
  const rest = more ? h("span", {}, `… ${grouped(more)} more`) : "";
  return [{ text }, h("p", { class: "bx-chips" }, chips, rest)];
}

/** Hide the last long word. */
function hiddenWord(answered, text) {
  const whole = answered("fill_mask", { text }).view.words.filter((each) =>
    /^\p{L}+$/u.test(each.text) && !each.masked);
  if (!whole.length) return [{ text }, line("There is no word to hide.")];
  const hidden = whole.slice(0, WORDS).findLast((each) => Array.from(each.text).length > 3) ?? whole.at(-1);
  const chars = new Text(text);
  const [asked] = readSigns(chars.slice(0, hidden.start) + MASK + chars.slice(hidden.end));
  const { candidates } = answered("fill_mask", { text: asked, top_k: 3 }).slots.at(-1);
  return [{ text: asked }, h("div", {},
    line("With ", h("strong", {}, visible(shortened(hidden.text, 24))), " hidden, the model would write:"),
    shares("ol", candidates.map((each) => [each.token, each.probability])))];
}

function clearestHead(answered, text) {
  const { shown: { places: [[layer, head]] }, view } = answered("attention", { text });
  const { size, weights } = view;
  const side = Math.min(size, CELLS);
  const shown = Array.from({ length: side }, (_, row) => weights.subarray(row * size, row * size + side));
  const peak = Math.max(...shown.map((row) => Math.max(...row))) || 1;
  const cells = shown.flatMap((row, at) => Array.from(row, (weight, column) => h("rect", {
    x: column * CELL, y: at * CELL, width: CELL, height: CELL, class: "bx-heat",
    style: `--bx-share:${(weight / peak).toFixed(3)}`, "data-at": `0.${at}` })));
  const says = `Layer ${layer}, head ${head}. ${doing(view)}`;
  return [{ text }, h("div", {},
    h("div", { role: "img", "aria-label": says, class: "bx-small-map" }, svg(side * CELL, side * CELL, cells)),
    line(says, size > CELLS ? ` The first ${CELLS} pieces are drawn.` : ""))];
}

function names(answered, text) {
  const { entities } = answered("ner", { text });
  const chars = new Text(text);
  let done = 0;
  const parts = entities.filter(({ start }) => start >= done).flatMap(({ label, start, end }) => {
    const before = chars.slice(done, start);
    done = end;
    return [visible(before), h("mark", { class: "bx-small-name" }, visible(chars.slice(start, end)),
      h("small", {}, ` ${label}`))];
  });
  return [{ text }, h("div", {}, h("p", { dir: "auto" }, parts, visible(chars.slice(done))),
    line(`The model finds ${entities.length ? count(entities.length, "name") : "no name"}.`))];
}

function question(answered, text, asked) {
  const wanted = words(asked).join(" ") || QUESTION;
  const { answered: found, answers: [best], null_probability: none } =
    answered("qa", { passage: text, question: wanted });
  return [{ text, question: wanted }, h("div", {}, h("p", {}, visible(wanted)),
    h("p", {}, h("strong", { class: "bx-small-answer" }, visible(found ? `“${best.text}”` : "no answer in this text"))),
    line(`The model is ${percent(1 - none, 0)} sure that there is an answer.`))];
}

/** Ask whether the last sentence follows the others. */
function next(answered, text, _, unicode) {
  const chars = new Text(text);
  const starts = [0, ...unicode.sentenceStarts(text, false)];
  const sentences = starts.map((start, n) => strip(chars.slice(start, starts[n + 1]))).filter(Boolean);
  if (sentences.length < 2) {
    return [{ text, text_pair: "" }, line("Write a second sentence to see whether it follows the first.")];
  }
  const [first, second] = [sentences.slice(0, -1).join(" "), sentences.at(-1)];
  const { probabilities } = answered("next_sentence", { first, second });
  return [{ text: first, text_pair: second }, h("div", {},
    line("Does “", visible(shortened(second, 120)), "” follow?"),
    shares("ul", [["follows", probabilities[0]], ["does not", probabilities[1]]]))];
}

/** The labels that fit best. */
function label(answered, text) {
  const { labels, scores } = answered("classification", { text });
  const ranking = [...labels.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  return [{ text }, shares("ol", ranking.slice(0, 3).map((n) => [labels[n], scores[n]]))];
}
