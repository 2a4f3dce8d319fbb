"""Every feature is declared, so that every interface can be made from the declaration."""

import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from inspect import getmembers, isfunction, signature
from pathlib import Path

import pytest

from app.catalog import FEATURES, examples
from app.declared import Parameter, all_declared, declared, tabs
from app.engine.models import Engine
from app.lessons.shelf import glossary
from app.records.fields import Field
from app.settings import ROOT
from app.words.screen import Report
from bert_core.errors import InputError
from tests.made_up import needed, registered

NAMES = [each.feature.slug for each in all_declared()]

MODELS = "tiny-model explorer-mini-uncased"
_COLUMN = re.compile(r'<th scope="col"[^>]*>(.*?)</th>')
_WORD = re.compile(r"\b(?<!-)[a-z][a-z-]+")

PAGES_ONLY = {
    "other_models": "the names in a box of the page",
    "ranked_heads": "the answer of `attention` ranks all heads; the page sorts them in other ways",
    "temperatures": "stored with the weights; each answer has its own as `calibration`",
    "explainable": "the answers in a box of the page",
    "text_of": "what was read, for the drawing",
    "head_notes": "of the head that is pointed at",
    "cancel": "computes nothing",
    "verify_model": "runs for seconds: `python -m bert_core verify` does the same",
}
"""What only the Streamlit pages compute, and why no other interface does."""

RESERVED = {"model", "json", "html", "help", "task", "engine"}
"""Names that the interfaces themselves use."""


@pytest.fixture
def made_up() -> Iterator[str]:
    """The slug of a feature that exists only in this test."""
    with registered() as slug:
        yield slug


@pytest.mark.parametrize("slug", NAMES)
def test_a_task_says_what_it_takes_and_what_it_gives(slug: str) -> None:
    found = declared(slug)
    assert found.about.endswith(".") and len(found.about) > 20
    given = found.feature.has_examples and not found.feature.part_of
    assert found.parameters or not given
    assert is_dataclass(found.result)
    for each in found.parameters:
        assert each.about.endswith("."), f"{slug}: {each.name} is not described"
        assert each.name not in RESERVED
        text = each.kind in (str, list) and not each.choices
        assert (each.field.lines > 0) == text, f"{slug}: how high is the box of {each.name}?"
        assert each.required or each.read(each.default) == each.default


@pytest.mark.parametrize("slug", [row.slug for row in FEATURES if row.has_examples])
def test_every_example_can_be_given_to_the_tasks_of_its_page(slug: str) -> None:
    tasks = [declared(name) for name in (slug, *tabs(slug))]
    keys = {each.key for task in tasks for each in task.parameters}
    assert all(example.values.keys() <= keys for example in examples(slug))
    for task in tasks:
        assert task.examples
        for example in task.examples:
            given = task.read(task.example_values(example.values))
            assert {each.name for each in task.parameters if each.required} <= given.keys()


def test_what_a_page_computes_is_in_every_face_or_named_here() -> None:
    pages = [*(ROOT / "pages").glob("*.py"), *(ROOT / "app/faces/streamlit/features").glob("*.py")]
    used = {name for path in pages for name in re.findall(r"(\w+)\(", path.read_text("utf-8"))}
    tasks = [each.task for each in all_declared()]
    offered = {name for task in tasks for name in (task.__name__, *task.__code__.co_names)}
    assert (used & asking_the_model()) - offered == set(PAGES_ONLY)


def asking_the_model() -> set[str]:
    """The names of all functions in modules of tasks whose first argument is the engine."""
    found = set()
    for path in (ROOT / "app" / "features").glob("*/task*.py"):
        module = import_module(f"app.features.{path.parent.name}.{path.stem}")
        for name, function in getmembers(module, isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            if own and [*signature(function).parameters][:1] == ["engine"]:
                found.add(name)
    return found


def test_a_parameter_is_read_from_signature_and_docstring(made_up: str) -> None:
    text, layer, share, how, many, on = declared(made_up).parameters  # and nothing of `progress`
    assert (text.kind, text.required, text.field.label) == (str, True, "A text")
    assert (layer.kind, layer.optional, layer.default, layer.key) == (int, True, None, "at")
    assert (share.kind, share.about) == (float, "a share; it goes over two lines.")
    assert (how.choices, how.default, how.key) == (("mean", "max"), "mean", "how")
    assert (many.kind, on.kind, on.field) == (list, bool, Field("On"))
    assert all_declared()[-1] is declared(made_up)
    assert declared(made_up).about == "Split a text at its spaces."


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("text", 3, "text: found a whole number; expected a text."),
        ("text", None, "text: found nothing; expected a text."),
        ("layer", "3", "layer: found a text; expected a whole number from 0 to 9."),
        ("layer", True, "found true or false"),
        ("layer", 2.5, "found a number"),
        ("layer", 10, "layer: found 10; expected a whole number from 0 to 9."),
        ("layer", -1, "found -1"),
        ("share", float("nan"), "share: found nan; expected a number."),
        ("share", float("inf"), "found inf"),
        ("share", "1", "found a text"),
        ("how", "sum", "how: found 'sum'; expected mean or max."),
        ("how", ["mean"], "found a list"),
        ("many", 3, "found a whole number"),
        ("many", ["a", 3], "found a list with something else in it"),
        ("many", {"a": 1}, "found an object"),
        ("many", b"ab", "found bytes"),
        ("on", 1, "on: found a whole number; expected true or false."),
    ],
)
def test_a_wrong_value_is_refused_with_a_reason(
    made_up: str, tiny_engine: Engine, name: str, given: object, says: str
) -> None:
    with pytest.raises(InputError) as refused:
        declared(made_up).run(tiny_engine, {"text": "a", name: given})
    assert says in str(refused.value)


