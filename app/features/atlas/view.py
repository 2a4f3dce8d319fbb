"""Pictures, sentences and tables of all heads of a model."""

import math
from collections import Counter

import numpy as np

from app.features.atlas.result import AtlasResult, MappedHead, TypicalText
from app.words.blocks import Html, fold, hint, join, line, pick, record_table, tag, ticked, visible
from app.words.format import count, percent, shortened, signed
from app.words.notes import HEAD_NAMES
from app.words.panel import Panel
from app.words.pictures import NARROW, WIDE, Frame, Picture, listed, svg
from app.words.pixels import pixels
from app.words.screen import Screen

SIGNS = {
    "previous": "←",
    "next": "→",
    "itself": "↻",
    "same piece": "=",
    "punctuation": ",",
    "[CLS]": "C",
    "[SEP]": "S",
    "broad": "∗",
    "none": "·",
}
"""Signs of the patterns, in the order of the legend."""

DOES = {
    "previous": "looks at the previous piece",
    "next": "looks at the next piece",
    "itself": "looks at the piece itself",
    "same piece": "looks at the same piece elsewhere",
    "punctuation": "looks at punctuation",
    "[CLS]": "looks at [CLS]",
    "[SEP]": "looks at [SEP]",
    "broad": "looks at everything almost equally",
    "none": "follows no simple pattern",
}

_HIGH = 440
_PLAIN = 12.0  # radius where no effects are known
_LEAST, _LARGEST = 8.0, 22.0  # radius of a head without an effect, and of that with the largest
_TEXT = 64  # letters of a typical text
_THUMB = 72
_SEEN = 3  # typical texts; the others are folded, a list of their own for the keyboard
PAPER = "Clark et al. 2019"


# --- the map --------------------------------------------------------------------------------------


def map_picture(result: AtlasResult, *, live: bool = False) -> Picture:
    """Draw all heads on a plane: distances are close to those of their attention."""
    names = Counter(head.name for head in result.heads).most_common()
    kinds = ", ".join(f"{name} {number}" for name, number in names)
    return Picture(
        name="head-atlas",
        wide=_map(result, WIDE, live=live),
        narrow=_map(result, NARROW, live=live),
        alt=f"A map of {count(len(result.heads), 'head')}; heads with similar attention are close. "
        f"What they look at: {kinds}. Chosen: {say(result.shown)}.",
        rows=heads_table(result),
        live=live,
    )


def _map(result: AtlasResult, width: int, *, live: bool) -> Html:
    """Draw the map; large heads first, so that small ones are not hidden."""
    edge, heads = _LARGEST + 6, result.heads
    sides = (edge, width - edge), (edge, _HIGH - edge)
    panel = Panel.even(*sides, [(head.x, head.y) for head in heads])
    radii = radius(result, width)
    with panel.group(data_rove="heads"):
        for n in np.argsort(-radii, kind="stable").tolist():
            at = panel.x(heads[n].x), panel.y(heads[n].y)
            panel.drawn.append(_mark(result, n, at, float(radii[n]), live=live))
    here = heads.index(result.shown)
    panel.dot(heads[here].x, heads[here].y, radii[here] + 4, class_="bx-at-ring")
    drawn = [*_keys(result, panel.x(0.25) - panel.x(0), width), *panel.drawn]
    hidden = {} if live else {"aria_hidden": "true"}
    return tag("svg", *drawn, view_box=f"0 0 {width} {_HIGH}", class_="bx-svg",
               xmlns="http://www.w3.org/2000/svg", **hidden)  # fmt: skip


def _keys(result: AtlasResult, long: float, width: int) -> list[Html]:
    """Draw how long a distance is, and which loss the largest circle means."""
    key = Panel.of_units(width, _HIGH)
    key.level(_HIGH - 6, (8, 8 + long), class_="bx-svg-base")
    key.text(8, _HIGH - 20, "distance 0.25")
    most = max((head.effect or 0.0 for head in result.heads), default=0.0)
    if most > 0 and width == WIDE:
        for r in (_LARGEST, _LEAST):
            key.dot(8 + _LARGEST, _HIGH - 66 + _LARGEST - r, r, class_="bx-svg-frame")
        key.text(16 + 2 * _LARGEST, _HIGH - 78, f"{signed(most, 2)} nats")
        key.text(16 + 2 * _LARGEST, _HIGH - 54, "0")
    return key.drawn


def radius(result: AtlasResult, width: int = WIDE) -> np.ndarray:
    """Return the radius of every head: its area grows with the loss without the head."""
    if result.loss is None:
        return np.full(len(result.heads), _PLAIN)
    effects = np.array([head.effect or 0.0 for head in result.heads]).clip(0)
    share = effects / (effects.max() or 1.0)
    size = 0.7 if width < WIDE else 1.0
    return size * np.sqrt(_LEAST**2 + share * (_LARGEST**2 - _LEAST**2))


