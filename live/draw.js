/** What an answer looks like: the main part of a page, node by node as Python draws it. */

import { codes, headline, hint, label, line, note, picture, quiet, rect, shortened, svg, visible,
  whole } from "./blocks.js";
import { h } from "./build.js";
import { xrayView } from "./lens.js";
import { attentionView } from "./maps.js";
import { count, grouped, percent, score } from "./numbers.js";
import { Text, words } from "./text.js";

const LETTER = 8.6; // mean width of a letter
const SIDES = ["first text", "second text"];

const chance = (share) => percent(share, 1, { finest: 3 });
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

// -- notes ----------------------------------------------------------------------------------------

function offBy(errors) {
  const [least, most] = [Math.min(...errors), Math.max(...errors)];
  const shown = percent(most, 1, { counted: true });
  return (100 * least).toFixed(1) === (100 * most).toFixed(1)
    ? shown : `${(100 * least).toFixed(1)} to ${shown}`;
}

function trust(calibration, cases, ...more) {
  const { named, errors, temperature, fitted_on: data } = calibration;
  const says = named
    ? `Calibrated: logits are divided by a temperature of ${temperature.toFixed(2)}` +
      `${data ? ` (fitted on ${visible(data)})` : ""} before the softmax, so that, on data like ` +
      `that of the fit, about seven in ten ${cases} with 70 % are right.`
    : "Not calibrated: the configuration of this model gives no temperature (1 is used), so " +
      `${cases} with 70 % need not be right seven times in ten.`;
  const measured = errors.length ? " On other data, the stated probability and the share of right " +
    `answers differ by ${offBy(errors)} on average.` : "";
  return hint(...more, says + measured);
}

const after = ({ calibration }) => calibration.named ? " (calibrated)" : "";

const trained = (on) => on ? line(`Trained on ${visible(on)}.`) : null;

export function unreadNote({ words: all, unknown, scripts, fragments }) {
  const parts = [];
  if (unknown.length) {
    const shown = unknown.slice(0, 12).flatMap((word, n) =>
      [n ? ", " : "", h("bdi", {}, visible(word))]);
    const rest = unknown.length > 12 ? ` and ${grouped(unknown.length - 12)} more` : "";
    parts.push("It reads ", shown, `${rest} as [UNK], “unknown”. `);
  }
  for (const [script, number] of scripts) {
    parts.push(`${count(number, "word")} in ${script} letters: its vocabulary has hardly any ` +
      "words in this script. ");
  }
  if (all >= 4 && fragments * 3 >= all) {
    parts.push(`${grouped(fragments)} of ${count(all, "word")} are split into three or more ` +
      "pieces: rare words, or another language. ");
  }
  if (!parts.length) return null;
  return h("div", { class: `bx-note${unknown.length ? " bx-caution" : ""}`, role: "note" },
    unknown.length ? h("strong", {}, "The model cannot read all of this. ") : null, parts);
}

/** Say what was not read; the pieces themselves are named on the site with a server. */
function cutNote({ found, limit, lengths, kept }) {
  if (lengths[0] === kept[0] && lengths[1] === kept[1]) return null;
  const sides = SIDES.map((name, side) => lengths[side] === kept[side] ? null : h("p",
    { class: "bx-cut-side" }, `Of ${count(lengths[side], "piece")} the ${name} lost the last` +
    `${lengths[side] - kept[side] === 1 ? "" : ` ${grouped(lengths[side] - kept[side])}`} ` +
    `and kept ${grouped(kept[side])}.`));
  return h("div", { class: "bx-note bx-caution" },
    h("strong", {}, `${grouped(found)} tokens are too many: `),
    `this model reads at most ${grouped(limit)}, so ${grouped(found - limit)} ` +
    `${found - limit === 1 ? "was" : "were"} cut.`, sides);
}

// -- pictures -------------------------------------------------------------------------------------

const long = (share, room) => share > 0 ? Math.max(1.5, room * Math.min(1, share)) : 0;
const looks = (marked) => marked ? "bx-svg-mark" : "bx-svg-bar";

function bars(rows, width, top) {
  const most = Math.max(...rows.map((row) => Array.from(row.name).length));
  const letters = Math.max(4, Math.min(18, most));
  const left = letters * 10 + 12;
  const room = width - left - 84;
  return svg(width, rows.length * 34, rows.flatMap(({ name, value, printed, marked }, n) => {
    const end = left + long(value / top, room);
    return [label(left - 10, 34 * n + 12, shortened(name, letters), "bx-svg-name"),
      rect(left, 34 * n, end - left, 24, looks(marked)),
      label(end + 8, 34 * n + 12, printed, "bx-svg-value")];
  }));
}

