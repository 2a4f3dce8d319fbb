"""Markup and words of the question-answering page.

In order: the verdict and the marked passage, which are the main picture; several questions at once;
why a span cannot be an answer; what the numbers mean; the page as code. Drawings
are in `view_charts`.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import cast

import pandas as pd

from app.features.qa.result import QaResult, Reason, Rejected
from app.words.blocks import hint, line
from app.words.clicks import pick
from app.words.format import count, percent, signed
from app.words.html import Html, join, tag, visible
from app.words.notes import calibrated, shared_note
from app.words.pictures import linked
from bert_core.reading.passage import Span

HINT, WHO = "Paste a text that contains the answer.", "Who? When? Where? …"
"""What the empty boxes suggest."""

ASK = "Questions, one per line"
"""The label of the question's box."""

MARKED_FROM = 0.01
"""Probability from which another answer is marked in the passage."""

_SURE = 0.5  # probability at which one answer, or one place, outweighs all others together
_LONG = 900  # characters; a longer passage scrolls in a box that starts at its answer
_LINKED = 300  # words around the answer that light up with the pictures
_SHORT = 60  # characters of a quotation

_BROKEN: dict[Reason, str] = {
    "backwards": "it would end before it starts",
    "long": "it has {pieces:,} pieces; at most {longest:,} are allowed",
    "question": "an answer is in the passage, not in the question",
    "half_null": "one end says “no answer” and the other does not",
    "special": "a special token cannot be part of an answer",
    "inside_word": "it would begin or end inside a word",
    "over_sentences": "it would cross the end of a sentence",
}


def outcome(result: QaResult) -> Html:
    """Draw the main picture: the verdict above the passage with its answers marked."""
    about = hint(*explanation(result))
    parts = verdict(result, about), passage(result)
    return tag("div", *parts, windows(result), shared(result), class_="bx-qa-outcome")


def verdict(result: QaResult, *more: Html) -> Html:
    """Draw the model's answer in words.

    Args:
        result: the result.
        more: what follows, such as an explanation.
    """
    best, found = result.answers[0], result.answered
    text = tag("bdi", visible(best.text))
    unsure = found and max(result.touching, result.probability) < _SURE
    kind = "" if found else "bx-qa-none"
    if found:
        said = [tag("strong", "“", text, "”", class_="bx-qa-answer")]
        share = f"It has {percent(result.probability)} of all probability. {_doubt(result)}"
    else:
        said = [tag("strong", "none in this passage.", class_="bx-qa-answer"),
                join(" The best guess would be ", tag("q", text), ".")]  # fmt: skip
        share = f"“No answer” has {percent(result.null_probability)} of all probability."
    return tag(
        "div",
        tag(
            "p",
            tag("span", "The model’s answer: ", class_="bx-quiet"),
            *said,
            tag("span", share, class_="bx-line"),
        ),
        *more,
        class_=f"bx-qa-verdict {'bx-qa-unsure' if unsure else kind}".strip(),
        role="status",
    )


def headline(result: QaResult) -> str:
    """State the model's answer in plain text."""
    if not result.answered:
        share = percent(result.null_probability)
        return (
            f"The model’s answer: none in this passage; “no answer” has {share} of all probability."
        )
    share = f"{percent(result.probability)} of all probability"
    answer = f"The model’s answer: “{visible(result.answers[0].text)}”, with {share}."
    return f"{answer} {_doubt(result)}".strip()


def _doubt(result: QaResult) -> str:
    """Explain what remains open if the answer has less than half of all probability."""
    if result.probability >= _SURE:
        return ""
    around = percent(max(result.touching, result.probability))
    if result.touching >= _SURE:
        return f"The place is clearer than the ends: overlapping answers have {around} together."
    return f"A weak guess: even with all overlapping answers, it has only {around}."


