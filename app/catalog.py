"""The features of the explorer, one row each, in menu order.

Each slug has one folder (`app/features/<slug>/`: task, result, view and, if visitors enter text,
examples), one page (`pages/<n>_<slug>.py`) and one row here.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from bert_core.errors import InputError

FOLDER = Path(__file__).with_name("features")  # the folders of all features


@dataclass(frozen=True, slots=True)
class Feature:
    """One page of the explorer."""

    slug: Annotated[str, "its name in code, files and addresses"]
    title: Annotated[str, "its name on the screen"]
    icon: Annotated[str, "a Material symbol; symbols are bundled, so nothing is fetched"]
    page: Annotated[str, "its script, from the root of the checkout"]
    group: Annotated[str, "the part of the menu it is in; one of `GROUPS`"]
    see: Annotated[str, "one line at the top of the page, saying what is on the screen"]
    beware: Annotated[str, "one sentence saying what must not be concluded from it"]
    needs: Annotated[
        tuple[str, ...], "classes of `bert_core` whose heads must be trained; () for none"
    ] = ()
    takes_text: Annotated[
        bool,
        "whether visitors enter text; such a page has examples, and other pages send texts to it",
    ] = True
    part_of: Annotated[str, 'the slug of the page that shows this in a tab; "" for a page'] = ""
    gaps: Annotated[bool, 'whether it reads gaps: [MASK], or "___" in its place'] = False
    tab_of: Annotated[
        str,
        'the slug of the page of the Streamlit site that shows this in a tab; "" if it has its own',
    ] = ""
    trains: Annotated[
        bool,
        "whether visitors train a model of their own; the examples of such a page are settings",
    ] = False
    tabular: Annotated[bool, "whether visitors give a table; its examples are tables of ours"] = (
        False
    )

    @property
    def folder(self) -> str:
        """The slug of its page, which is also the name of its folder."""
        return self.part_of or self.slug

    @property
    def has_examples(self) -> bool:
        """Whether something is given on this page, so that there are examples of it."""
        return self.takes_text or self.trains or self.tabular


TEXT, TASKS, INSIDE, LEARNING, ABOUT = "Text", "Tasks", "Inside the model", "Learning", "About"
GROUPS = (TEXT, TASKS, INSIDE, LEARNING, ABOUT)  # the parts of the menu, in order

HOME = "pages/0_home.py"  # the first page; it shows several features and belongs to none

# The page of the lessons; like the first page, it belongs to no feature.
LESSONS = "pages/17_lessons.py"

FEATURES = (
    Feature(
        slug="tokenizer",
        title="Tokenizer",
        icon=":material/content_cut:",
        page="pages/1_tokenizer.py",
        group=TEXT,
        see="See a text cut into the pieces that the model reads.",
        beware="Pieces follow statistics, not meaning: a cut inside a word is neither grammar nor "
        "etymology.",
    ),
    Feature(
        slug="fill_mask",
        title="Fill-mask",
        icon=":material/edit_note:",
        page="pages/2_fill_mask.py",
        group=TASKS,
        see="Hide a word and see what the model would write there.",
        beware="A probable word is common in such sentences; the sentence may still be false or "
        "repeat a prejudice.",
        needs=("BertForMaskedLM",),
        gaps=True,
    ),
    Feature(
        slug="next_sentence",
        title="Next sentence",
        icon=":material/format_line_spacing:",
        page="pages/3_next_sentence.py",
        group=TASKS,
        see="Ask whether one sentence follows another.",
        beware="Sentences about one topic may count as following, even against logic.",
        needs=("BertForNextSentencePrediction",),
    ),
    Feature(
        slug="qa",
        title="Question answering",
        icon=":material/quiz:",
        page="pages/5_qa.py",
        group=TASKS,
        see="Ask a question; the model marks the answer in a passage.",
        beware="A likely answer may be wrong, and so may the passage.",
        needs=("BertForQuestionAnswering",),
    ),
    Feature(
        slug="ner",
        title="Named entities",
        icon=":material/label:",
        page="pages/6_ner.py",
        group=TASKS,
        see="See the names that the model finds in a text, and how sure it is.",
        beware="Marked words look like names in their sentence; unmarked words may be names too.",
        needs=("BertForTokenClassification",),
    ),
    Feature(
        slug="classification",
        title="Classification",
        icon=":material/category:",
        page="pages/8_classification.py",
        group=TASKS,
        see="See which label the model gives a text.",
        beware="The model knows only its own labels. It must choose among them even if none fits.",
        needs=("BertForSequenceClassification",),
    ),
    Feature(
        slug="multiple_choice",
        title="Multiple choice",
        icon=":material/checklist:",
        page="pages/8_classification.py",
        group=TASKS,
        see="Offer several endings or answers and see which one the model chooses.",
        beware="The best choice need not be right: all of them may be wrong.",
        needs=("BertForMultipleChoice",),
        tab_of="classification",
    ),
    Feature(
        slug="data",
        title="Data",
        icon=":material/table_view:",
        page="pages/18_data.py",
        group=TASKS,
        see="Send a table through a task and see where the model is right.",
        beware="A share applies to rows like these, and a share of few rows means little.",
        takes_text=False,
        tabular=True,
    ),
    Feature(
        slug="attention",
        title="Attention",
        icon=":material/grid_on:",
        page="pages/4_attention.py",
        group=INSIDE,
        see="See where each head of each layer looks.",
        beware="Attention is not an explanation: it shows where a head looks, not why the model "
        "answers as it does.",
        gaps=True,
    ),
    Feature(
        slug="xray",
        title="X-ray",
        icon=":material/radiology:",
        page="pages/12_xray.py",
        group=INSIDE,
        see="See the whole model at work, and switch parts off.",
        beware="That an answer needs a part does not show what the part is for; others may replace "
        "it.",
        gaps=True,
    ),
    Feature(
        slug="why",
        title="Why?",
        icon=":material/balance:",
        page="pages/14_why.py",
        group=INSIDE,
        see="See which words speak for an answer, and which against.",
        beware="Scores say what the model depends on, not whether it is right.",
        gaps=True,
    ),
    Feature(
        slug="atlas",
        title="Head atlas",
        icon=":material/hub:",
        page="pages/13_atlas.py",
        group=INSIDE,
        see="See all attention heads on one map: which are alike, and which are needed.",
        beware="A head is named after what it does most, not after all it does; and heads replace "
        "each other, so the loss without one does not measure all that it does.",
        takes_text=False,
    ),
    Feature(
        slug="input",
        title="Vectors",
        icon=":material/input:",
        page="pages/1_tokenizer.py",
        group=INSIDE,
        see="See the numbers that the first layer receives: word + position + segment.",
        beware="Pieces with similar vectors occur in similar places. They need not mean the same: "
        "opposites occur in similar places too.",
        tab_of="tokenizer",
    ),
    Feature(
        slug="senses",
        title="Senses",
        icon=":material/scatter_plot:",
        page="pages/11_senses.py",
        group=INSIDE,
        see="Are the meanings of a word kept apart?",
        beware="Vectors reflect position, grammar and topic as well as meaning.",
    ),
    Feature(
        slug="lab",
        title="The lab",
        icon=":material/science:",
        page="pages/16_lab.py",
        group=LEARNING,
        see="Watch a tiny BERT learn.",
        beware="A model this small learns the patterns of its training sentences, not a language.",
        takes_text=False,
        trains=True,
    ),
    Feature(
        slug="variants",
        title="Variants",
        icon=":material/account_tree:",
        page="pages/15_variants.py",
        group=LEARNING,
        see="See how BERT and five models based on it differ in size and cost.",
        beware="Size and operations say what a model costs, not how good its answers are.",
        takes_text=False,
    ),
    Feature(
        slug="model_card",
        title="Model card",
        icon=":material/badge:",
        page="pages/7_model_card.py",
        group=ABOUT,
        see="See what this model is and how well it does on texts it has never read.",
        beware="A figure applies to the texts it was measured on; yours may be harder.",
        takes_text=False,
    ),
)


def pages() -> tuple[Feature, ...]:
    """Return the features that have a page of their own on the Streamlit site."""
    return tuple(row for row in FEATURES if not row.tab_of)


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


_ABOUT = {"label", "note", "wanted"}


@dataclass(frozen=True, slots=True)
class Example:
    """One ready-made example of a page."""

    label: Annotated[str, "the text on its button"]
    note: Annotated[str, "one sentence on what to look at; true of any model"]
    values: Annotated[
        Mapping[str, str | int | float | bool], "of the page's widgets, by key (`text`, ...)"
    ]


@cache
def examples(slug: str) -> tuple[Example, ...]:
    """Read the examples of a page; () if nothing is given on it."""
    row = feature(slug)
    if not row.has_examples:
        return ()
    path = FOLDER / row.slug / "examples.toml"
    return tuple(
        Example(
            label=each["label"],
            note=each.get("note", ""),
            values={key: value for key, value in each.items() if key not in _ABOUT},
        )
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["example"]
    )
