"""A task's answer as JSON, as it is judged: for rows of files that were answered one by one."""

from collections.abc import Mapping
from typing import Any

from app.data.answering import Guess, best
from app.data.columns import TaskName
from app.data.gold import NEXT, Asked, shown_names

_BEYOND = 1_000  # the rank of a word that is not among those that were written


def guess_of(task: TaskName, answer: Mapping[str, Any], asked: Asked) -> Guess:
    """Read an answer."""
    match task:
        case "classification":
            return best(zip(answer["labels"], answer["scores"], strict=True), asked.wanted)
        case "next_sentence":
            return best(zip(NEXT, answer["probabilities"], strict=True), asked.wanted)
        case "multiple_choice":
            rows = ((each["text"], each["probability"]) for each in answer["choices"])
            return best(rows, asked.wanted)
        case "ner":
            found = answer["entities"]
            names = frozenset((each["label"], each["start"], each["end"]) for each in found)
            shares = tuple((each["text"], each["score"]) for each in found)
            return Guess(shown_names(asked.texts["text"], names), None, shares, names=names)
        case "qa":
            shares = tuple((each["text"], each["probability"]) for each in answer["answers"])
            text, sure = shares[0] if answer["answered"] else ("", answer["null_probability"])
            return Guess(text, sure, shares)
    gaps = tuple(
        tuple((each["token"], each["probability"]) for each in slot["candidates"])
        for slot in answer["slots"]
    )
    gold = asked.gold if isinstance(asked.gold, tuple) else ((),) * len(gaps)
    wanted = []
    for gap, good in zip(gaps, gold, strict=True):
        small = {each.casefold() for each in good}
        places = [n for n, (word, _) in enumerate(gap) if word.casefold() in small]
        place = (places[0] + 1, gap[places[0]][1]) if places else (_BEYOND, 0.0)
        wanted.append(place if good else None)
    text = ", ".join(gap[0][0] for gap in gaps)
    return Guess(text, None, (), gaps=gaps, wanted=tuple(wanted))
