"""The switchboard and what it tells: which parts matter for this answer."""

from collections.abc import Sequence

from app.features.xray.result import Part, XrayResult, all_parts, names_of, read_parts
from app.features.xray.view_words import effect_words, measure, times
from app.words.blocks import Html, hint, tag, visible
from app.words.format import count, signed
from app.words.panel import NAME, Panel
from app.words.pictures import Picture, picture, svg
from bert_core.analysis.head_statistics import HeadName

Notes = Sequence[Sequence[HeadName]]
SHOWN = 12
"""Parts drawn: those needed most."""

_ROW, _NAME, _NUMBER = 26, 128, 56
_WHAT = {"mean": "its mean over many texts", "zero": "zero"}
RANK_HELP = (
    "Switches off each head and block, one at a time, and measures how the answer changes. “Off "
    "means”, under Settings, chooses what takes its place."
)
SAID = "Click, or hold and drag. ✕ means off."


def board(result: XrayResult, notes: Notes) -> dict[str, object]:
    """Prepare the switchboard for its component; `notes` say what each head does in the text."""
    parts = all_parts(result.layers, result.heads)
    ranks = {each.part: (number, each.effect) for number, each in enumerate(result.ranking, 1)}
    off = set(result.off)
    says = []
    for part in parts:
        words = part.words[0].upper() + part.words[1:]
        if part.place == "head":
            note = notes[part.layer][part.head]
            words += "" if note.name in ("none", "pruned") else f" ({note.name})"
        if part.name in ranks:
            rank, effect = ranks[part.name]
            likely = times(effect, result.question.kind)
            words += f". Without it {signed(effect, 3)} nats: {likely}; no. {rank} of "
            words += f"{len(ranks)}"
        says.append(f"{words}.")
    return {
        "layers": result.layers,
        "heads": result.heads,
        "off": [number for number, part in enumerate(parts) if part.name in off],
        "effects": [ranks[part.name][1] if part.name in ranks else None for part in parts]
        if ranks
        else None,
        "notes": says,
        "said": SAID,
        "label": f"Switchboard: {result.layers} layers of {result.heads} heads, with their "
        "attention and feed-forward blocks.",
    }


def off_by_number(result: XrayResult, numbers: Sequence[int]) -> str:
    """Write the parts of the switchboard with these numbers as links have them."""
    parts = all_parts(result.layers, result.heads)
    return names_of(parts[number] for number in numbers if 0 <= number < len(parts))


def presets(result: XrayResult, notes: Notes) -> dict[str, tuple[Part, ...]]:
    """Return ready-made sets of switches, by their names."""
    parts = all_parts(result.layers, result.heads)

    def heads(*names: str) -> tuple[Part, ...]:
        every = (part for part in parts if part.place == "head")
        return tuple(part for part in every if notes[part.layer][part.head].name in names)

    return {
        "No attention at all": tuple(part for part in parts if part.place == "attention"),
        "No feed-forward at all": tuple(part for part in parts if part.place == "feed_forward"),
        "No attention in the last layer": (Part(result.layers - 1, "attention"),),
        "No heads that look mostly at [CLS] or [SEP]": heads("[CLS]", "[SEP]"),
        "No heads that look at the piece before or after": heads("previous", "next"),
    }


def ranking_picture(result: XrayResult) -> Picture:
    """Draw the parts that the answer needs most, and those without which it would be surer."""
    ranking = result.ranking
    needed = [each for each in ranking if each.effect < 0][:SHOWN]
    better = [each for each in ranking[::-1] if each.effect > 0][: SHOWN // 3]
    shown = (*needed, *better)

    def draw(width: int) -> Html:
        low, high = (abs(each[0].effect) if each else 0.0 for each in (needed, better))
        rows = len(shown)
        panel = Panel((_NAME, width - _NUMBER), (0, _ROW * rows), (-low, high), (rows, 0))
        panel.post(0, class_="bx-svg-base")
        for at, each in enumerate(shown):
            kind = "bx-svg-bar" if each.effect < 0 else "bx-svg-mark"
            panel.text(-low, at + 0.5, _short(read_parts(each.part)[0]), -_NAME)
            panel.span((0, each.effect), (at, at + 1), inset=4, least=1, class_=kind)
            panel.text(high, at + 0.5, signed(each.effect, 2), _NUMBER, class_=NAME)
        return svg(width, max(1, _ROW * rows), *panel.drawn)

    first = effect_words(result, read_parts(ranking[0].part)[0], ranking[0].effect)
    return picture(
        "xray-parts",
        draw,
        alt=f"The parts that {visible(result.followed)} needs most, in nats. {first}",
        table=[
            (read_parts(each.part)[0].words, each.effect, times(each.effect, result.question.kind))
            for each in ranking
        ],
        columns=("part", "change without it (nats)", "in words"),
    )


def _short(part: Part) -> str:
    """Name a part for the picture.

    >>> _short(Part(2, "head", 7)), _short(Part(3, "feed_forward"))
    ('layer 2, head 7', 'layer 3, f.f.')
    """
    what = {"attention": "att.", "feed_forward": "f.f."}.get(part.place, f"head {part.head}")
    return f"layer {part.layer}, {what}"


def ranking_line(result: XrayResult) -> Html:
    """Say in words what the ranking found."""
    ranking, first = result.ranking, result.ranking[0]
    hurt = sum(each.effect < -0.1 for each in ranking)
    helped = sum(each.effect > 0.1 for each in ranking)
    halved = "the probability, +0.69 doubles it as long as it is small"
    if result.question.kind == "next":
        halved = "the odds, +0.69 doubles them"
    return tag(
        "div",
        hint(
            f"Each part is switched off alone, in the whole model: {_WHAT[result.mode]} takes the "
            f"place of what it computes. The number is the change of the {measure(result)}, in "
            f"nats: −0.69 halves {halved}. Parts can replace each other, so these changes do not "
            "add up."
        ),
        tag(
            "p",
            effect_words(result, read_parts(first.part)[0], first.effect),
            f" Of {count(len(ranking), 'part')}, each off alone, {hurt} lower it by more than 0.1 ",
            f"nats and {helped} raise it by more than 0.1 nats.",
        ),
        class_="bx-xr-ranking",
    )
