"""Text for the question-answering page.

In order: the verdict, the marked passage and how it was read; the candidate answers and what their
numbers mean; several questions at once; and the passage without one of its sentences.
"""

import math
from collections.abc import Sequence

import pandas as pd

from app.features.qa.result import Coverage, QaResult, Reason, Rejected
from app.words.blocks import line, share_bar
from app.words.format import count, percent, shortened, signed
from app.words.html import Html, join, plain, tag, visible
from app.words.notes import calibrated
from bert_core.reading.passage import Answer, Span

HINT, WHO = "Paste a text that holds the answer.", "Who? When? Where? …"
"""What the empty boxes suggest."""

ASK = "Question; several go one per line"
"""The label of the question's box."""

LEVEL = "“No answer” above a score of"
"""The label of the threshold."""

SCORES = (-15.0, 15.0)
"""The ends of the threshold, in differences of logits."""

MARKED_FROM = 0.01
"""Probability from which another answer is marked in the passage."""

RULES = {"whole": "Whole words only", "single": "Within one sentence"}
"""The rules that a visitor may lift: name in the address and label."""

_SURE = 0.5  # probability at which one answer, or one place, outweighs all others together
_EXCERPT = 900  # characters; a longer passage is shown around its answer, or whole on request
_SENTENCES = 40  # offered for deletion
_SHORT = 60  # characters of a quotation
_DRAWN_WINDOWS = 150

_BROKEN: dict[Reason, str] = {
    "backwards": "it would end before it starts",
    "long": "it has {pieces:,} pieces; at most {longest:,} are allowed",
    "question": "an answer stands in the passage, not in the question",
    "half_null": "one end says “no answer” and the other does not",
    "special": "a special token is no part of an answer",
    "inside_word": "it would begin or end inside a word",
    "over_sentences": "it would run over the end of a sentence",
}


def outcome(result: QaResult, threshold: float) -> Html:
    """Draw the verdict, the marked passage, the key to its marks and how it was read."""
    marked = passage(result, threshold)
    return join(verdict(result, threshold), marked, marks_key(result), coverage(result))


def weighed(result: QaResult) -> Html:
    """Draw all candidate answers and explain what the numbers mean."""
    notes = join(answers_note(result), meaning(result), rejected(result))
    return join(answers_list(result), notes)


def verdict(result: QaResult, threshold: float) -> Html:
    """Draw the decision in words, with the figures that it is based on."""
    found, best = result.answered(threshold), result.answers[0]
    unsure = found and max(result.touching, result.probability) < _SURE
    said: list[Html | str] = (
        [tag("strong", tag("bdi", visible(best.text)), class_="bx-qa-answer")]
        if found
        else [tag("strong", "The passage does not seem to answer this.")]
    )
    if not found:
        said += [" The best guess would be: ", tag("q", tag("bdi", visible(best.text)))]
    elif doubt := _doubt(result):
        said += [tag("br"), doubt]
    kind = "bx-qa-none" if not found else "bx-qa-unsure" if unsure else ""
    return tag(
        "div",
        tag("span", "∅" if not found else "?" if unsure else "✓", class_="bx-qa-sign",
            aria_hidden="true"),
        tag("p", *said, tag("br"), tag("span", _figures(result, threshold), class_="bx-line")),
        class_=f"bx-qa-verdict {kind}".strip(),
        role="status",
    )  # fmt: skip


def _doubt(result: QaResult) -> str:
    """Explain what remains open if the answer has less than half of all probability."""
    if result.probability >= _SURE:
        return ""
    around = percent(max(result.touching, result.probability))
    if result.touching >= _SURE:
        return (
            "The model is surer of the place than of the exact ends: all answers that overlap "
            f"this one hold {around} together."
        )
    return (
        "A weak guess: even with all answers that overlap it, this one holds only "
        f"{around}; the rest lies elsewhere."
    )


def _figures(result: QaResult, threshold: float) -> str:
    compared = "not above" if result.answered(threshold) else "above"
    return (
        f"Probability {percent(result.probability)} · “no answer” "
        f"{percent(result.null_probability)} · no-answer score "
        f"{signed(result.no_answer_score, 2)} (“no answer” {signed(result.null_score, 2)}, minus "
        f"best span {signed(result.best.score, 2)}), {compared} the threshold {_level(threshold)}"
    )


def _level(threshold: float) -> str:
    return signed(threshold, 1) if threshold else "0"


