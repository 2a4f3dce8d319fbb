"""How an answer was read from a passage: the rules that others broke, and the windows."""

from app.features.qa.result import Coverage, QaResult, Reason, Rejected
from app.words.format import count
from app.words.html import Html, join, tag, visible

_DRAWN_WINDOWS = 150
_SHORT = 60  # characters of a quotation

_RULES: dict[Reason, str] = {
    "backwards": "it would end before it starts",
    "long": "it has {pieces:,} pieces; at most {longest:,} are allowed",
    "question": "an answer stands in the passage, not in the question",
    "half_null": "one end says “no answer” and the other does not",
    "special": "a special token is no part of an answer",
    "inside_word": "it would begin or end inside a word",
    "over_sentences": "it would run over the end of a sentence",
}


def rejected(result: QaResult) -> Html:
    """Tell what the model likes better than the answer, and which rule it breaks."""
    if not result.rejected:
        return join()
    return tag(
        "details",
        tag("summary", f"Scored higher, but cannot be an answer ({len(result.rejected)})"),
        tag("ul", *(_rejected_row(each, result.longest) for each in result.rejected)),
    )


def _rejected_row(each: Rejected, longest: int) -> Html:
    rule = _RULES[each.reason].format(pieces=each.pieces, longest=longest)
    ends = [tag("q", tag("bdi", visible(end[:_SHORT]))) for end in (each.first, each.last)]
    return tag("li", "From ", ends[0], " to ", ends[1], f": {rule} (score {each.score:.2f}).")


def coverage(result: QaResult) -> Html:
    """Say how much of the passage was read, and in how many windows."""
    read = result.coverage
    if len(read.windows) == 1:
        return tag(
            "p",
            f"Everything was read at once: {count(read.question, 'piece')} of the question and "
            f"{count(read.pieces, 'piece')} of the passage, {read.tokens:,} tokens with the "
            "added ones.",
            class_="bx-line",
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
    """Draw the windows under each other along the passage, and where the answer stands."""
    windows = read.windows if len(read.windows) <= _DRAWN_WINDOWS else ((0, read.pieces),)
    bars = [
        tag("span", class_=f"bx-qa-window bx-qa-row{number % 3}", style=_place(read, *window))
        for number, window in enumerate(windows)
    ]
    first, last = read.answer
    answer = tag("span", class_="bx-qa-here", style=_place(read, first, last + 1))
    return tag("div", *bars, answer, class_="bx-qa-strip", aria_hidden="true")


def _place(read: Coverage, first: int, end: int) -> str:
    """Place a bar over the pieces from `first` up to `end`, which is not one of them."""
    left, width = first / read.pieces, (end - first) / read.pieces
    return f"left:{left:.3%};width:{width:.3%}"
