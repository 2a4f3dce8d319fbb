"""The home page's doors: one text through six features, each with a small result.

Every door calls its feature's task and draws the smallest telling part of the result. A feature
whose head the model does not have has no door; one that cannot answer a text says why.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np

from app.catalog import feature
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.features.attention.result import Heads
from app.features.attention.task import attention
from app.features.attention.view_text import doing
from app.features.classification.task import classification
from app.features.fill_mask.result import mask_word
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.view import piece_name
from app.features.ner.task import ner
from app.features.next_sentence.result import IS_NEXT, IS_RANDOM
from app.features.next_sentence.task import next_sentence
from app.features.qa.task import qa
from app.features.qa.task_suggested import suggested
from app.features.tokenizer.task import tokenizer
from app.words.blocks import Html, join, line, share_bar, tag, visible
from app.words.format import count, percent, shortened, signed
from app.words.notes import unread_note
from app.words.pictures import linked, svg
from bert_core.errors import BertError
from bert_core.reading.running import Progress
from bert_core.reading.sentences import split_sentences
from bert_core.reading.unread import unread

FIRST = "Ada Lovelace lived in London. She wrote a program for a machine that was never built."

SHOWN = 6  # doors at most

_PIECES, _CELLS, _WORDS = 40, 16, 60
_CELL = 18  # side of a cell of the small attention map, in units of the drawing

# The features that have a door, in order; the last one where another has none.
DOORS = ("tokenizer", "fill_mask", "attention", "ner", "qa", "next_sentence", "classification")

Texts = dict[str, str]
Maker = Callable[[Engine, str], tuple[Texts, Html]]


@dataclass(frozen=True, slots=True)
class Door:
    """A small result that leads to its page."""

    slug: Annotated[str, "the page"]
    texts: Annotated[Texts, "what the page's boxes get, by key"]
    body: Annotated[Html, "the small result"]


def doors(
    engine: Engine, text: str, question: str = "", progress: Progress | None = None
) -> list[Door]:
    """Run one text through the first features that the model can answer, in the order of the page.

    Args:
        engine: the model.
        text: the text.
        question: what is asked about it; "" for a question that fits it.
        progress: told how many windows of a long text are read, once for each feature that reads
            them all.
    """
    makers: dict[str, Maker] = {
        "tokenizer": _pieces,
        "fill_mask": _hidden_word,
        "attention": _clearest_head,
        "ner": partial(_names, progress=progress),
        "qa": partial(_question, asked=question, progress=progress),
        "next_sentence": _next,
        "classification": _label,
    }
    able = [slug for slug in DOORS if not _lacks(engine, slug)]
    return [_door(slug, makers[slug], engine, text) for slug in able[:SHOWN]]


def without_door(engine: Engine) -> Html:
    """Say which features have no door because the model lacks their head."""
    lacking = [feature(slug).title for slug in DOORS if _lacks(engine, slug)]
    if len(DOORS) - len(lacking) >= SHOWN:
        return join()
    return line("This model has no trained head for: ", ", ".join(lacking), ".")


def _lacks(engine: Engine, slug: str) -> bool:
    found = misfits(engine.facts, feature(slug).needs)
    return any(each.severity is not Severity.REMARK for each in found)


def unread_of(engine: Engine, text: str) -> Html:
    """Warn of what the model's vocabulary cannot read, as the pages do."""
    return unread_note(unread(engine.tokenizer, [engine.tokenizer.encode(text)]))


def suggestion(text: str) -> str:
    """Return a question that fits a text."""
    return suggested(text, "", 1)[0] if text.strip() else ""


def draw(found: Sequence[Door], addresses: Sequence[str] = ()) -> Html:
    """Draw the doors.

    Args:
        found: the doors.
        addresses: where each title leads; () if it is a button that sends its door's number as
            the pick "open".
    """
    cards = []
    for number, door in enumerate(found):
        name, look = f"{feature(door.slug).title} →", "bx-door-title"
        title = (
            tag("a", name, href=addresses[number], class_=look)
            if addresses
            else tag("button", name, type="button", class_=look, data_pick="open",
                     data_value=number)
        )  # fmt: skip
        cards.append(tag("section", tag("h2", title), door.body, class_="bx-door"))
    return tag("div", *cards, class_="bx-doors")


def _door(slug: str, make: Maker, engine: Engine, text: str) -> Door:
    try:
        return Door(slug, *make(engine, text))
    except BertError as error:
        return Door(slug, {"text": text}, line(visible(str(error))))


def _pieces(engine: Engine, text: str) -> tuple[Texts, Html]:
    result = tokenizer(engine, text)
    shown = result.pieces(_PIECES)
    chips = [
        tag(
            "span",
            visible(engine.tokenizer.readable(piece.token)),
            class_="bx-chip",
            data_at=linked([number]),
        )
        for number, piece in enumerate(shown)
    ]
    more = len(result.columns) - len(shown)
    rest = [tag("span", f"… {more:,} more")] if more > 0 else []
    return {"text": text}, tag("p", *chips, *rest, class_="bx-chips")