def passage(result: QaResult, threshold: float) -> Html:
    """Draw the passage as typed with the answers marked; a long one only around its answers."""
    marks = _marks(result)
    accepted = result.answered(threshold)
    size = len(result.passage)
    if size <= _EXCERPT:
        return _marked(result, marks, accepted, (0, size))
    middle = (result.best.start + result.best.end) // 2
    first = max(0, min(middle - _EXCERPT // 2, size - _EXCERPT, result.best.start))
    last = min(size, max(first + _EXCERPT, result.best.end))
    first = _at_blank(result.passage, first, result.best.start, 1) if first else 0
    last = _at_blank(result.passage, last, result.best.end, -1) if last < size else size
    return join(
        line(f"Characters {first:,} to {last:,} of {size:,}, around the best answer."),
        _marked(result, marks, accepted, (first, last)),
        tag(
            "details",
            tag("summary", "The whole passage"),
            _marked(result, marks, accepted, (0, size)),
        ),
    )


def _at_blank(text: str, at: int, end: int, step: int) -> int:
    """Move a cut towards the answer to the nearest space, if there is one within a few words."""
    for place in range(at, end, step)[:_SHORT]:
        if text[place].isspace():
            return place
    return at


def _marks(result: QaResult) -> list[tuple[Span, int, bool]]:
    """Choose the marks: span, number of its answer, whether it is that answer's best place.

    If two marks overlap, the better one is kept.
    """
    wanted = [(place, 1, place is result.best) for place in result.answers[0].places]
    wanted += [
        (answer.best, number, True)
        for number, answer in enumerate(result.answers[1:], start=2)
        if answer.probability >= MARKED_FROM
    ]
    chosen: list[tuple[Span, int, bool]] = []
    taken = bytearray(len(result.passage))
    for span, number, best in wanted:
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\x01" * (span.end - span.start)
            chosen.append((span, number, best))
    return sorted(chosen, key=lambda mark: mark[0].start)


def _marked(
    result: QaResult,
    marks: Sequence[tuple[Span, int, bool]],
    accepted: bool,
    part: tuple[int, int],
) -> Html:
    """Draw a part of the passage with its marks."""
    done, last = part
    parts: list[Html | str] = ["… "] if done else []
    for span, number, best in marks:
        if done <= span.start and span.end <= last:
            parts.append(visible(result.passage[done : span.start]))
            text = visible(result.passage[span.start : span.end])
            share = result.answers[number - 1].probability if best else span.probability
            parts.append(_mark(text, span, (number, share), best=best, accepted=accepted))
            done = span.end
    parts.append(visible(result.passage[done:last]))
    parts += [" …"] if last < len(result.passage) else []
    return tag("div", *parts, class_="bx-text bx-qa-passage", dir="auto")


def _mark(text: str, span: Span, answer: tuple[int, float], *, best: bool, accepted: bool) -> Html:
    """Mark one span, labelling the best answer by name and the others by number."""
    number, share = answer[0], percent(answer[1])
    if number == 1 and best:
        kind, label = ("bx-qa-best", "answer") if accepted else ("bx-qa-guess", "not accepted")
        label = f"{label} · {share}"
    else:
        kind, label = ("bx-qa-other", str(number)) if best else ("bx-qa-again", "same words")
    badge = tag("span", label, class_="bx-qa-badge")
    title = f"answer {number}, {share}, characters {span.start} to {span.end}"
    return tag("mark", text, badge, class_=f"bx-qa-mark {kind}", title=title)


def marks_key(result: QaResult) -> Html:
    """Explain the marks used in this passage."""
    marks = _marks(result)
    parts = []
    if any(number > 1 for _, number, _ in marks):
        parts.append(
            f"Numbers mark further answers of at least {percent(MARKED_FROM, 0)}, unless they "
            "overlap a better one."
        )
    if any(number == 1 and not best for _, number, best in marks):
        parts.append("“Same words” says the same at another place, where it scores less.")
    first = result.answers[0]
    if first.count > len(first.places):
        parts.append(f"Of its {first.count:,} places the best {len(first.places)} are marked.")
    return line(" ".join(parts)) if parts else join()


def answers_list(result: QaResult) -> Html:
    """List the best answers, "no answer" included, with their probabilities as bars."""
    rows = [_answer_row(number, each) for number, each in enumerate(result.answers, start=1)]
    null = result.null_probability
    rows.append(_row("–", tag("em", "no answer"), null, f"score {signed(result.null_score, 2)}"))
    return tag("ol", *rows, class_="bx-qa-answers")


def _answer_row(number: int, answer: Answer) -> Html:
    best = answer.best
    note = f"characters {best.start:,} to {best.end:,}"
    if more := answer.count - 1:
        spans = "1 other span that says" if more == 1 else f"{more:,} other spans that say"
        note += f", {percent(best.probability)} alone; with {spans} the same"
    name = tag("bdi", visible(answer.text), class_="bx-qa-text")
    return _row(str(number), name, answer.probability, note)


def _row(number: str, name: Html, share: float, note: str) -> Html:
    return tag(
        "li",
        tag("span", number, class_="bx-qa-number"),
        name,
        share_bar(share),
        tag("span", note, class_="bx-line bx-qa-where"),
    )


def answers_note(result: QaResult) -> Html:
    """Explain how equal and overlapping answers are treated."""
    kept = max(len(answer.places) for answer in result.answers)
    cut = any(answer.count > len(answer.places) for answer in result.answers)
    return line(
        "Spans that say the same, capitals, punctuation and “a”, “an”, “the” aside, are one "
        "answer; it stands where the best of them does and has their probability together. Others "
        "that overlap stay apart, because each is another claim. The order is that of the scores."
        + (f" The table lists the best {kept} places of each answer." if cut else "")
    )


def answers_table(result: QaResult) -> pd.DataFrame:
    """List the places of every answer with their exact numbers."""
    rows = [
        (
            n,
            visible(result.passage[p.start : p.end]),
            p.start,
            p.end,
            p.pieces,
            p.score,
            p.probability,
        )
        for n, answer in enumerate(result.answers, start=1)
        for p in answer.places
    ]
    rows.append((0, "(no answer)", 0, 0, 0, result.null_score, result.null_probability))
    columns = ["answer", "text", "start", "end", "pieces", "score", "probability"]
    return pd.DataFrame(rows, columns=columns)


def describe_answers(result: QaResult) -> str:
    """Describe the answers and their probabilities in one sentence."""
    named = ", ".join(
        f"{visible(answer.text)[:_SHORT]} {percent(answer.probability)}"
        for answer in result.answers
    )
    return f"Answers, best first: {named}; no answer {percent(result.null_probability)}."


def rejected(result: QaResult) -> Html:
    """List the pairs that score higher than the answer, and the rule that each breaks."""
    if not result.rejected:
        return join()
    return tag(
        "details",
        tag("summary", f"Scored higher, but cannot be an answer ({len(result.rejected)})"),
        tag("ul", *(_rejected_row(each, result.longest) for each in result.rejected)),
    )


def _rejected_row(each: Rejected, longest: int) -> Html:
    rule = _BROKEN[each.reason].format(pieces=each.pieces, longest=longest)
    ends = [tag("q", tag("bdi", visible(end[:_SHORT]))) for end in (each.first, each.last)]
    return tag("li", "From ", ends[0], " to ", ends[1], f": {rule} (score {each.score:.2f}).")


def coverage(result: QaResult) -> Html:
    """State how much of the passage was read, and in how many windows."""
    read = result.coverage
    if len(read.windows) == 1:
        return line(
            f"Everything was read at once: {count(read.question, 'piece')} of the question and "
            f"{count(read.pieces, 'piece')} of the passage, {read.tokens:,} tokens with the "
            "added ones."
        )
    first, last = read.windows[read.answer_window]
    return tag(
        "div",
        tag("strong", "Long passage. "),
        f"Its {read.pieces:,} pieces were read in {len(read.windows):,} windows of at most "
        f"{read.tokens:,} tokens, each with the whole question; neighbours share {read.shared:,} "
        "pieces, so nothing was left out and no answer falls into a gap. Each span has its "
        "numbers from the window in which it stands furthest from a cut: the best answer from "
        f"window {read.answer_window + 1:,} (pieces {first:,} to {last:,}). “No answer” is as "
        "likely as the window that believes in it least says.",
        _strip(read),
        class_="bx-note",
    )


def _strip(read: Coverage) -> Html:
    """Draw the windows below each other along the passage, and the place of the answer."""
    windows = read.windows if len(read.windows) <= _DRAWN_WINDOWS else ((0, read.pieces),)
    bars = [
        tag("span", class_=f"bx-qa-window bx-qa-row{number % 3}", style=_place(read, *window))
        for number, window in enumerate(windows)
    ]
    first, last = read.answer
    answer = tag("span", class_="bx-qa-here", style=_place(read, first, last + 1))
    return tag("div", *bars, answer, class_="bx-qa-strip", aria_hidden="true")


def _place(read: Coverage, first: int, end: int) -> str:
    """Return the style of a bar over the pieces from `first` up to but excluding `end`."""
    left, width = first / read.pieces, (end - first) / read.pieces
    return f"left:{left:.3%};width:{width:.3%}"


def threshold_note(result: QaResult) -> Html:
    """Explain what the no-answer score is and what moving the threshold does."""
    once, twice = (math.exp(step / result.has_answer.temperature) for step in (1, 2))
    return line(
        "The no-answer score is the score of “no answer” minus that of the best span: at 0 it is "
        "as likely that the passage answers as that it does not, at +1 “no answer” is "
        f"{once:.1f} times as likely, at +2 it is {twice:.1f} times. Above the threshold the "
        "verdict is “no answer”; a lower threshold says so more readily."
    )


def meaning(result: QaResult) -> Html:
    """Explain what the numbers measure."""
    spans = count(result.candidates, "span")
    return line(
        "A span scores its start logit plus its end logit, “no answer” what the model gives to "
        "[CLS]. How far the best span is above “no answer” tells how likely the passage answers: "
        f"{percent(1 - result.null_probability)}. The softmax of the scores shares that out among "
        f"the {spans} of at most {result.longest:,} pieces that the passage holds{_kept(result)}; "
        "spans that say the same are added up, and the best answer has "
        f"{percent(result.given_answer)} of it. All spans that share a piece with the best one "
        f"hold {percent(result.touching)} together: how sure the model is of the place, whatever "
        "the exact ends. ",
        calibrated(result.calibration, "best answers"),
        _whether(result),
    )


def _whether(result: QaResult) -> str:
    """Name the temperature of "the passage answers", if it differs."""
    if result.has_answer == result.calibration:
        return ""
    data = visible(result.has_answer.fitted_on)
    fitted = f", fitted on {data}" if data else ""
    return (
        " How far the best span is above “no answer” is divided by a temperature of its own, "
        f"{result.has_answer.temperature:.2f}{fitted}."
    )


def _kept(result: QaResult) -> str:
    """Name the rules that spans must follow."""
    kept = [
        name
        for name, asked in (
            ("of whole words", result.rules.whole_words),
            ("within one sentence", result.rules.one_sentence),
        )
        if asked
    ]
    return f" ({', '.join(kept)})" if kept else ""


def overview(results: Sequence[QaResult], threshold: float) -> pd.DataFrame:
    """Return the answers to several questions as one table."""
    return pd.DataFrame(
        {
            "question": [visible(r.question) for r in results],
            "answer": [
                visible(r.answers[0].text) if r.answered(threshold) else "(no answer)"
                for r in results
            ],
            "probability": [r.probability for r in results],
            "no-answer score": [r.no_answer_score for r in results],
            "best span": [visible(r.answers[0].text) for r in results],
        }
    )


def describe_overview(results: Sequence[QaResult], threshold: float) -> str:
    """State in one sentence how many questions were answered."""
    found = sum(result.answered(threshold) for result in results)
    return f"{found} of {len(results)} questions have an answer in the passage."


def question_names(questions: Sequence[str]) -> dict[int, str]:
    """Name the questions to choose from."""
    return {n: plain(f"{n + 1}. {shortened(each, _SHORT)}") for n, each in enumerate(questions)}


def sentence_names(result: QaResult) -> dict[str, int]:
    """Name the sentences near the answer that can be removed, with their numbers."""
    own, count = result.sentence_of_answer(), len(result.sentences)
    first = max(0, min(own - _SENTENCES // 2, count - _SENTENCES))
    names = {}
    for number in range(first, min(count, first + _SENTENCES)):
        start, end = result.sentences[number]
        holds = "  ← the answer starts here" if number == own else ""
        text = shortened(result.passage[start:end].strip(), _SHORT)
        names[plain(f"{number + 1}. {text}{holds}")] = number
    return names


def comparison(result: QaResult, changed: QaResult, threshold: float) -> Html:
    """Explain what removing a sentence changed, and show both answers side by side."""
    before, after = result.answers[0].text, changed.answers[0].text
    same = "stays the same" if before == after else "is another one"
    said = (
        f"Without it the best span {same}. The no-answer score goes from "
        f"{signed(result.no_answer_score, 2)} to {signed(changed.no_answer_score, 2)}."
    )
    parts = [
        tag("div", tag("h3", name), verdict(each, threshold), passage(each, threshold))
        for name, each in (("With it", result), ("Without it", changed))
    ]
    return join(line(said), tag("div", *parts, class_="bx-qa-beside"))