def passage(result: QaResult, *, whole: bool = False) -> Html:
    """Draw the passage as typed, its answers marked and its rejected spans explained.

    Args:
        result: the result.
        whole: whether a long passage is drawn at its full height, for a file.
    """
    long = len(result.passage) > _LONG and not whole
    return tag(
        "div",
        *_marked(result, accepted=result.answered),
        class_="bx-text bx-qa-passage bx-scroll" if long else "bx-text bx-qa-passage",
        dir="auto",
        role="group",
        aria_label="The passage with the model's answers marked",
        data_rove="words",
    )


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


def _marked(result: QaResult, *, accepted: bool) -> Iterable[Html]:
    """Draw the passage stretch by stretch: plain words, marks, and why a span is rejected."""
    done, notes = 0, _why_notes(result)
    for span, number, best in _marks(result):
        for end in sorted(end for end in notes if done <= end <= span.start):
            yield from (_typed(result, done, end), notes.pop(end))
            done = end
        yield _typed(result, done, span.start)
        yield _mark(result, span, number, best=best, accepted=accepted)
        done = span.end
        yield from (notes.pop(end) for end in sorted(notes) if end <= done)
    for end, why in sorted(notes.items()):
        yield from (_typed(result, done, end), why)
        done = end
    yield _typed(result, done, len(result.passage))


def _typed(result: QaResult, start: int, end: int) -> Html:
    """Draw a stretch as typed; words near the answer are linked to the pictures."""
    words, near = result.words, result.words.nearby(_LINKED)
    parts: list[Html | str] = []
    done = start
    for number in words.covering(start, end):
        if number not in near:
            continue
        first, last = max(done, int(words.starts[number])), min(end, int(words.ends[number]))
        if first >= last:  # a part of the character before
            continue
        pieces = range(*words.pieces[number].tolist())
        parts.append(visible(result.passage[done:first]))
        parts.append(
            tag("span", visible(result.passage[first:last]), data_at=linked(pieces),
                tabindex=0 if number == near.start else -1)
        )  # fmt: skip
        done = last
    return join(*parts, visible(result.passage[done:end]))


def _mark(result: QaResult, span: Span, number: int, *, best: bool, accepted: bool) -> Html:
    """Mark one span, labelling the best answer by name and the others by number."""
    here = None
    if number == 1 and best:
        kind, label = ("bx-qa-best", "answer") if accepted else ("bx-qa-guess", "not accepted")
        here = "answer"
    else:
        kind, label = ("bx-qa-other", str(number)) if best else ("bx-qa-again", "same words")
    badge = tag("span", label, class_="bx-qa-badge")
    text = _typed(result, span.start, span.end)
    return tag("mark", text, badge, class_=f"bx-qa-mark {kind}", data_here=here)


def _why_notes(result: QaResult) -> dict[int, Html]:
    """Draw, for each place where rejected spans end, a sign that unfolds the reasons."""
    placed = sorted((each for each in result.rejected if each.place), key=_ends_at)
    return {
        end: tag(
            "details",
            tag("summary", "✕", aria_label="Why was this rejected?",
                data_at=at(result, cast(tuple[int, int], same[0].place))),
            tag("span", *(tag("span", why(each, result.longest)) for each in same)),
            class_="bx-qa-why",
        )
        for end, same in ((end, list(group)) for end, group in groupby(placed, key=_ends_at))
    }  # fmt: skip


def _ends_at(each: Rejected) -> int:
    return each.place[1] if each.place else -1


def at(result: QaResult, place: tuple[int, int]) -> str:
    """Return the keys that light up the words of a place of the passage."""
    return linked(result.words.positions(*place)[:_LINKED])


def why(each: Rejected, longest: int) -> Html:
    """Explain why a span that scores higher than the answer is rejected."""
    return join(_ends(each), f" scores more than the answer, but {reason(each, longest)}.")


def _ends(each: Rejected) -> Html:
    """Name a rejected pair by its ends and its score."""
    return join(
        "“", tag("bdi", visible(each.first[:_SHORT])), "” to “",
        tag("bdi", visible(each.last[:_SHORT])), f"” ({number(each.score)})",
    )  # fmt: skip


def number(value: float) -> str:
    """Print a score.

    >>> number(-0.5)
    '−0.50'
    """
    return f"{value:.2f}".replace("-", "−")