function captionedBars(rows, width) {
  const room = width - Math.max(...rows.map((row) => row.printed.length)) * LETTER - 16;
  const drawn = [];
  let y = 0;
  for (const { name, value, printed, marked } of rows) {
    for (const each of wrapped(name, Math.floor(width / LETTER))) {
      drawn.push(label(0, y + 11, each, null));
      y += 23;
    }
    drawn.push(rect(0, y, room, 20, "bx-svg-track"), rect(0, y, long(value, room), 20, looks(marked)),
      label(room + 10, y + 10, printed, "bx-svg-value"));
    y += 34;
  }
  return svg(width, Math.max(1, y - 10), drawn);
}

/** Break a text into at most two lines; what is left out is marked. */
function wrapped(text, letters) {
  const room = /[\u2e81-\uffff]/.test(text) ? letters >> 1 : letters;
  const chars = Array.from(visible(words(text).join(" ")) || "–");
  if (chars.length <= room) return [chars.join("")];
  const space = chars.lastIndexOf(" ", room);
  const at = space > 0 ? space : room;
  return [chars.slice(0, at).join(""), shortened(chars.slice(at).join("").trim(), room)];
}

// -- the tasks ------------------------------------------------------------------------------------

const SCALES = [0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1];
const CONTINUES = /^##(?=.)/;

function fillMask(answer, view) {
  const { slots } = answer;
  if (!slots.length) {
    return [unreadNote(answer.unread),
      headline("The text has no [MASK], so there is nothing to guess."),
      sentence(answer, view)];
  }
  const best = slots.map(({ candidates: [first] }) =>
    `“${visible(first.token)}” (${chance(first.probability)})`);
  const rowsOf = ({ candidates, named }) =>
    named && !candidates.some((each) => each.id === named.id) ? [...candidates, named] : candidates;
  const most = Math.max(...slots.flatMap(rowsOf).map((each) => each.probability));
  const top = SCALES.find((each) => most <= each) ?? 1;
  const some = answer.read < answer.tokens
    ? note(h("strong", {}, "Long text. "), `It has ${grouped(answer.tokens)} tokens and the model ` +
      `reads ${grouped(answer.read)} at once, so each mask was read with the text around it. Text ` +
      "further away had no influence.") : null;
  return [
    some, answer.note ? note(visible(answer.note)) : null, unreadNote(answer.unread),
    headline(`The model would write ${best.join(", ")}.`), sentence(answer, view),
    answer.read_as.length ? line("Read as ", h("code", {}, "[MASK]"), ": ", codes(answer.read_as), ".") : null,
    quiet(trust(answer.calibration, "first guesses"), slots.length === 1
      ? `Probability in the gap${after(answer)}:`
      : `Probability in each gap${after(answer)}, with the others still hidden:`),
    slots.map((slot) => [
      slots.length > 1 ? slotTitle(slot) : null, namedWord(slot, answer.vocabulary),
      candidatesOf(slot, rowsOf(slot), top), certainty(slot),
    ]),
  ];
}

function sentence(answer, view) {
  const text = new Text(answer.text);
  const several = answer.slots.length > 1;
  const parts = [];
  let done = 0;
  let gap = 0;
  for (const word of view.words) {
    let before = visible(text.slice(done, word.start));
    done = word.end;
    const at = word.at.map((each) => `0.${each}`).join(" ");
    if (word.masked) {
      const { candidates: [best], number } = answer.slots[gap++];
      if (CONTINUES.test(best.token)) before = before.trimEnd();
      const shown = visible(best.token.replace(CONTINUES, ""));
      const here = number === 1 ? "gap" : null;
      const badge = several ? h("sub", {}, String(number)) : null;
      const look = { class: "bx-filled", "data-at": at, "data-here": here };
      parts.push(before, h("mark", look, shown, badge));
    } else parts.push(before, h("span", { "data-at": at }, visible(word.text)));
  }
  parts.push(visible(text.slice(done)));
  const scrolls = text.chars.length > 700;
  return h("p", { class: `bx-text bx-sentence${scrolls ? " bx-scroll" : ""}`, dir: "auto",
    "data-rove": "words", tabindex: scrolls ? 0 : null }, parts);
}

function slotTitle({ number, before, after }) {
  const near = new Text(before).chars.slice(-24).join("");
  const next = new Text(after).slice(0, 24);
  const rest = near.includes(" ") ? near.slice(near.indexOf(" ") + 1) : "";
  const most = next.includes(" ") ? next.slice(0, next.lastIndexOf(" ")) : "";
  return h("h2", { class: "bx-slot" }, `Gap ${number} `, h("small", {}, h("bdi", {},
    visible(near === before ? near : `… ${rest}`), h("b", {}, "▁▁"),
    visible(next === after ? next : `${most} …`))));
}

