"""The running text with what each word did: a bar behind it for the answer, below it against.

The sign of a score is its direction and its pattern as well as its colour; its size is a length.
"""

from collections.abc import Iterator, Sequence

from app.features.why.result import SIGNED, WhyResult, Word
from app.words.format import signed
from app.words.html import Html, tag, visible
from app.words.pictures import linked


def drawn_text(result: WhyResult, label: str) -> Html:
    """Draw the texts that the model read, each word with its score, and what the bars mean."""
    below = -min(lengths(result.story.scores), default=0.0)
    texts = (
        tag("p", *_marked(result, sequence), class_="bx-text bx-why-text", dir="auto",
            style=f"--bx-below:{max(0.0, below):.3f}")
        for sequence in sorted({word.place.sequence for word in result.words})
    )  # fmt: skip
    return tag("div", *texts, _key(result), role="group", aria_label=label)


def lengths(scores: Sequence[float]) -> list[float]:
    """Return the lengths of bars, negative ones downwards; the longest is 1.

    >>> lengths([2.0, -1.0, 0.0])
    [1.0, -0.5, 0.0]
    """
    most = max(map(abs, scores), default=0.0) or 1.0
    return [score / most for score in scores]


def _marked(result: WhyResult, sequence: int) -> Iterator[Html | str]:
    """Yield one of the texts: its words with their bars, the answer in a frame."""
    scores = result.story.scores
    rows = [
        row
        for row in zip(result.words, scores, lengths(scores), strict=True)
        if row[0].place.sequence == sequence
    ]
    typed = (result.encoding.text_pair if sequence else result.encoding.text) or ""
    asked = [each for each in result.explained.places if each.sequence == sequence]
    done, last = rows[0][0].place.start, rows[-1][0].place.end
    edges = {edge for each in asked for edge in (each.start, each.end) if done <= edge <= last}
    edges |= {edge for word, *_ in rows for edge in (word.place.start, word.place.end)}
    for end in sorted(edges - {done}):
        shown: Html | str = visible(typed[done:end])
        for word, score, length in rows:
            if word.place.start <= done and end <= word.place.end:
                shown = _bar(result, word, shown, score, length)
                break
        if any(each.start <= done and end <= each.end for each in asked):
            shown = tag("span", shown, class_="bx-why-asked")
        yield shown
        done = end


def _bar(result: WhyResult, word: Word, shown: Html | str, score: float, length: float) -> Html:
    """Draw the letters of a word with its bar; it says its score when it is pointed at."""
    return tag(
        "mark", shown, class_=f"bx-why-bar bx-why-{kind_of(result.story.method, score)}",
        style=f"--bx-high:{abs(length):.3f}", data_at=linked(word.pieces),
        title=f"{visible(word.text)}: {printed(result, score)}",
    )  # fmt: skip


def printed(result: WhyResult, score: float) -> str:
    """Print a score, with its sign if the method has one."""
    return signed(score, 3) if result.story.method in SIGNED else f"{score:.3f}"


def kind_of(method: str, score: float) -> str:
    """Return what a bar says: "for" or "against" the answer, "size" without a sign, or "none".

    >>> kind_of("shapley", -0.5), kind_of("attention", 0.1)
    ('against', 'size')
    """
    if not score:
        return "none"
    if method not in SIGNED:
        return "size"
    return "for" if score > 0 else "against"


def _key(result: WhyResult) -> Html:
    signs = result.story.method in SIGNED
    unit = f" {result.explained.unit}" if signs else ""
    most = max(map(abs, result.story.scores), default=0.0)
    kinds = (
        [("for", "for the answer"), ("against", "against it")]
        if signs
        else [("size", "size only, no sign")]
    )
    samples = (
        tag(
            "span", tag("span", class_=f"bx-why-bar bx-why-{kind}", aria_hidden="true"), f" {says} "
        )
        for kind, says in kinds
    )
    return tag("p", *samples, f"longest: {most:.2f}{unit}", class_="bx-line bx-why-key")