def reason(each: Rejected, longest: int) -> str:
    """Name the rule that a pair of ends breaks."""
    return _BROKEN[each.reason].format(pieces=each.pieces, longest=longest)


def rejected(result: QaResult) -> Html:
    """List the pairs that score higher than the answer, by the rule that they break."""
    if not result.rejected:
        return join()
    rules: dict[str, list[Html]] = {}
    for each in result.rejected:
        keys = at(result, each.place) if each.place else None
        pair = tag("span", _ends(each), data_at=keys, tabindex=0 if keys else None)
        rules.setdefault(reason(each, result.longest), []).append(pair)
    rows = (tag("li", join(*pairs, by=", "), f": {rule}.") for rule, pairs in rules.items())
    return tag("div", line("Rejected, though the score (in brackets) is higher:"), tag("ul", *rows))


def windows(result: QaResult) -> Html:
    """State, for a long passage, in how many windows it was read."""
    read = result.coverage
    if len(read.windows) == 1:
        return join()
    first, last = read.windows[read.answer_window]
    return line(
        f"Its {read.pieces:,} pieces were read in {len(read.windows):,} overlapping windows; the "
        f"answer's numbers come from window {read.answer_window + 1:,} (pieces {first:,} to "
        f"{last - 1:,})."
    )


def noted(said: str, *explained: str) -> Html:
    """Draw a muted line with an explanation that unfolds."""
    return tag("div", said, hint(*explained), class_="bx-line bx-qa-noted")


def explanation(result: QaResult) -> list[Html]:
    """Explain the verdict, the marks, the numbers and the threshold, a paragraph each."""
    parts = (
        figures(result),
        marks_key(result),
        meaning(result),
        threshold_note(result),
        trust(result),
    )
    return [tag("p", part) for part in parts]


def figures(result: QaResult) -> Html:
    """State the numbers that the verdict is based on."""
    compared = "not above" if result.answered else "above"
    return join(
        f"No-answer score {signed(result.no_answer_score, 2)} (“no answer” "
        f"{signed(result.null_score, 2)}, minus best span {signed(result.best.score, 2)}), "
        f"{compared} the threshold {signed(result.threshold, 1) if result.threshold else '0'}."
    )


def marks_key(result: QaResult) -> Html:
    """Explain the marks used in this passage."""
    marks = _marks(result)
    parts = ["Point at a word, and it lights up in the pictures below."]
    if any(number > 1 for _, number, _ in marks):
        parts.append(
            f"Numbers mark further answers with at least {percent(MARKED_FROM, 0)} of all "
            "probability, unless they overlap a better one."
        )
    if any(number == 1 and not best for _, number, best in marks):
        parts.append("“Same words” marks the same answer at another place, where it scores less.")
    first = result.answers[0]
    if first.count > len(first.places):
        parts.append(
            f"Of the answer’s {first.count:,} places, the best {len(first.places)} are marked."
        )
    if any(each.place for each in result.rejected):
        parts.append("A ✕ marks the end of a rejected span that scores higher: open it to see why.")
    return join(" ".join(parts))


def threshold_note(result: QaResult) -> Html:
    """Explain what the no-answer score is and what moving the threshold does."""
    once, twice = (math.exp(step / result.has_answer.temperature) for step in (1, 2))
    return join(
        "The no-answer score is the score of “no answer” minus that of the best span. At 0 both "
        f"are equally likely; at +1 “no answer” is {once:.1f} times as likely, at +2 it is "
        f"{twice:.1f} times. Above the threshold (see Settings) the model's answer is “none”."
    )


def meaning(result: QaResult) -> Html:
    """Explain what the numbers measure."""
    spans = count(result.candidates, "span")
    return join(
        "The score of a span is its start logit plus its end logit; that of “no answer” is what "
        "the model gives to [CLS]. Comparing the best span with “no answer” gives the probability "
        f"that the passage has an answer: {percent(1 - result.null_probability)}. A softmax of the "
        f"scores divides this among the {spans} of at most {result.longest:,} pieces in the "
        f"passage{_kept(result)}; spans that say the same are added up, and the best answer has "
        f"{percent(result.given_answer)} of it."
    )