function namedWord({ named, spelled }, vocabulary) {
  if (spelled) {
    const { pieces, probability } = spelled;
    return quiet(hint(`This word is ${pieces.length} pieces, and one mask holds one piece. So the ` +
      `gap gets ${pieces.length} masks, which are filled from left to right: ` +
      `${spelled.probabilities.map(chance).join(" × ")}. Do not compare it with words of one ` +
      "piece: every further piece adds a factor below 1."),
    h("b", {}, h("bdi", {}, `“${visible(pieces.join(" "))}”`)),
    ` has ${chance(probability)} of all probability if the gap has ${pieces.length} masks.`);
  }
  if (!named) return null;
  return line(h("b", {}, h("bdi", {}, `“${visible(named.token)}”`)), ` has ${chance(named.probability)} of ` +
    `all probability: rank ${grouped(named.rank)} of ${grouped(vocabulary)}.`);
}

function candidatesOf({ number, position, candidates, named }, rows, top) {
  const best = candidates.slice(0, 5).map((each) => `${each.token} ${chance(each.probability)}`);
  const asked = named ? `; ${named.token} has rank ${grouped(named.rank)}` : "";
  const drawn = rows.map((each) => ({
    name: `${grouped(each.rank)}. ${each.token}`, value: each.probability,
    printed: chance(each.probability), marked: named?.id === each.id,
  }));
  return picture(`fill-mask-${number}`,
    `Bar chart of mask ${number}, most probable first: ${best.join(", ")}${asked}.`,
    (width) => bars(drawn, width, top), ["rank", "piece", "id", "probability", "percent"],
    rows.map((each) => ({ at: `0.${position}`, cells: [whole(each.rank), each.token,
      whole(each.id), each.probability, chance(each.probability)] })));
}

function certainty({ candidates, entropy }) {
  const shown = candidates.reduce((sum, each) => sum + each.probability, 0);
  const choices = Math.max(1, Math.round(2 ** entropy));
  return line(`Shown: ${chance(shown)} of all probability. As unsure as choosing among ` +
    `${count(choices, "equally likely word")}.`);
}

function nextSentence(answer) {
  const meanings = ["The second sentence follows the first",
    "The second sentence does not follow the first"];
  const { probabilities, logits, calibration, follows } = answer;
  const confidence = Math.max(...probabilities);
  const meaning = meanings[follows ? 0 : 1];
  const share = `${percent(confidence)} of the probability of the two answers${after(answer)}`;
  const decided = confidence >= 0.6;
  const says = decided ? meaning[0].toLowerCase() + meaning.slice(1) : "undecided";
  const more = decided ? `${share}.` : `“${meaning}” has only ${share}.`;
  const rows = ["Follows the first (label 0)", "Does not follow (label 1)"].map((name, n) => ({
    name, value: probabilities[n], marked: decided && follows === (n === 0),
    printed: `${percent(probabilities[n])}, logit ${signed(logits[n])}`,
  }));
  const sure = confidence < 0.95 ? null : h("details", { class: "bx-fold" },
    h("summary", {}, "Being sure is not being right"),
    line(`${percent(confidence)} ` + (calibration.named
      ? "holds on average, over pairs like those the temperature was fitted on; for one kind of " +
        "pair it may be too high, and too low for another."
      : "does not mean that such answers are right that often.")));
  return [unreadNote(answer.unread), cutNote(answer.cut), headline(`The model’s answer: ${says}. ${more}`),
    picture("next-sentence", `Probability ${percent(probabilities[0])} that the second sentence ` +
      `follows the first, ${percent(probabilities[1])} that it does not.`,
    (width) => captionedBars(rows, width),
    ["label", "meaning", "probability", "logit", "temperature"], rows.map((_, n) => ({ cells:
      [whole(n), meanings[n], probabilities[n], logits[n], calibration.temperature] }))),
    sure, trust(calibration, "pairs", trained(answer.trained_on),
      "Label 0 means yes: the second sentence follows. Label 1 means that it does not; in the " +
      "training of the first BERT, such a sentence was picked at random. A probability is the " +
      "softmax of the two logits, each divided by the temperature. ",
      "Do order and logic matter to this head, or only the topic? Swap the sentences, or try " +
      "“Reversed” and “Contradiction”. ")];
}