def _mark(
    result: AtlasResult, number: int, at: tuple[float, float], r: float, *, live: bool
) -> Html:
    """Draw one head: a sign in a circle, whose edge is dashed if the loss falls without it."""
    head = result.heads[number]
    kind = list(SIGNS).index(head.name)
    less = " bx-at-less" if head.effect is not None and head.effect < 0 else ""
    here = head.place == result.asked.place
    buttons: dict[str, str | int] = (
        {
            "role": "button",
            "tabindex": 0 if here else -1,
            "aria_label": say(head),
            "aria_pressed": str(here).lower(),
            "data_pick": "head",
            "data_value": head.layer * result.size[1] + head.head,
        }
        if live
        else {}
    )
    return tag(
        "g",
        tag("title", say(head)),
        tag("circle", r=f"{r:.1f}"),
        tag("text", SIGNS[head.name], class_="bx-at-sign"),
        transform=f"translate({at[0]:.1f} {at[1]:.1f})",
        class_=f"bx-at-mark bx-at-{kind}{less}",
        data_at=f"name.{kind} head.{head.layer}.{head.head}",
        **buttons,
    )


def say(head: MappedHead) -> str:
    """Describe one head in a few words."""
    loses = "" if head.effect is None else f"; loss without it {signed(head.effect, 3)} nats"
    return f"Layer {head.layer}, head {head.head}: {does(head)}{loses}"


def does(head: MappedHead) -> str:
    """Say what a head looks at."""
    share = "" if head.name in ("none", "broad") else f" ({percent(head.score, 0, counted=True)})"
    return DOES[head.name] + share


def legend(result: AtlasResult) -> Html:
    """Draw what the signs mean; pointing at one lights up its heads."""
    counts = Counter(head.name for head in result.heads)
    shown = [(kind, *each) for kind, each in enumerate(SIGNS.items()) if counts[each[0]]]
    items = [
        tag("li", tag("span", sign, class_=f"bx-at-badge bx-at-{kind}"),
            f" {name} {counts[name]}", data_at=f"name.{kind}", tabindex=-1 if number else 0)
        for number, (kind, name, sign) in enumerate(shown)
    ]  # fmt: skip
    says = "What the signs mean"
    return tag("ul", *items, class_="bx-at-legend", aria_label=says, data_rove="legend")


def map_hint(result: AtlasResult) -> Html:
    """Explain the map."""
    loss = "" if result.loss is None else (
        f" The larger a circle, the more the mean loss of {count(result.words, 'hidden word')} "
        "grows without the head (its output is replaced by its mean); a dashed edge means that it "
        "falls. The loss “clearly grows” if the 95 % interval of this growth is above 0; chance "
        "alone would put one head in forty there."
    )  # fmt: skip
    return hint(
        f"Each circle is a head. {HEAD_NAMES}"
        "Two heads are close if they spread their attention alike "
        f"(Jensen-Shannon distance from 0 to 1, mean over {count(result.tokens, 'token')} of "
        f"{count(result.texts, 'text')}). A plane cannot keep all distances: on this map they are "
        f"off by {percent(result.stress, 0, counted=True)} of their size (stress).{loss}"
    )


def headline(result: AtlasResult) -> str:
    """Say how many heads follow which pattern, and how many are needed."""
    names = Counter(head.name for head in result.heads)
    kinds = len(result.heads) - names["none"] - names["broad"]
    says = f"{kinds} of {count(len(result.heads), 'head')} look mostly at one kind of piece"
    if names["broad"]:
        says += f", {names['broad']} almost equally at everything"
    if result.loss is None:
        return f"{says}."
    needed = sum(head.certain and (head.effect or 0) > 0 for head in result.heads)
    return (
        f"{says}. Each head was also switched off alone: the loss on hidden words clearly grows "
        f"for {needed or 'none'} of them."
    )


def heads_table(result: AtlasResult) -> Frame:
    """List every head with its place, its name and what is lost without it."""
    return listed(
        (
            (head.layer, head.head, head.name, head.score, head.x, head.y,
             math.nan if head.effect is None else head.effect,
             math.nan if head.error is None else head.error)
            for head in result.heads
        ),
        ("layer", "head", "looks at", "share", "x", "y", "loss without it (nats)", "± (95 %)"),
    )  # fmt: skip


# --- one head -------------------------------------------------------------------------------------