def shared(result: QaResult) -> Html:
    """Say that words share a character, if some do."""
    return shared_note(list(zip(result.words.starts, result.words.ends, strict=True)))


def trust(result: QaResult) -> Html:
    """Say how far to trust the numbers."""
    return join(_whether(result), calibrated(result.calibration, "best answers"))


def _whether(result: QaResult) -> str:
    """Name the temperature of "the passage answers", if it differs."""
    if result.has_answer == result.calibration:
        return ""
    data = visible(result.has_answer.fitted_on)
    fitted = f", fitted on {data}" if data else ""
    return (
        "The lead of the best span over “no answer” is divided by a temperature of its own, "
        f"{result.has_answer.temperature:.2f}{fitted}. "
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


def answers_note(result: QaResult) -> Html:
    """Explain how equal and overlapping answers are treated."""
    cut = any(answer.count > len(answer.places) for answer in result.answers)
    kept = max(len(answer.places) for answer in result.answers)
    return noted(
        "Bars: share of all probability.",
        "Spans that say the same, apart from capitals, punctuation and “a”, “an”, “the”, are one "
        "answer: it is drawn at the best place and has the probability of all. Overlapping spans "
        "that say something else are listed separately. The order is that of the scores. All "
        f"spans that share a piece with the best one have {percent(result.touching)} of all "
        "probability."
        + (f" The table lists the best {kept} places of each answer." if cut else ""),
    )


def suggestions(questions: Sequence[str]) -> Html:
    """Draw questions that a click asks."""
    if not questions:
        return join()
    buttons = (
        tag("button", visible(question), class_="bx-button bx-qa-try",
            **pick("suggest", number, stop=number == 0, element="button"))
        for number, question in enumerate(questions)
    )  # fmt: skip
    return tag("p", "Try: ", *buttons, class_="bx-line bx-qa-tries", data_rove="questions")


def answered_list(results: Sequence[QaResult], shown: int) -> Html:
    """List several questions with the model's answers; a click shows one in the passage."""
    rows = (
        tag("li", tag(
            "button",
            tag("span", f"{number + 1}. {visible(each.question)}"),
            tag("strong", tag("bdi", visible(each.answers[0].text)))
            if each.answered else tag("em", "none in this passage"),
            class_="bx-qa-asked", **pick("ask", number, stop=number == shown, element="button"),
            aria_current="true" if number == shown else None,
        ))
        for number, each in enumerate(results)
    )  # fmt: skip
    return tag("ol", *rows, class_="bx-qa-questions", data_rove="asked")


def overview(results: Sequence[QaResult]) -> pd.DataFrame:
    """Return the answers to several questions as one table."""
    return pd.DataFrame(
        {
            "question": [visible(r.question) for r in results],
            "answer": [
                visible(r.answers[0].text) if r.answered else "(no answer)" for r in results
            ],
            "probability": [r.probability for r in results],
            "no-answer score": [r.no_answer_score for r in results],
            "best span": [visible(r.answers[0].text) for r in results],
        }
    )


def snippet(result: QaResult) -> str:
    """Write the same computation in Python."""
    whole, single = result.rules.whole_words, result.rules.one_sentence
    return f"""from bert_core import BertForQuestionAnswering, load_tokenizer
from bert_core.reading.passage import Rules, answer_question

name = {result.model!r}
model = BertForQuestionAnswering.from_pretrained(name)
tokenizer = load_tokenizer(name)
passage = {result.passage!r}
question = {result.question!r}

found = answer_question(
    model, tokenizer, passage, question, longest={result.longest},
    rules=Rules(whole_words={whole}, one_sentence={single}),
)
for answer in found.best({len(result.answers)}):
    print(f"{{answer.probability:.1%}}  {{answer.text}}")
print(f"{{found.null_probability:.1%}}  (no answer)")
"""
