/** Questions: which characters of a passage answer one; see `bert_core.reading.passage`. */

import { Refusal } from "./refusal.js";
import { Text, Wordings } from "./text.js";
import { readers } from "./tokenizer.js";

const NAME = "BertForQuestionAnswering";
const WINDOW = 384; // tokens
const SHARED = 128; // pieces
const SPECIAL = ["[CLS]", "[SEP]", "[PAD]", "[MASK]"];

export function questions(given) {
  const { passage, question, answers = 5, longest = 30, threshold = 0 } = given;
  const { whole_words: wholeWords = true, one_sentence: oneSentence = true } = given;
  for (const [name, number, most] of [["answers", answers, 20], ["longest", longest, 60]]) {
    if (!(number >= 1 && number <= most)) {
      throw new Refusal(`Found ${name}=${number}; expected 1 to ${most}.`);
    }
  }
  const reading = read.call(this, passage, question);
  reading.rules = { whole_words: wholeWords, one_sentence: oneSentence };
  reading.longest = reading.windows.length > 1 ? Math.min(longest, reading.shared + 1) : longest;
  const spans = scored(reading);
  const calibration = this.calibration(NAME);
  const outer = this.calibration(`${NAME}.has_answer`);
  const best = spans.score.reduce((most, each, n) => each > spans.score[most] ? n : most, 0);
  const top = spans.score[best];
  const margin = (top - spans.null) / outer.temperature;
  const none = 1 / (1 + Math.exp(margin));
  const shares = probabilities(spans.score, top, calibration.temperature, 1 - none);
  const compared = new Wordings(passage, reading.spans, this.unicode);
  const found = wordings(reading, spans, shares, compared, answers);
  const first = Math.floor(best / spans.longest);
  const end = first + (best % spans.longest);
  return {
    model: this.model.model, question, answered: spans.null - top <= threshold,
    answers: found, probability: found[0].probability,
    touching: touching(shares, spans.longest, first, end), null_probability: none,
    null_score: spans.null, no_answer_score: spans.null - top,
    candidates: spans.score.reduce((sum, each) => sum + Number.isFinite(each), 0),
    longest: reading.longest, rules: reading.rules, threshold,
    coverage: {
      pieces: reading.spans.length, question: reading.asked.length,
      tokens: Math.max(...reading.windows.map((each) => each.start.length)),
      shared: reading.shared, answer: [first, end],
    },
    unread: this.unread([reading.whole]), calibration, has_answer: outer, view: { reading },
  };
}

/** Run the model over the whole passage. */
function read(passage, question) {
  const { tokenizer, engine } = this;
  const whole = tokenizer.encode(question, passage);
  const asked = whole.first.length;
  const size = Math.min(WINDOW, this.limit);
  if (!whole.second.length) {
    throw new Refusal("The passage has no text that the model can read. Write or paste one.");
  }
  if (!asked) throw new Refusal("The question has no text that the model can read. Ask a question.");
  if (asked > size >> 1) {
    throw new Refusal(`The question has ${asked} pieces; it may have at most ${size >> 1}, half of ` +
      `the ${size} tokens that are read at once, to leave room for the passage. Shorten the question.`);
  }
  const offset = asked + 2;
  const stride = Math.min(SHARED, (size - offset - 1) >> 1);
  const cut = tokenizer.windows(whole, { fits: this.limit, size, stride });
  const width = this.model.config.hidden_size;
  const windows = cut.inputs.map((input, n) => {
    this.progress(n, cut.inputs.length);
    const { last } = engine.run(input.ids, input.types);
    const pairs = input.ids.map((_, at) => engine.head(NAME, last.subarray(at * width, (at + 1) * width)));
    const [start, end] = [0, 1].map((side) => pairs.map((pair) => pair[side]));
    return { first: cut.bounds[n][0], start, end };
  });
  const starts = this.unicode.sentenceStarts(passage);
  let sentence = 0;
  const spans = whole.second.map((each) => each.place);
  return {
    whole, passage, question, spans, windows, offset, shared: cut.shared, bounds: cut.bounds,
    asked: whole.first.map((each) => each.place),
    words: whole.second.map((each) => each.word),
    sentences: spans.map(([begin]) => {
      while (starts[sentence] <= begin) sentence++;
      return sentence;
    }),
    special: whole.second.map((each) => SPECIAL.includes(tokenizer.pieces[each.id])),
  };
}

