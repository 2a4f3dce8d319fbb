"""What can be computed for a lesson: a closed set of named quantities over the records of tasks.

A file writes `first`, `p:are` or `plain.p`: the name of a quantity, after a colon what it is about,
and before a dot which of the step's texts is meant. What is about a word that the task must be
asked for names the parameter that it fills.
"""

from collections.abc import Mapping
from typing import Any

from app.lessons.quantities_inside import INSIDE
from app.lessons.quantity import Quantity, Value
from bert_core.errors import InputError

_LABELS = {"PER": "a person", "LOC": "a place", "ORG": "an organisation", "MISC": "another name"}
NO_NAME, NO_ANSWER = "no name", "no answer"


def _chance(r: Any, word: str) -> Value:
    slot = r.slots[0]
    if not word:
        return float(slot.candidates[0].probability)
    found = slot.named or slot.spelled
    return float(found.probability) if found else 0.0


def _ratio(r: Any, _: str) -> Value:
    first, second = r.slots[0].candidates[:2]
    return float(first.probability / max(second.probability, 1e-12))


def _tokens(r: Any) -> list[str]:
    return [piece.token for side in range(len(r.texts)) for piece in r.pieces_of(side)]


def _parts(r: Any, _: str) -> Value:
    return "|".join(each.removeprefix("##") for each in _tokens(r))


def _score(r: Any, label: str) -> Value:
    if r.kind == "regression":
        raise InputError("This model gives a number, not labels. Choose a model that labels texts.")
    scores = dict(zip(r.labels, r.scores, strict=True))
    return float(scores.get(label, 0.0) if label else max(r.scores))


def _entity(r: Any, name: str) -> Any:
    """Return the first entity with this name; None if there is none."""
    of = (each for each in r.reading.entities if r.text[each.start : each.end] == name)
    return next(of, None)


def _label(r: Any, name: str) -> Value:
    found = _entity(r, name)
    return _LABELS.get(found.kind, str(found.kind)) if found else NO_NAME


def _labels(r: Any, _: str) -> Value:
    named = (_LABELS.get(each.kind, each.kind) for each in r.reading.entities)
    return ", then ".join(map(str, named)) or NO_NAME


def _scores(r: Any, _: str) -> Value:
    return float(sum(each.score for each in r.reading.entities))


def _marked(r: Any, _: str) -> Value:
    return str(r.answers[0].text) if r.answers else NO_ANSWER


def _odd(r: Any, _: str) -> Value:
    return "".join(piece.token.removeprefix("##") for piece in r.odd)


QUANTITIES: Mapping[str, Mapping[str, Quantity]] = {
    **INSIDE,
    "fill_mask": {
        "first": Quantity("word", lambda r, _: str(r.slots[0].candidates[0].token)),
        "p": Quantity("share", _chance, "word"),
        "ratio": Quantity("number", _ratio),
    },
    "fill_mask_surprise": {
        "odd": Quantity("word", _odd),
        "per_piece": Quantity("number", lambda r, _: float(r.log_likelihood / len(r.pieces))),
    },
    "tokenizer": {
        "pieces": Quantity("number", lambda r, _: float(sum(r.cut.lengths))),
        "unknown": Quantity("number", lambda r, _: float(r.unknown)),
        "cut": Quantity("word", lambda r, _: " ".join(_tokens(r))),
        "parts": Quantity("word", _parts),
    },
    "classification": {
        "verdict": Quantity("word", lambda r, _: str(r.chosen[0]) if r.chosen else ""),
        "p": Quantity("share", _score),
    },
    "qa": {
        "answer": Quantity("word", lambda r, _: _marked(r, _) if r.answered else NO_ANSWER),
        "marked": Quantity("word", _marked),
        "p": Quantity("share", lambda r, _: float(r.answers[0].probability) if r.answers else 0.0),
        "none": Quantity("share", lambda r, _: float(r.null_probability)),
    },
    "next_sentence": {
        "answer": Quantity("word", lambda r, _: "follows" if r.follows else "does not follow"),
        "p": Quantity("share", lambda r, _: float(r.probabilities[0])),
    },
    "senses": {
        "at_home": Quantity("number", lambda r, _: float(r.at_home)),
        "within": Quantity("number", lambda r, _: r.within[r.place]),
        "between": Quantity("number", lambda r, _: r.between[r.place]),
    },
    "ner": {
        "label": Quantity("word", _label),
        "labels": Quantity("word", _labels),
        "names": Quantity("number", lambda r, _: float(len(r.reading.entities))),
        "scores": Quantity("number", _scores),
    },
}
"""By the name of the task."""