def _hidden_word(engine: Engine, text: str) -> tuple[Texts, Html]:
    words = [w for w in fill_mask(engine, text).words if w.text.isalpha() and not w.masked]
    if not words:
        return {"text": text}, line("There is no word to hide.")
    hidden = next((w for w in reversed(words[:_WORDS]) if len(w.text) > 3), words[-1])
    asked = mask_word(text, hidden)
    slot = fill_mask(engine, asked, top_k=3).slots[-1]
    rows = [
        tag(
            "li",
            tag("span", visible(piece_name(c.token)), class_="bx-name"),
            share_bar(c.probability),
        )
        for c in slot.candidates
    ]
    says = line(
        "With ",
        tag("strong", visible(shortened(hidden.text, 24))),
        " hidden, the model would write:",
    )
    return {"text": asked}, tag("div", says, tag("ol", *rows, class_="bx-shares"))


def _clearest_head(engine: Engine, text: str) -> tuple[Texts, Html]:
    result = attention(engine, text)
    layer, head = result.telling  # the page opens with the same one
    shown = result.attentions[layer][head][:_CELLS, :_CELLS]  # (T, T), rows look at columns
    size = len(shown) * _CELL
    peak = float(shown.max()) or 1.0
    cells = [
        tag(
            "rect", x=column * _CELL, y=row * _CELL, width=_CELL, height=_CELL,
            class_="bx-heat", style=f"--bx-share:{shown[row, column] / peak:.3f}",
            data_at=linked([int(row)]),
        )
        for row, column in np.ndindex(*shown.shape)
    ]  # fmt: skip
    says = f"Layer {layer}, head {head}. {doing(result, Heads.one(layer, head))}"
    part = "" if len(result.tokens) <= _CELLS else f" The first {_CELLS} pieces are drawn."
    drawing = tag(
        "div", svg(size, size, *cells), role="img", aria_label=says, class_="bx-small-map"
    )
    return {"text": text}, tag("div", drawing, line(says, part))


def _names(engine: Engine, text: str, *, progress: Progress | None) -> tuple[Texts, Html]:
    entities = ner(engine, text, progress=progress).reading.entities
    parts: list[Html | str] = []
    done = 0
    for entity in entities:
        if entity.start < done:
            continue  # drawn already, as part of another one
        label = tag("small", f" {entity.label}")
        parts += [
            visible(text[done : entity.start]),
            tag("mark", visible(text[entity.start : entity.end]), label, class_="bx-small-name"),
        ]
        done = entity.end
    parts.append(visible(text[done:]))
    found = count(len(entities), "name") if entities else "no name"
    return {"text": text}, tag(
        "div", tag("p", *parts, dir="auto"), line(f"The model finds {found}.")
    )


def _question(
    engine: Engine, text: str, *, asked: str, progress: Progress | None
) -> tuple[Texts, Html]:
    question = " ".join(asked.split()) or suggestion(text)
    result = qa(engine, text, question, progress=progress)
    best = result.answers[0].text
    answer = f"“{best}”" if result.answered else "no answer in this text"
    body = tag(
        "div",
        tag("p", visible(question)),
        tag("p", tag("strong", visible(answer), class_="bx-small-answer")),
        line(
            f"The model is {percent(1 - result.null_probability, 0)} sure that there is an answer."
        ),
    )
    return {"text": text, "question": question}, body


def _next(engine: Engine, text: str) -> tuple[Texts, Html]:
    *before, second = split_sentences(text) or [text]
    if not before:
        says = line("Write a second sentence to see whether it follows the first.")
        return {"text": text, "text_pair": ""}, says
    first = " ".join(before)
    result = next_sentence(engine, first, second)
    rows = [
        tag("li", tag("span", name, class_="bx-name"), share_bar(result.probabilities[index]))
        for name, index in (("follows", IS_NEXT), ("does not", IS_RANDOM))
    ]
    says = line("Does “", visible(shortened(second, 120)), "” follow?")
    return {"text": first, "text_pair": second}, tag(
        "div", says, tag("ul", *rows, class_="bx-shares")
    )


def _label(engine: Engine, text: str) -> tuple[Texts, Html]:
    result = classification(engine, text)
    best = [*result.ranking][:3]
    if result.kind == "regression":
        rows = (f"{visible(result.labels[n])} {signed(result.scores[n], 3)}" for n in best)
        return {"text": text}, line(", ".join(rows))
    shares = [
        tag("li", tag("span", visible(result.labels[n]), class_="bx-name"),
            share_bar(result.scores[n]))
        for n in best
    ]  # fmt: skip
    return {"text": text}, tag("ol", *shares, class_="bx-shares")
