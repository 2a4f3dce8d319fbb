"""All masks filled together: the joint fillings as bars."""

from app.features.fill_mask.result import Joint, TogetherResult
from app.features.fill_mask.view import axis, chance, explained, piece_name, quoted
from app.words.html import Html
from app.words.pictures import Picture, bars, picture
from app.words.screen import Screen
from bert_core.reading.gaps import Order

TITLE = "Gaps together"

ORDER_NAMES: dict[Order, str] = {"left": "Left to right", "certain": "Surest first"}


def screen(result: TogetherResult) -> Screen:
    """Say what is shown."""
    best = result.fillings[0]
    return Screen(
        f"Together, the model writes {quoted(_name(best))}, {chance(best.probability)}.",
        (together_line(result), together_picture(result)),
    )


def together_line(result: TogetherResult) -> Html:
    """State what the bars are, and how they compare with guessing each mask alone."""
    what = (
        "Probability per piece (geometric mean)"
        if result.most > 1
        else "Probability of all gaps together"
    )
    alone = " … ".join(result.alone)
    rank = next((n for n, each in enumerate(result.fillings, 1) if each.words == result.alone), 0)
    alone_first: Html | str = ""
    if len(result.alone) > 1:
        where = f"number {rank} here" if rank else f"not among these {len(result.fillings)}"
        alone_first = f" The best words of each gap alone, {quoted(alone)}, are {where}."
    return explained(
        f"{what}.{alone_first}",
        more=(
            f"A beam search keeps {result.width} fillings. It fills one mask, lets the model read "
            "the text again, and goes on; the probabilities of the steps are multiplied. The "
            "result depends on the order, so it is called a pseudo-joint probability. A gap of "
            "several pieces takes one word: a beginning and “##” pieces. Fillings of different "
            "lengths are ranked by the geometric mean of their pieces."
        ),
    )


def together_picture(result: TogetherResult) -> Picture:
    """Draw the joint fillings as bars; the best words of each mask alone are highlighted."""
    names = [f"{n}. {_name(each)}" for n, each in enumerate(result.fillings, 1)]
    values = [each.per_piece if result.most > 1 else each.probability for each in result.fillings]
    marked = [len(result.alone) > 1 and each.words == result.alone for each in result.fillings]
    printed = [chance(value) for value in values]
    first = ", ".join(f"{name} {value}" for name, value in zip(names[:5], printed[:5], strict=True))
    return picture(
        "fill-mask-together",
        lambda width: bars(names, values, printed, width=width, top=axis(values), marked=marked),
        alt=f"Bar chart of joint fillings, best first: {first}.",
        table=[
            (rank, _name(each), " | ".join(" ".join(word) for word in each.pieces),
             sum(map(len, each.pieces)), each.probability, each.per_piece)
            for rank, each in enumerate(result.fillings, 1)
        ],
        columns=("rank", "words", "pieces", "number of pieces", "probability", "per piece"),
    )  # fmt: skip


def _name(filling: Joint) -> str:
    return " … ".join(map(piece_name, filling.words))