function classification(answer) {
  const { labels, scores, logits, chosen, calibration } = answer;
  const ranking = [...labels.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  const [best, second] = ranking;
  const close = scores[best] - scores[second] < 0.1;
  const more = `${percent(scores[best])} of the probability of its ` +
    `${count(labels.length, "label")}${after(answer)}.` +
    (close ? ` A small lead: ${visible(labels[second])} has ${percent(scores[second])}.` : "");
  const rows = ranking.slice(0, 8).map((n) => ({ name: visible(labels[n]), value: scores[n],
    printed: percent(scores[n]), marked: chosen.includes(labels[n]) }));
  const said = ranking.slice(0, 5).map((n) => `${labels[n]} ${percent(scores[n])}`).join(", ");
  return [trained(answer.trained_on), unreadNote(answer.unread), cutNote(answer.cut),
    headline(`The model’s answer: ${visible(labels[best])}. ${more}`),
    picture("classification", `Bar chart of the probabilities of labels, best first: ${said}.`,
      (width) => captionedBars(rows, width), ["label", "probability", "logit"],
      ranking.map((n) => ({ cells: [visible(labels[n]), scores[n], logits[n]] }))),
    trust(calibration, "texts", "The model chooses one label: the probabilities of all labels " +
      "add up to 100 %. ")];
}

function multipleChoice(answer) {
  const { choices, best, calibration, context } = answer;
  const order = [...choices.keys()].filter((n) => n !== best)
    .sort((a, b) => choices[b].logit - choices[a].logit);
  const [first, second] = [choices[best], choices[order[0]]];
  const close = first.probability - second.probability < 0.1;
  const more = `${percent(first.probability)} of the probability of these ` +
    `${count(choices.length, "choice")}.` +
    (close ? ` A small lead: the next has ${percent(second.probability)}.` : "");
  const rows = choices.map((each, n) => ({ name: `${n + 1}. ${each.text}`, value: each.probability,
    printed: `${percent(each.probability)}, logit ${signed(each.logit)}`,
    marked: n === best }));
  const said = choices.map((each, n) => `${n + 1}. ${each.text}: ${percent(each.probability)}`);
  return [measured(answer), unreadNote(answer.unread),
    choices.map((each) => cutNote(each.cut)).find(Boolean) ?? null,
    headline(`The model’s answer: “${visible(first.text)}” ${more}`),
    h("p", { class: "bx-text", dir: "auto" }, visible(context)),
    picture("multiple-choice", `Bar chart of the probability of every choice. ${said.join("; ")}.`,
      (width) => captionedBars(rows, width), ["choice", "probability", "logit", "temperature"],
      choices.map((each) => ({ cells: [visible(each.text), each.probability, each.logit,
        calibration.temperature] }))),
    trust(calibration, "choices", "The model scores each choice alone, together with the context; " +
      "their order does not matter. The probabilities compare only these choices: a change in " +
      "one changes all of them. ")];
}

function measured({ figures, trained_on: on }) {
  const rows = figures.filter((each) => each.chance !== null);
  if (!rows.length) return trained(on);
  const kinds = rows.map((each) => `${visible(each.task.split(", ").at(-1))} ` +
    `${percent(each.share, 1, { counted: true })}, a guess ${percent(each.chance, 1, { counted: true })}`);
  const span = (key) => {
    const shares = rows.map((each) => each[key]);
    return `${(100 * Math.min(...shares)).toFixed(0)} to ` +
      percent(Math.max(...shares), 0, { counted: true });
  };
  return h("div", { class: "bx-scale" },
    hint(trained(on), `Right by kind of question: ${kinds.join("; ")}.`),
    line(`Measured: right in ${span("share")} of ${count(rows.length, "kind")} of questions; a ` +
      `guess in ${span("chance")}.`));
}

// -- simpler than on the recorded page ------------------------------------------------------------

/** Draw a text with some of its stretches marked: { start, end, says, look }. */
function marked(text, stretches, kind = "bx-text") {
  const chars = new Text(text);
  const parts = [];
  let done = 0;
  for (const { start, end, says, look } of stretches) {
    parts.push(visible(chars.slice(done, start)), h("mark", look ?? { class: "bx-live-mark" },
      visible(chars.slice(start, end)), says ? h("small", { class: "bx-ner-name" }, says) : null));
    done = end;
  }
  return h("div", { class: kind, dir: "auto" }, parts, visible(chars.slice(done)));
}

const COLOURS = 6;
const STROKES = 5; // shapes of underlines; see `app.features.ner.view_text`

function names(answer, view) {
  const { entities } = answer;
  const kindOf = (label) => label.replace(/^[BI]-/, "");
  const kinds = [...new Set(answer.names.filter((each) => each !== "O").map(kindOf))].sort();
  const marks = entities.map(({ start, end, label, score: sure }) => {
    const kind = kinds.indexOf(kindOf(label));
    return { start, end, says: `${visible(label)} ${score(sure)}`, look: {
      class: `bx-ner-mark bx-ner-l${kind % STROKES}`,
      style: `--bx-c:var(--bx-c${kind % COLOURS});--bx-w:${sure.toFixed(3)}`,
      title: `${visible(label)}, score ${sure.toFixed(4)}, characters ${start} to ${end}` } };
  });
  const found = entities.length === 1 ? "1 entity" : `${grouped(entities.length)} entities`;
  return [unreadNote(answer.unread), headline(`The model finds ${found}.`),
    trust(answer.calibration, "labels of single pieces other than O"),
    marked(view.whole.text, marks, "bx-text bx-ner-text")];
}

function questions(answer, view) {
  const [best] = answer.answers;
  const rows = answer.answers.map((each) => ({ name: each.text, value: each.probability,
    printed: percent(each.probability), marked: answer.answered && each === best }));
  const none = { name: "No answer", value: answer.null_probability,
    printed: percent(answer.null_probability), marked: !answer.answered };
  const shown = answer.answered ? [...rows, none] : [none, ...rows];
  const said = shown.map((row) => `${row.name} ${row.printed}`).join("; ");
  return [unreadNote(answer.unread), headline(answered(answer)),
    marked(view.reading.passage, answer.answered ? [best.best] : []),
    picture("answers", `Bar chart of answers: ${said}.`, (width) => captionedBars(shown, width),
      ["answer", "probability"], shown.map((row) => ({ cells: [row.name, row.value] }))),
    trust(answer.calibration, "answers")];
}

function answered({ answers: [best], answered: found, probability, touching, null_probability: none }) {
  const told = "The model’s answer: ";
  if (!found) return `${told}none in this passage; “no answer” has ${percent(none)} of all probability.`;
  const says = `${told}“${visible(best.text)}”, with ${percent(probability)} of all probability.`;
  if (probability >= 0.5) return says;
  const around = percent(Math.max(touching, probability));
  return `${says} ${touching >= 0.5
    ? `The place is clearer than the ends: overlapping answers have ${around} together.`
    : `A weak guess: even with all overlapping answers, it has only ${around}.`}`;
}

function tokens(answer, view) {
  const { columns } = answer;
  const texts = view.texts.map((each, side) => {
    const chars = new Text(each);
    const parts = [];
    let done = 0;
    columns.sides.forEach((of, at) => {
      if (of !== side) return;
      const [start, end] = columns.spans[at];
      if (start > done) parts.push(h("span", { class: "bx-gap" }, visible(chars.slice(done, start))));
      const shown = chars.slice(Math.max(done, start), end);
      done = Math.max(done, end);
      if (!shown) return;
      const continues = columns.sides[at - 1] === side && columns.words[at - 1] === columns.words[at];
      const look = ["bx-piece", `bx-c${at % 6}`, continues ? "bx-continues" : "",
        columns.tokens[at] === "[UNK]" ? "bx-unknown" : "", side ? "bx-second" : ""];
      parts.push(h("span", { class: look.filter(Boolean).join(" "), "data-at": `0.${at}`,
        title: `${columns.tokens[at]} · id ${columns.ids[at]} · characters ${start} to ${end}` },
      visible(shown)));
    });
    if (done < chars.chars.length) parts.push(h("span", { class: "bx-gap" }, visible(chars.slice(done))));
    return h("div", { class: "bx-text bx-tok-text", dir: "auto", "data-rove": "pieces" }, parts);
  });
  const pieces = answer.cut.lengths[0] + answer.cut.lengths[1];
  return [headline(`The model reads ${count(answer.words, "word")} as ${count(pieces, "piece")}.`),
    texts, line(`${count(pieces, "piece")}: ${columns.tokens.map((each, at) =>
      `${visible(each)} ${columns.ids[at]}`).join(" · ")}`)];
}

const VIEWS = { fill_mask: fillMask, next_sentence: nextSentence, classification,
  multiple_choice: multipleChoice, ner: names, qa: questions, tokenizer: tokens,
  xray: xrayView, attention: (answer, view) => attentionView(answer, { ...view, cut: cutNote(answer.cut) }) };

/** Return the nodes of an answer's main part. */
export function drawn(task, { answer, view }) {
  return VIEWS[task](answer, view).flat(Infinity).filter((each) => each !== null);
}
