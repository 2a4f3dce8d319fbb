"""The features of the explorer, one row each, in menu order.

Each slug has one folder (`app/features/<slug>/`: task, result, view and, if visitors enter text,
examples), one page (`pages/<n>_<slug>.py`) and one row here.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bert_core.errors import InputError

_FEATURES = Path(__file__).with_name("features")


@dataclass(frozen=True, slots=True)
class Feature:
    """One page of the explorer.

    Attributes:
        slug: its name in code, files and addresses.
        title: its name on the screen.
        icon: a Material symbol; symbols are bundled, so nothing is fetched.
        page: its script, relative to the root of the checkout.
        summary: one sentence for the home page, a promise rather than a description.
        see: one sentence at the top of the page, saying what is on the screen.
        beware: one sentence saying what must not be concluded from it.
        needs: classes of `bert_core` whose heads must be trained; () for none.
        takes_text: whether visitors enter text; such a page has examples, and other pages can send
            texts to it.
    """

    slug: str
    title: str
    icon: str
    page: str
    summary: str
    see: str
    beware: str
    needs: tuple[str, ...] = ()
    takes_text: bool = True


FEATURES = (
    Feature(
        slug="tokenizer",
        title="Tokenizer",
        icon=":material/content_cut:",
        page="pages/1_tokenizer.py",
        summary="Watch a text fall into the pieces that BERT reads, and see why each cut is made.",
        see="Your text as BERT receives it: pieces of a fixed vocabulary, each with its number.",
        beware="Pieces are cut by frequency, not by meaning: a cut inside a word is neither "
        "grammar nor etymology.",
    ),
    Feature(
        slug="fill_mask",
        title="Fill-mask",
        icon=":material/edit_note:",
        page="pages/2_fill_mask.py",
        summary="Hide a word and let the model guess it from both sides, with its odds.",
        see="What the model would write at each [MASK], and how sure it is of every candidate.",
        beware="A high probability says that a word is usual in such a sentence, not that the "
        "sentence is true; the model repeats the prejudices of the texts it has read.",
        needs=("BertForMaskedLM",),
    ),
    Feature(
        slug="next_sentence",
        title="Next sentence",
        icon=":material/format_line_spacing:",
        page="pages/3_next_sentence.py",
        summary="Ask whether one sentence may follow another, and how sure the model is.",
        see="How strongly the model believes that the second sentence followed the first in "
        "the same text.",
        beware="The test that trained this answer was easy: it notices a change of topic far "
        "better than a break in logic, so a high number is no proof of good sense.",
        needs=("BertForNextSentencePrediction",),
    ),
    Feature(
        slug="attention",
        title="Attention",
        icon=":material/grid_on:",
        page="pages/4_attention.py",
        summary="Open every layer and head, and see which piece looks at which.",
        see="For every layer and head, how much of each piece's attention goes to each other "
        "piece; every row adds up to one.",
        beware="Attention is not an explanation: it shows where a head looks, not why the "
        "model answers as it does.",
    ),
    Feature(
        slug="qa",
        title="Question answering",
        icon=":material/quiz:",
        page="pages/5_qa.py",
        summary="Ask a question and see where in a text the model finds its answer, or finds none.",
        see="The stretch of your text that the model takes for the answer, what else it weighed, "
        "and how near it was to saying that there is no answer.",
        beware="The model marks the words that look most like an answer; it does not know whether "
        "the text is true, and it may be sure of a wrong place.",
        needs=("BertForQuestionAnswering",),
    ),
    Feature(
        slug="ner",
        title="Named entities",
        icon=":material/label:",
        page="pages/6_ner.py",
        summary="Find the persons, places and organisations in a text, each with its score.",
        see="Your text with every name that the model found, marked where it stands, with its "
        "kind and how sure the model is.",
        beware="A mark says that a stretch of text looks like a name in its sentence, not that "
        "such a person or place exists; what is not marked may be a name all the same.",
        needs=("BertForTokenClassification",),
    ),
    Feature(
        slug="model_card",
        title="Model card",
        icon=":material/badge:",
        page="pages/7_model_card.py",
        summary="See what the model was made from, how well it does, and if its files are sound.",
        see="What this model is, how well it did on texts it had never read, and what the card "
        "says that came with its files.",
        beware="A figure holds for the texts it was measured on: yours may be harder, and a good "
        "figure does not make any single answer right.",
        takes_text=False,
    ),
)


def feature(slug: str) -> Feature:
    """Return the row of a slug.

    Raises:
        InputError: no feature has this slug.
    """
    for row in FEATURES:
        if row.slug == slug:
            return row
    known = ", ".join(row.slug for row in FEATURES)
    raise InputError(f"There is no page named {slug!r}. Pages are: {known}.")


ALTERNATIVES = " | "
"""Separates equally good answers within a part of `Mark.wanted`."""

_ABOUT = {"label", "note", "wanted", "model", "seen"}


@dataclass(frozen=True, slots=True)
class Mark:
    """Whether one model answers an example as a person would; `tests/example_marks.py` checks it.

    Attributes:
        right: whether it does.
        wanted: what a person would answer, part by part: the words for each mask, the answer to
            each question, each entity with its kind; () for "nothing".
        seen: what the model answers, and what can be learned from that.
        weights: fingerprint of the weights tested; the mark does not apply to any others.
    """

    right: bool
    wanted: tuple[str, ...]
    seen: str
    weights: str


@dataclass(frozen=True, slots=True)
class Example:
    """One ready-made example of a page.

    Attributes:
        label: the text on its button.
        note: one sentence on what to look at; true of any model.
        values: values for the page's widgets, by key (`text`, `text_pair`, ...).
        mark: how one model did on it; None if there is no single right answer.
    """

    label: str
    note: str
    values: Mapping[str, str | int | float | bool]
    mark: Mark | None = None

    def mark_for(self, weights: str) -> Mark | None:
        """Return the mark if it was made with these weights.

        Args:
            weights: fingerprint of the model that answers.
        """
        return self.mark if self.mark is not None and self.mark.weights == weights else None


@cache
def examples(slug: str) -> tuple[Example, ...]:
    """Read the examples of a page; () if the page takes no text."""
    row = feature(slug)
    return read_examples(_FEATURES / row.slug / "examples.toml") if row.takes_text else ()


def read_examples(path: Path) -> tuple[Example, ...]:
    """Read a file of examples.

    Raises:
        InputError: a mark is neither "right" nor "wrong", or lacks the values that support it.
    """
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Example(
            label=row["label"],
            note=row.get("note", ""),
            values={key: value for key, value in row.items() if key not in _ABOUT},
            mark=_mark(row, read.get("weights", "")),
        )
        for row in read["example"]
    )


def _mark(row: Mapping[str, Any], weights: str) -> Mark | None:
    """Read an example's mark for one model's answer."""
    verdict = row.get("model")
    if verdict is None:
        return None
    if verdict not in {"right", "wrong"} or "wanted" not in row or not weights:
        raise InputError(
            f"The example “{row['label']}” is marked {verdict!r}; expected right or wrong, with "
            "`wanted` beside it and `weights` at the top of its file."
        )
    return Mark(verdict == "right", tuple(row["wanted"]), row.get("seen", ""), weights)