def test_a_value_arrives_in_its_own_type(made_up: str) -> None:
    read = declared(made_up).read
    given = {"layer": 3.0, "share": 1, "many": ["b", "c"], "on": False, "how": "max"}
    found = read({"text": "a", **given})
    assert found == {"text": "a", **given, "layer": 3, "share": 1.0, "many": ("b", "c")}
    assert type(found["layer"]) is int and type(found["share"]) is float
    assert read({"text": "a", "layer": None})["layer"] is None
    assert [read({"text": "a", "layer": end})["layer"] for end in (0, 9)] == [0, 9]
    assert read({"text": "a", "many": " b\n\n c \n"})["many"] == ("b", "c")


def test_unknown_and_missing_parameters_are_named(made_up: str) -> None:
    with pytest.raises(InputError, match=r"no parameter 'top'. Parameters are: text, layer, "):
        declared(made_up).read({"text": "a", "top": 3})
    with pytest.raises(InputError, match="text is missing; expected a text"):
        declared(made_up).read({})
    with pytest.raises(InputError, match=r"no task named 'nowhere'\. Tasks are: tokenizer, "):
        declared("nowhere")


def test_a_text_may_be_called_as_in_links_and_a_question_is_a_second_text() -> None:
    asked = {"text": "Ada lives in Oslo.", "question": "Where does Ada live?"}
    for slug in ("xray", "why", "attention"):
        assert declared(slug).read(asked) == {"text": asked["text"], "text_pair": asked["question"]}
    assert declared("qa").read(asked) == {"passage": asked["text"], "question": asked["question"]}
    with pytest.raises(InputError, match="no parameter 'question'"):
        declared("xray").read(asked | {"text_pair": "What else?"})


def test_a_box_of_one_line_takes_the_first_line_of_an_example() -> None:
    values = {"text": "a\nb", "question": "Who?\nWhere?", "nowhere": 1}
    assert declared("qa").example_values(values) == {"passage": "a\nb", "question": "Who?"}


@pytest.mark.parametrize("slug", NAMES)
def test_every_task_writes_a_report(slug: str, tiny_engine: Engine) -> None:
    found = declared(slug)
    short = {"steps": 10} if slug == "lab_finetune" else {}
    report: Report = found.screen(found.run(tiny_engine, needed(found) | short)).report()
    assert report.headline.endswith((".", "”")) and "<" not in report.headline
    assert any(block.markup for block in report.drawn())
    pictures = [block for block in report.blocks if not hasattr(block, "markup")]
    assert len(pictures) == len({each.name for each in pictures})
    given = (*found.parameters, *found.settings)
    names = [name for each in given for _, name in each.field.names]
    columns = _COLUMN.findall("".join(block.markup for block in report.drawn()))
    labels = [found.feature.title, *(each.field.label for each in given), *names, *columns]
    assert {word for label in labels for word in _hard(label)} == set()


def _hard(label: str) -> list[str]:
    """Return the words of a label that are neither plain English nor in the glossary."""
    words = _WORD.findall(re.sub(r"\b[BI]-", "", label).lower())
    return [each for each in words if each.removesuffix("s") not in _explained()]


@cache
def _explained() -> frozenset[str]:
    """Return the words that a label may have: a new one is explained, or is plain English."""
    plain = Path(__file__).with_name("plain_words.txt").read_text(encoding="utf-8")
    known = _WORD.findall(f"{plain} {' '.join(glossary())} {MODELS}".lower())
    return frozenset(each.removesuffix("s") for each in known)


def test_one_side_of_a_range_is_told() -> None:
    layer = next(each for each in declared("attention").parameters if each.name == "layer")
    assert isinstance(layer, Parameter) and layer.expected() == "a whole number from 0"
