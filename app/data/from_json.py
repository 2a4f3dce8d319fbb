"""A task's answer as JSON, as it is judged: for rows of files that were answered one by one."""

from collections.abc import Mapping
from typing import Any

from app.data.answering import Guess
from app.data.columns import TaskName
from app.data.gold import NEXT, Asked, shown_names

_BEYOND = 1_000  # the rank of a word that is not among those that were written


def guess_of(task: TaskName, answer: Mapping[str, Any], asked: Asked) -> Guess:
    """Read an answer.

    Args:
        task: what was asked.
        answer: its JSON, as the task's own result writes it.
        asked: the row, with what is right.
    """
    match task:
        case "classification":
            return _best(dict(zip(answer["labels"], answer["scores"], strict=True)))
        case "next_sentence":
            return _best(dict(zip(NEXT, answer["probabilities"], strict=True)))
        case "multiple_choice":
            return _best({each["text"]: each["probability"] for each in answer["choices"]})
        case "ner":
            return _names(answer, asked.texts["text"])
        case "qa":
            shares = tuple((each["text"], each["probability"]) for each in answer["answers"])
            said, sure = shares[0] if answer["answered"] else ("", answer["null_probability"])
            return Guess(said, sure, shares)
    return _gaps(answer, asked)


def _best(shares: Mapping[str, float]) -> Guess:
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    return Guess(*ranked[0], tuple(ranked))


def _names(answer: Mapping[str, Any], text: str) -> Guess:
    found = answer["entities"]
    names = frozenset((each["label"], each["start"], each["end"]) for each in found)
    shares = tuple((each["text"], each["score"]) for each in found)
    return Guess(shown_names(text, names), None, shares, names=names)


def _gaps(answer: Mapping[str, Any], asked: Asked) -> Guess:
    gaps = tuple(
        tuple((each["token"], each["probability"]) for each in slot["candidates"])
        for slot in answer["slots"]
    )
    gold = asked.gold if isinstance(asked.gold, tuple) else ((),) * len(gaps)
    wanted = []
    for gap, good in zip(gaps, gold, strict=True):
        small = {each.casefold() for each in good}
        places = [n for n, (word, _) in enumerate(gap) if word.casefold() in small]
        found = (places[0] + 1, gap[places[0]][1]) if places else (_BEYOND, 0.0)
        wanted.append(found if good else None)
    said = ", ".join(gap[0][0] for gap in gaps)
    return Guess(said, None, (), gaps=gaps, wanted=tuple(wanted))
