"""What a browser answers is what Python answers: numbers within rounding, strings exactly."""

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from app.catalog import examples
from app.declared import Declared, declared
from app.engine.models import Engine
from app.faces.paper.answers import ask
from bert_core.errors import InputError
from tests.conftest import NASTY
from tests.live.conftest import Node

_LOGITS = {"logits", "logit", "score", "null_score", "no_answer_score"}
_TASKS = ("fill_mask", "next_sentence", "qa", "ner", "classification", "multiple_choice",
          "tokenizer")  # fmt: skip
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
    }[task]


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


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all examples of the tasks, odd texts for each task, and generated ones."""
    for task in _TASKS:
        found = declared(task)
        for example in examples(task):
            yield task, as_given(found, example.values)
        for number, text in enumerate(_ODD):
            yield task, _given(task, text, "Who was it?" if number % 2 else "unbelievable words")
    rng = random.Random(5)
    words = [word for text in _ODD[:-1] for word in text.split()]
    for _ in range(40):
        text = " ".join(rng.choices(words, k=rng.randint(1, 25)))
        task = rng.choice(_TASKS)
        yield task, _given(task, text, " ".join(rng.choices(words, k=rng.randint(1, 6))))
    yield "fill_mask", {"text": " "}
    yield "qa", {"passage": "Here.", "question": ""}


def _differences(found: Any, wanted: Any, way: str = "", allowed: float = 1e-5) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        if found.keys() != wanted.keys():
            yield f"{way}: {sorted(found.keys() ^ wanted.keys())}"
            return
        for key, value in wanted.items():
            within = 5e-5 if key in _LOGITS and "entities" not in way else allowed
            yield from _differences(found[key], value, f"{way}.{key}", within)
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        for number, pair in enumerate(zip(found, wanted, strict=True)):
            yield from _differences(*pair, f"{way}[{number}]", allowed)
    elif isinstance(wanted, float) and isinstance(found, int | float):
        if abs(found - wanted) > (1e-4 if way.endswith("entropy") else allowed):
            yield f"{way}: {found} instead of {wanted}"
    elif found != wanted:
        yield f"{way}: {str(found)[:80]!r} instead of {str(wanted)[:80]!r}"


def _asked(task: str, given: dict[str, Any]) -> Any:
    try:
        return ask(task, **given).json()
    except InputError as error:
        return {"refused": str(error)}


def test_answers_are_those_of_python(node: Node, bundled: Engine) -> None:
    rows = list(_rows())
    assert len(rows) >= 200
    told = []
    for (task, given), found in zip(rows, node("ask", rows=rows), strict=True):
        answer = found.get("answer", found)
        told += [f"{task} {str(given)[:90]}: {each}" for each in
                 list(_differences(answer, _asked(task, given)))[:2]]  # fmt: skip
    assert not told, "\n".join(told[:20])


@pytest.mark.parametrize("task", _TASKS)
def test_each_task_has_examples_that_are_compared(task: str) -> None:
    assert examples(task)