/** Score every span that may be an answer: [first * longest + more], -Infinity if it may not. */
function scored(reading) {
  const count = reading.spans.length;
  const longest = Math.min(reading.longest, count);
  const { number } = readers(reading.bounds, longest);
  const score = new Float64Array(count * longest).fill(-Infinity);
  const { sentences, special, rules, offset } = reading;
  const [begins, ends] = edges(reading);
  for (let first = 0; first < count; first++) {
    if (!begins.has(reading.spans[first][0])) continue;
    for (let more = 0; more < longest && first + more < count; more++) {
      const last = first + more;
      if (special[last]) break;
      if (rules.one_sentence && sentences[first] !== sentences[last]) break;
      if (!ends.has(reading.spans[last][1])) continue;
      const window = reading.windows[number[first * longest + more]];
      if (!window) continue;
      const at = offset - window.first;
      score[first * longest + more] = window.start[first + at] + window.end[last + at];
    }
  }
  if (!score.some(Number.isFinite)) {
    throw new Refusal("Nothing in the text can be an answer: " + (special.every(Boolean)
      ? "it has only special tokens. Add a word."
      : `each word has more than ${reading.longest} pieces. Allow longer answers.`));
  }
  return { score, longest, null: Math.min(...reading.windows.map((w) => w.start[0] + w.end[0])) };
}

/** Return the places where an answer may begin, and those where it may end. */
function edges({ spans, words, rules }) {
  const apart = (at, next) => !rules.whole_words || words[at] !== words[next];
  return [new Set(spans.flatMap(([begin], at) => apart(at - 1, at) ? [begin] : [])),
    new Set(spans.flatMap(([, end], at) => apart(at, at + 1) ? [end] : []))];
}

function probabilities(score, top, temperature, left) {
  const odds = score.map((each) => Math.exp((each - top) / temperature));
  const sum = odds.reduce((a, b) => a + b, 0);
  return odds.map((each) => left * (each / sum));
}

/** List the best answers; each combines all spans with the same wording. */
function wordings(reading, spans, shares, compared, most) {
  const left = spans.score.slice();
  const text = new Text(reading.passage);
  const found = [];
  for (let n = 0; n < most; n++) {
    const best = left.reduce((top, each, at) => each > left[top] ? at : top, 0);
    if (!Number.isFinite(left[best])) break;
    const first = Math.floor(best / spans.longest);
    const last = first + (best % spans.longest);
    const places = new Map();
    for (const [row, more] of compared.alike(spans.score, spans.longest, first, last)) {
      const at = row * spans.longest + more;
      left[at] = -Infinity;
      const [start, end] = [reading.spans[row][0], reading.spans[row + more][1]];
      const key = `${start} ${end}`;
      const place = places.get(key) ??
        { start, end, pieces: Infinity, score: -Infinity, probability: 0 };
      place.pieces = Math.min(place.pieces, more + 1);
      place.score = Math.max(place.score, spans.score[at]);
      place.probability += shares[at];
      places.set(key, place);
    }
    const every = [...places.values()].sort((a, b) =>
      b.score - a.score || a.start - b.start || a.end - b.end);
    found.push({
      text: text.slice(every[0].start, every[0].end), best: every[0], count: every.length,
      probability: every.reduce((sum, each) => sum + each.probability, 0),
    });
  }
  return found;
}

/** Sum the probability of all spans that share a piece with one. */
function touching(shares, longest, first, last) {
  let sum = 0;
  for (let row = Math.max(0, first - longest + 1); row <= last; row++) {
    for (let more = 0; more < longest; more++) {
      if (row + more >= first) sum += shares[row * longest + more];
    }
  }
  return sum;
}
