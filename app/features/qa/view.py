"""Question answering: the answer in words, the passage with its answers marked, what they mean."""

import math
from collections.abc import Iterable, Iterator

from app.features.qa import view_charts as charts
from app.features.qa.result import QaResult
from app.words.blocks import Html, answer, hint, join, line, tag, visible
from app.words.format import count, percent, signed
from app.words.notes import calibrated, shared_note, unread_note
from app.words.pictures import linked, listed
from app.words.screen import Choice, Drawn, Part, Parts, Rows, Screen
from bert_core.reading.passage import Span

INVITATION = "Write a passage and a question or pick an example."
MARKED_FROM = 0.01  # probability from which another answer is marked in the passage

_SURE = 0.5  # probability at which one answer, or one place, outweighs all others together
_LONG = 900  # characters; a longer passage scrolls in a box that starts at its answer
_LINKED = 300  # words around the answer that light up with the pictures


def screen(result: QaResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model."""
    explained = hint(*explanation(result))
    says, more = _answer(result)
    text = Drawn(passage(result), "outcome", passage(result, whole=True))
    shared = shared_note(list(zip(result.words.starts, result.words.ends, strict=True)))
    return Screen(
        headline(result),
        (text, windows(result), shared, *(() if model else (explained,))),
        tabs={"Other answers": lambda: _others(result), "Start and end": lambda: _ends(result)},
        first=(unread_note(result.unread),),
        answer=answer(says, more, kind=_look(result), about=explained),
        why=True,
        asked=(tag("p", tag("strong", "Question: "), visible(result.question)),),
    )


def headline(result: QaResult) -> str:
    """State the model's answer in plain text."""
    if not result.answered:
        share = percent(result.null_probability)
        return (
            f"The model’s answer: none in this passage; “no answer” has {share} of all probability."
        )
    share = f"{percent(result.probability)} of all probability"
    found = f"The model’s answer: “{visible(result.answers[0].text)}”, with {share}."
    return f"{found} {_doubt(result)}".strip()


def _answer(result: QaResult) -> tuple[Html, Html]:
    text = tag("bdi", visible(result.answers[0].text))
    if result.answered:
        share = f"It has {percent(result.probability)} of all probability. {_doubt(result)}"
        return join("“", text, "”"), join(share)
    share = f" “No answer” has {percent(result.null_probability)} of all probability."
    return join("none in this passage."), join(
        "The best guess would be ", tag("q", text), ".", share
    )


def _look(result: QaResult) -> str:
    if not result.answered:
        return "bx-against"
    return "bx-open" if max(result.touching, result.probability) < _SURE else ""


def _doubt(result: QaResult) -> str:
    if result.probability >= _SURE:
        return ""
    around = percent(max(result.touching, result.probability))
    if result.touching >= _SURE:
        return f"The place is clearer than the ends: overlapping answers have {around} together."
    return f"A weak guess: even with all overlapping answers, it has only {around}."


# -- the passage ----------------------------------------------------------------------------------


def passage(result: QaResult, *, whole: bool = False) -> Html:
    """Draw the passage as typed with its answers marked; `whole` at its full height, for a file."""
    long = len(result.passage) > _LONG and not whole
    return tag(
        "div",
        *_marked(result),
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
        (each.best, number, True)
        for number, each in enumerate(result.answers[1:], start=2)
        if each.probability >= MARKED_FROM
    ]
    chosen: list[tuple[Span, int, bool]] = []
    for mark in wanted:
        if all(mark[0].end <= span.start or span.end <= mark[0].start for span, *_ in chosen):
            chosen.append(mark)
    return sorted(chosen, key=lambda mark: mark[0].start)


def _marked(result: QaResult) -> Iterable[Html]:
    done = 0
    for span, number, best in _marks(result):
        yield _typed(result, done, span.start)
        here = None
        if number == 1 and best:
            accepted = ("bx-qa-best", "answer"), ("bx-qa-guess", "not accepted")
            (kind, label), here = accepted[not result.answered], "answer"
        else:
            kind, label = ("bx-qa-other", str(number)) if best else ("bx-qa-again", "same words")
        badge = tag("span", label, class_="bx-qa-badge")
        text = _typed(result, span.start, span.end)
        yield tag("mark", text, badge, class_=f"bx-qa-mark {kind}", data_here=here)
        done = span.end
    yield _typed(result, done, len(result.passage))


def _typed(result: QaResult, start: int, end: int) -> Html:
    words, near = result.words, result.words.nearby(_LINKED)
    parts: list[Html | str] = []
    done = start
    for number in words.covering(start, end):
        first, last = max(done, int(words.starts[number])), min(end, int(words.ends[number]))
        if number not in near or first >= last:  # the second: a part of the character before
            continue
        pieces = range(*words.pieces[number].tolist())
        parts.append(visible(result.passage[done:first]))
        parts.append(
            tag("span", visible(result.passage[first:last]), data_at=linked(pieces),
                tabindex=0 if number == near.start else -1)
        )  # fmt: skip
        done = last
    return join(*parts, visible(result.passage[done:end]))


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


# -- tabs -----------------------------------------------------------------------------------------


def _others(result: QaResult) -> Parts:
    explained = hint(
        "Spans that say the same, apart from capitals, punctuation and “a”, “an”, “the”, are one "
        "answer: it is drawn at the best place and has the probability of all. Overlapping spans "
        "that say something else are listed separately. The order is that of the scores. All "
        f"spans that share a piece with the best one have {percent(result.touching)} of all "
        "probability."
    )
    title = join(explained, line("Bars: share of all probability."))
    rows = Rows(
        "Every place of each answer",
        lambda: listed(charts.answers_table(result), charts.ANSWER_COLUMNS).drop(columns="at"),
        "qa-answers",
    )
    return title, charts.answers(result), rows


def _ends(result: QaResult) -> Parts:
    parts = charts.parts(result)
    title = join(
        hint(
            "A point is the probability that the answer starts, or ends, in this word: the sum "
            "over all spans that do. What is missing from 100 % is “no answer”. A narrow screen "
            "shows fewer words; the table has them."
        ),
        line("Words and punctuation marks are numbered together, from 0."),
    )

    rows = Rows(
        "Every word",
        lambda: listed(charts.words_table(result, range(len(result.words)))).drop(columns="at"),
        "qa-words",
    )
    drawn: Part = Choice(
        "Part of the passage", "around", tuple(parts), 0,
        lambda name: (charts.curves(result, parts[name]),),
    )  # fmt: skip
    if len(parts) == 1:
        drawn = charts.curves(result, *parts.values())
    return title, drawn, rows


# -- what the numbers mean ------------------------------------------------------------------------


def explanation(result: QaResult) -> Iterator[Html]:
    """Explain numbers, marks and threshold, a paragraph each."""
    compared = "not above" if result.answered else "above"
    once, twice = (math.exp(step / result.has_answer.temperature) for step in (1, 2))
    given = result.probability / left if (left := 1.0 - result.null_probability) else 0.0
    rules = {"of whole words": result.rules.whole_words,
             "within one sentence": result.rules.one_sentence}  # fmt: skip
    kept = ", ".join(name for name, asked in rules.items() if asked)
    paragraphs: tuple[Html | str, ...] = (
        f"No-answer score {signed(result.no_answer_score, 2)} (“no answer” "
        f"{signed(result.null_score, 2)}, minus best span {signed(result.best.score, 2)}), "
        f"{compared} the threshold {signed(result.threshold, 1) if result.threshold else '0'}. At "
        f"0 both are equally likely; at +1 “no answer” is {once:.1f} times as likely, at +2 it is "
        f"{twice:.1f} times. Above the threshold (see Settings) the model's answer is “none”.",
        _marks_key(result),
        "The score of a span is its start logit plus its end logit; that of “no answer” is what "
        "the model gives to [CLS]. Comparing the best span with “no answer” gives the probability "
        f"that the passage has an answer: {percent(1 - result.null_probability)}. A softmax of the "
        f"scores divides this among the {count(result.candidates, 'span')} of at most "
        f"{result.longest:,} pieces in the passage{f' ({kept})' if kept else ''}; spans that say "
        f"the same are added up, and the best answer has {percent(given)} of it.",
        join(_whether(result), calibrated(result.calibration, "best answers")),
    )
    for paragraph in paragraphs:
        yield tag("p", paragraph)


def _marks_key(result: QaResult) -> str:
    marks, first = _marks(result), result.answers[0]
    parts = ["Point at a word, and it lights up in the pictures below."]
    if any(number > 1 for _, number, _ in marks):
        parts.append(
            f"Numbers mark further answers with at least {percent(MARKED_FROM, 0)} of all "
            "probability, unless they overlap a better one."
        )
    if any(number == 1 and not best for _, number, best in marks):
        parts.append("“Same words” marks the same answer at another place, where it scores less.")
    if first.count > len(first.places):
        parts.append(
            f"Of the answer’s {first.count:,} places, the best {len(first.places)} are marked."
        )
    return " ".join(parts)


def _whether(result: QaResult) -> str:
    if result.has_answer == result.calibration:
        return ""
    data = visible(result.has_answer.fitted_on)
    fitted = f", fitted on {data}" if data else ""
    return (
        "The lead of the best span over “no answer” is divided by a temperature of its own, "
        f"{result.has_answer.temperature:.2f}{fitted}. "
    )


def snippet(result: QaResult, model: str) -> str:
    """Write the same computation in Python."""
    whole, single = result.rules.whole_words, result.rules.one_sentence
    return f"""from bert_core import BertForQuestionAnswering, load_tokenizer
from bert_core.reading.passage import Rules, answer_question

name = {model!r}
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
