"""What a browser answers is what Python answers: numbers within rounding, strings exactly."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from app.catalog import examples
from app.declared import Declared, declared
from app.engine.models import Engine
from app.faces.paper.answers import ask
from app.features.qa.task import questions
from app.words.html import visible
from bert_core.errors import InputError
from tests.conftest import NASTY
from tests.live.conftest import Node

_LOGITS = {"logits", "logit", "score", "null_score", "no_answer_score", "effect"}
_TASKS = ("fill_mask", "next_sentence", "qa", "ner", "classification", "multiple_choice",
          "tokenizer", "attention", "xray")  # fmt: skip
_LONG = "The old bridge over the river Elbe was built by Anna Keller in 1852. " * 38
_ODD = (
    *NASTY.values(),
    "The capital of [MASK] is [MASK].",
    "A ___ and a <mask>.",
    "Dr. Müller met Angela Merkel in Zürich. “Why?” she asked. It was 5 p.m. Nobody knew.",
    "ＡＢＣ İstanbul ǅ ﬁne 𝔘nicode ½ Ωmega 한국어 ไทย हिन्दी",
    "the Nile, or The Nile? A Nile.",
    _LONG,
)


def _given(task: str, text: str, other: str) -> dict[str, Any]:
    return {
        "fill_mask": {"text": f"{text} [MASK].", "word": other.split()[0] if other.strip() else ""},
        "next_sentence": {"first": text, "second": other},
        "qa": {"passage": text, "question": other, "answers": 3},
        "ner": {"text": text},
        "classification": {"text": text, "text_pair": other if len(text) % 2 else ""},
        "multiple_choice": {"context": text, "choices": [other, "she ran."]},
        "tokenizer": {"text": text, "text_pair": other if len(text) % 2 else ""},
        "attention": {"text": text, "text_pair": other if len(text) % 2 else "",
                      "words": len(text) % 3 == 0},
        "xray": {"text": text, "text_pair": other if len(text) % 2 else ""},
    }[task]  # fmt: skip


def as_given(task: Declared, values: Mapping[str, object]) -> dict[str, Any]:
    """Return what an example gives a task, as JSON has it."""
    given: dict[str, Any] = {
        each.name: value
        for each in task.parameters
        if (value := task.example_values(values).get(each.name)) is not None
    }
    if "choices" in given:
        given["choices"] = str(given["choices"]).splitlines()
    return given


def _rows(every: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield examples of the tasks, every so many odd texts for each task, and made-up ones."""
    for task in _TASKS:
        found = declared(task)
        for example in examples(task)[: 1 if every > 1 else None]:
            yield task, as_given(found, example.values)
        slow = task in ("attention", "xray")  # read all layers and heads, or all layers' answers
        for number, text in enumerate(_ODD[:: 3 * every] if slow else _ODD[::every]):
            yield task, _given(task, text, "Who was it?" if number % 2 else "unbelievable words")
    rng = random.Random(5)
    words = [word for text in _ODD[:-1] for word in text.split()]
    for _ in range(40 // every + 10):
        text = " ".join(rng.choices(words, k=rng.randint(1, 25)))
        task = rng.choice(_TASKS)
        yield task, _given(task, text, " ".join(rng.choices(words, k=rng.randint(1, 6))))
    yield from _with_settings()
    yield "fill_mask", {"text": " "}
    yield "qa", {"passage": "Here.", "question": ""}


def _with_settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield attention of a layer, a head and words; the X-ray with parts off and both lenses."""
    text = "The keys to the cabinet [MASK] made of iron, unbelievably."
    for more in ({"layer": 2}, {"layer": 0, "head": 11, "words": True}, {"head": 1}, {"layer": 6}):
        yield "attention", {"text": text, "text_pair": "Who has the keys?", **more}
    yield "attention", {"text": _LONG}
    for off in ("4.10", "2.7 5.a 1.f", "0.3 0.4 5.11 5.f", "6.0"):
        for mode, lens in (("mean", "affine"), ("zero", "raw")):
            yield "xray", {"text": text, "off": off, "mode": mode, "lens": lens}
    story, question = "Marie Curie was born in Warsaw in 1867.", "When was Curie born?"
    for kind in ("start", "end", "next", "label", "entity", "word"):
        yield "xray", {"text": story, "text_pair": question, "ask": kind, "off": "3.a", "at": 4}
    yield "xray", {"text": story, "ask": "entity", "answer": "b-loc"}
    yield "xray", {"text": story, "ask": "word", "answer": "Vienna"}
    yield "xray", {"text": story, "ask": "word", "answer": "unbelievable words"}


def _close(one: float, other: float, allowed: float) -> bool:
    return abs(one - other) <= allowed


def _matched(found: Any, wanted: Any, way: str) -> tuple[Any, Any]:
    """Put in one order what is sorted by numbers that may be equal but for rounding."""
    by = {".patterns": ("layer", "head"), ".links": ("source", "target")}.get(way)
    if by is None or len(found) != len(wanted):
        return found, wanted
    rows = [sorted(each, key=lambda row: (row[by[0]], row[by[1]])) for each in (found, wanted)]
    if way == ".patterns":
        return rows[0], rows[1]
    # At the end of the list, equal ones may differ.
    least = min(row["weight"] for row in wanted) + 1e-5
    first, second = ([row for row in each if row["weight"] > least] for each in rows)
    return (first, second) if len(first) == len(second) else (found, wanted)


def differences(found: Any, wanted: Any, way: str = "", allowed: float = 1e-5) -> Iterator[str]:
    found, wanted = _matched(found, wanted, way)
    if isinstance(wanted, dict) and isinstance(found, dict):
        if found.keys() != wanted.keys():
            yield f"{way}: {sorted(found.keys() ^ wanted.keys())}"
            return
        for key, value in wanted.items():
            within = 5e-5 if key in _LOGITS and "entities" not in way else allowed
            yield from differences(found[key], value, f"{way}.{key}", within)
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        for number, pair in enumerate(zip(found, wanted, strict=True)):
            yield from differences(*pair, f"{way}[{number}]", allowed)
    elif way.endswith((".rank", ".rank_before")) and isinstance(found, int):
        if not _close(found, wanted, 1e-3 * wanted):  # far behind, equal ones may change places
            yield f"{way}: {found} instead of {wanted}"
    elif isinstance(wanted, float) and isinstance(found, int | float):
        if not _close(found, wanted, 1e-4 if way.endswith("entropy") else allowed):
            yield f"{way}: {found} instead of {wanted}"
    elif found != wanted:
        yield f"{way}: {str(found)[:80]!r} instead of {str(wanted)[:80]!r}"


def asked(task: str, given: dict[str, Any]) -> Any:
    try:
        return ask(task, **given).json()
    except InputError as error:
        return {"refused": str(error)}


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_answers_are_those_of_python(node: Node, bundled: Engine, every: int) -> None:
    rows = list(_rows(every))
    assert len(rows) >= (180 if every == 1 else 35)
    told = []
    for (task, given), found in zip(rows, node("ask", rows=rows), strict=True):
        answer = found.get("answer", found)
        told += [f"{task} {str(given)[:90]}: {each}" for each in
                 list(differences(answer, asked(task, given)))[:2]]  # fmt: skip
    assert not told, "\n".join(told[:20])


def _asked_of(text: str) -> tuple[str, ...] | str:
    """Split questions as Python does; a refusal is a text."""
    try:
        return questions(text)
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("count", [1, 10, 11])
def test_questions_are_counted_as_in_python(node: Node, count: int) -> None:
    text = "\n \n".join(f"  Who is number {number}? " for number in range(count))
    found = node("rows", task="qa", values={"passage": "Here.", "question": text})
    wanted = _asked_of(text)
    if not isinstance(found, str):
        found = tuple(each["question"] for each in found)
    assert found == wanted


def test_a_box_gets_the_text_of_its_example(node: Node) -> None:
    texts = [
        value.strip("\n")
        for task in _TASKS
        for example in examples(task)
        for value in example.values.values()
        if isinstance(value, str)
    ]
    assert any("\t" in each for each in texts)
    shown = [(visible(each), each) for each in texts]
    assert node("boxes", texts=shown) == texts
    assert node("boxes", texts=[("a → b", "a b"), ("two\nlines", "two")]) == ["a → b", "two\nlines"]
