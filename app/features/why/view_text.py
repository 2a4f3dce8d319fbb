"""The running text with what each word did: a bar behind it for the answer, below it against.

The sign of a score is its direction and its pattern as well as its colour; its size is a length.
"""

from collections.abc import Sequence
from itertools import pairwise

from app.features.why.result import SIGNED, WhyResult
from app.words.format import signed
from app.words.html import Html, tag, visible
from app.words.pictures import linked


def drawn_text(result: WhyResult, alt: str) -> Html:
    """Draw the texts that the model read, with the scores; `alt` says the same in words."""
    sequences = sorted({word.place.sequence for word in result.words})
    texts = (_one_text(result, sequence) for sequence in sequences)
    return tag("div", *texts, _key(result), class_="bx-why-text", role="group",
               aria_label=visible(alt))  # fmt: skip


def lengths(scores: Sequence[float]) -> list[float]:
    """Return the lengths of bars, negative ones downwards; the longest is 1.

    >>> lengths([2.0, -1.0, 0.0])
    [1.0, -0.5, 0.0]
    """
    most = max(map(abs, scores), default=0.0) or 1.0
    return [score / most for score in scores]


def _one_text(result: WhyResult, sequence: int) -> Html:
    """Draw one of the texts, cut where a word or the answer begins or ends."""
    typed = (result.encoding.text_pair if sequence else result.encoding.text) or ""
    scores = result.story.scores
    rows = [
        row
        for row in zip(result.words, scores, lengths(scores), strict=True)
        if row[0].place.sequence == sequence
    ]
    first, last = rows[0][0].place.start, rows[-1][0].place.end
    asked = [each for each in result.explained.places if each.sequence == sequence]
    places = [*(word.place for word, *_ in rows), *asked]
    inside = {edge for each in places for edge in (each.start, each.end) if first < edge < last}
    parts = []
    for start, end in pairwise([first, *sorted(inside), last]):
        framed = any(each.start <= start < each.end for each in asked)
        look, more = ["bx-why-asked"] * framed, {}
        for word, score, length in rows:
            if word.place.start <= start < word.place.end:
                look += ["bx-why-word", f"bx-why-{kind_of(result.story.method, score)}"]
                more = {"style": f"--bx-share:{abs(length):.3f}", "data_at": linked(word.pieces),
                        "title": visible(f"{word.text}: {printed(result, score)}")}  # fmt: skip
                break
        parts.append(tag("span", visible(typed[start:end]), class_=" ".join(look) or None, **more))
    return tag("p", *parts, dir="auto")


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
    """Explain the bars."""
    has_sign = result.story.method in SIGNED
    most = max(map(abs, result.story.scores), default=0.0)
    unit = f" {result.explained.unit}" if has_sign else ""
    kinds = {"for": "for the answer", "against": "against it"}
    samples = [
        tag("span", tag("i", class_=f"bx-why-sample bx-why-{kind}"), f" {says}")
        for kind, says in (kinds if has_sign else {"size": "size only, no sign"}).items()
    ]
    return tag("p", *samples, tag("span", f"longest: {most:.2f}{unit}"), class_="bx-why-key")