def head_card(result: AtlasResult) -> Html:
    """Describe the chosen head: what it looks at, what is lost without it, which are like it."""
    head = result.shown
    lines = [tag("p", does(head)[0].upper() + does(head)[1:], ".")]
    if head.effect is not None and head.error is not None and result.loss is not None:
        sure = "" if head.certain else "; the interval contains 0"
        lines.append(
            tag("p", "Loss without it: ", tag("strong", signed(head.effect, 3)),
                f" ± {head.error:.3f} nats (with all heads {result.loss:.2f}){sure}.")
        )  # fmt: skip
    near = [
        tag("button", f"{each.layer}.{each.head}", tag("small", f" {each.distance:.2f}"),
            type="button", data_pick="head",
            data_value=each.layer * result.size[1] + each.head,
            data_at=f"head.{each.layer}.{each.head}",
            aria_label=f"Layer {each.layer}, head {each.head}, distance {each.distance:.2f}")
        for each in result.asked.nearest
    ]  # fmt: skip
    return tag(
        "div",
        tag("h2", f"Layer {head.layer}, head {head.head}"),
        *lines,
        tag("p", "Most like it (layer.head, distance): ", *near, class_="bx-at-near"),
        class_="bx-at-card",
    )


def typical_texts(result: AtlasResult, *, live: bool = False) -> Html:
    """Draw the typical texts of the chosen head, each with a small map of its attention."""
    if not result.asked.texts:
        return line("No text of the hundred shows what this head is named after.")
    title = "Where it does this most"
    if result.shown.name == "none":
        most = next(each.name for each in result.places if each.key == result.asked.measure)
        title = f"No pattern; most attention to: {most.lower() if most[0] != '[' else most}"
    items = [
        _typical(result, number, each, live=live) for number, each in enumerate(result.asked.texts)
    ]
    rove = {"data_rove": "texts"} if live else {}
    seen, more = (
        tag("ol", *part, class_="bx-at-texts", **rove) for part in (items[:_SEEN], items[_SEEN:])
    )
    rest = len(items) - _SEEN
    return join(
        tag("h3", title, class_="bx-at-texts-title"),
        seen,
        fold(f"{rest} more", more) if rest > 0 else "",
    )


def _typical(result: AtlasResult, number: int, text: TypicalText, *, live: bool) -> Html:
    whole = text.text if text.text_pair is None else f"{text.text} | {text.text_pair}"
    share = percent(text.value, 0, counted=True)
    peaks = np.maximum(text.weights.max(axis=1, keepdims=True), 1e-9)  # each row has its own scale
    small_map = svg(
        _THUMB, _THUMB,
        pixels((text.weights / peaks).astype(np.float32), x=0, y=0, width=_THUMB, height=_THUMB),
        tag("rect", x=0.5, y=0.5, width=_THUMB - 1, height=_THUMB - 1, class_="bx-svg-frame"),
    )  # fmt: skip
    inside = [
        tag("span", small_map, class_="bx-at-thumb"),
        tag("span", visible(shortened(whole, _TEXT)), dir="auto"),
        tag("b", share),
    ]
    if not live:
        return tag("li", tag("div", *inside))
    button = tag(
        "button", *inside, title="Open on the page “Attention”",
        **pick("open", number, stop=not number, element="button"),
    )  # fmt: skip
    return tag("li", button)


# --- below ----------------------------------------------------------------------------------------


def findings_table(result: AtlasResult) -> Html:
    """Compare the findings of the paper with this model."""
    rows = [
        (each.says, each.paper, each.here, ticked(each.agrees, "yes" if each.agrees else "no"))
        for each in result.findings
    ]
    columns = ("finding", f"{PAPER}, BERT base", "this model", "the same?")
    return join(
        record_table("Findings about attention heads", columns, rows),
        line(
            f"{PAPER}: Kevin Clark, Urvashi Khandelwal, Omer Levy and Christopher Manning, “What "
            "Does BERT Look At?”; 1,000 pairs of Wikipedia paragraphs of up to 128 tokens. Here: "
            f"{count(result.texts, 'short text')}, so the numbers themselves are not comparable. "
            "Layers count from 0. The paper’s findings about grammar (direct objects, coreference) "
            "need annotated text and are not tested here."
        ),
    )


def screen(result: AtlasResult) -> Screen:
    """Say what is shown."""
    return Screen(
        headline(result),
        (
            legend(result),
            map_picture(result),
            map_hint(result),
            head_card(result),
            typical_texts(result),
            findings_table(result),
        ),
    )


def snippet(result: AtlasResult, model: str) -> str:
    """Write the same computation in Python."""
    return f"""import torch
from bert_core import BertForMaskedLM, load_tokenizer
from bert_core.analysis import head_atlas, name_heads
from bert_core.analysis.similarity import multidimensional_scaling

model = BertForMaskedLM.from_pretrained({model!r})
tokenizer = load_tokenizer({model!r})
atlas = head_atlas(model, tokenizer, progress=print)  # takes a while
layout = multidimensional_scaling(torch.from_numpy(atlas.distances))
print(layout.coordinates, layout.stress)
print(name_heads(atlas.statistics)[{result.asked.layer}][{result.asked.head}])
print(atlas.effects[{result.asked.layer}, {result.asked.head}])
"""
