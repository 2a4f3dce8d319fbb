"""Drawings of question answering: the answers as bars; where they start and end as curves."""

from typing import Any

import numpy as np

from app.features.qa.result import QaResult
from app.words.format import percent, shortened
from app.words.html import Html, visible
from app.words.panel import NAME, Panel
from app.words.pictures import NARROW, ROWS, WIDE, Picture, captioned_bars, linked, picture, svg

_STEPS = (0.05, 0.1, 0.2, 0.5, 1.0)  # upper limits of the probability axis
_WORDS = {WIDE: 44, NARROW: 16}  # on the axis of the curves
_LETTERS = 16  # of one word on an axis
ANSWER_COLUMNS = ("answer", "text", "start", "end", "score", "probability", "at")


def answers(result: QaResult) -> Picture:
    """Draw the answers and "no answer" as bars."""
    names = [f"{number}. {each.text}" for number, each in enumerate(result.answers, start=1)]
    values = [*(each.probability for each in result.answers), result.null_probability]
    printed = [percent(value) for value in values]
    marked = [number == (0 if result.answered else len(names)) for number in range(len(values))]
    named = ", ".join(f"{visible(each.text)[:60]} {percent(each.probability)}"
                      for each in result.answers)  # fmt: skip
    return picture(
        "qa-answers",
        lambda width: captioned_bars(
            [*names, "no answer"], values, printed, width=width, marked=marked
        ),
        alt=f"Answers, best first: {named}; no answer {printed[-1]}.",
        table=answers_table(result)[:ROWS],
        columns=ANSWER_COLUMNS,
    )


def answers_table(result: QaResult) -> list[tuple[object, ...]]:
    """List the answers with their places, and "no answer" (number 0)."""
    rows: list[tuple[object, ...]] = [
        (number, visible(result.passage[place.start : place.end]), place.start, place.end,
         place.score, place.probability, linked(result.words.positions(place.start, place.end)))
        for number, answer in enumerate(result.answers, start=1) for place in answer.places
    ]  # fmt: skip
    return [*rows, (0, "(no answer)", 0, 0, result.null_score, result.null_probability, "")]


def parts(result: QaResult) -> dict[str, range]:
    """Name the stretches of words that are drawn; the first is around the answer."""
    most, words = _WORDS[WIDE], len(result.words)
    found = {"around the answer": result.words.nearby(most)}
    if words > most:
        stretches = (range(at, min(at + most, words)) for at in range(0, words, most))
        found |= {f"words {each.start:,} to {each.stop - 1:,}": each for each in stretches}
    return found


def curves(result: QaResult, part: range) -> Picture:
    """Draw start and end over some words."""
    words = result.words
    named = []
    for name, values in (("start", words.start_probability), ("end", words.end_probability)):
        top = int(values.argmax())
        text = _word(result, top)[:40]
        named.append(f"{name} highest at “{text}” with {percent(float(values[top]))}")
    return picture(
        "qa-curves",
        lambda width: _curves(result, part, width),
        alt=f"Two curves over the words of the passage: {', '.join(named)}.",
        table=words_table(result, range(len(words)) if len(words) <= ROWS else part),
    )


def words_table(result: QaResult, part: range) -> dict[str, list[Any]]:
    """Return words of the passage with their probabilities."""
    words, here = result.words, slice(part.start, part.stop)
    return {
        "word": [_word(result, number) for number in part],
        "first character": words.starts[here].tolist(),
        "starts here": words.start_probability[here].tolist(),
        "ends here": words.end_probability[here].tolist(),
        "at": [_keys(result, number) for number in part],
    }


def _curves(result: QaResult, part: range, width: int) -> Html:
    words = result.words
    near = words.nearby(_WORDS[width])
    shown = near if near.start in part else part[: _WORDS[width]]
    letters = max(min(len(_word(result, number)), _LETTERS) for number in shown)
    both = {"start": words.start_probability, "end": words.end_probability}
    highest = float(
        np.concatenate([each[shown.start : shown.stop] for each in both.values()]).max()
    )
    high = next((step for step in _STEPS if highest <= step), 1.0)
    panel = Panel((64, width - 8), (40, 230), (shown.start - 0.5, shown.stop - 0.5), (0, high))
    first, last = max(words.answer[0], shown.start), min(words.answer[1], shown.stop - 1)
    if first <= last:  # the answer is in this part of the passage
        panel.span((first - 0.5, last + 0.5), class_="bx-qa-band")
    panel.levels((value, _mark(value)) for value in (0, high / 2, high))
    for name, values in both.items():
        points = [(number, float(values[number])) for number in shown]
        panel.line(points, class_=f"bx-qa-{name}")
        for point in points:
            _point(panel, name, *point)
    for number in shown:
        place = f"rotate(-55 {panel.x(number):.1f} 244)"
        with panel.group(data_at=_keys(result, number)):
            panel.span((number - 0.5, number + 0.5), class_="bx-qa-hit", below=14)
            word = shortened(_word(result, number), _LETTERS)
            panel.text(number, 0, word, dy=14, class_=NAME, transform=place)
    key = Panel.of_units(width, 28)
    if width >= WIDE:
        key.text(4, 14, "share of all probability")
    for x, name in ((width - 344, "start"), (width - 210, "end")):
        key.sample(x, 14, f"{name}s here", 34, class_=f"bx-qa-{name}")
        _point(key, name, x + 17, 14)
    key.span((width - 88, width - 70), (5, 23), class_="bx-qa-band")
    key.text(width - 64, 14, "answer")
    return svg(width, 262 + 7 * letters, *panel.drawn, *key.drawn)


def _point(panel: Panel, name: str, x: float, y: float) -> None:
    if name == "start":
        panel.dot(x, y, 4, class_="bx-qa-start-point")
    else:
        panel.diamond(x, y, 5, 5, class_="bx-qa-end-point")


def _mark(value: float) -> str:
    return percent(value, 1 if round(1000 * value) % 10 else 0, counted=True)


def _word(result: QaResult, number: int) -> str:
    start, end = result.words.starts[number], result.words.ends[number]
    return visible(result.passage[start:end])


def _keys(result: QaResult, number: int) -> str:
    return linked(range(*result.words.pieces[number].tolist()))
