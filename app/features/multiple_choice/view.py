"""The multiple-choice page: the model's choice, and the probabilities of all choices."""

import pandas as pd

from app.features.multiple_choice.result import MultipleChoiceResult
from app.words.blocks import answer
from app.words.format import count, percent, signed
from app.words.html import Html, join, tag, visible
from app.words.notes import calibration_line, cut_note, unread_note
from app.words.pictures import Picture, captioned_bars, picture
from app.words.report import Report

HINTS = ("It began to rain, so", "she opened her umbrella.\nshe watered the garden.")
"""What the empty boxes suggest."""

_CLOSE = 0.1  # a lead below this is called small
_ALONE = (
    "The model scores each choice alone, together with the context; their order does not matter. "
    "The probabilities compare only these choices: a change in one changes all of them. "
)


def before(result: MultipleChoiceResult) -> Html:
    """Say what the model did not or could not read; this comes before the answer."""
    cut = next((choice.cut for choice in result.choices if choice.cut.anything), None)
    return join(unread_note(result.unread), cut_note(cut) if cut else join())


def verdict(result: MultipleChoiceResult) -> Html:
    """Draw the model's answer in words."""
    says, more, kind = _answer(result)
    return answer(tag("bdi", says), more, kind=kind)


def _answer(result: MultipleChoiceResult) -> tuple[str, str, str]:
    """Return the answer, a second sentence about it, and how it is drawn."""
    best = result.choices[result.best]
    others = [each for number, each in enumerate(result.choices) if number != result.best]
    second = max(others, key=lambda choice: choice.logit)
    more = (
        f"{percent(best.probability)} of the probability of these "
        f"{count(len(result.choices), 'choice')}."
    )
    close = best.probability - second.probability < _CLOSE
    if close:
        more += f" A small lead: the next has {percent(second.probability)}."
    return visible(best.text), more, "bx-open" if close else ""


def scores(result: MultipleChoiceResult) -> Picture:
    """Draw the probability of every choice, in the order given."""
    rows = result.choices
    return picture(
        "multiple-choice",
        lambda width: captioned_bars(
            [f"{number}. {choice.text}" for number, choice in enumerate(rows, start=1)],
            [choice.probability for choice in rows],
            [f"{percent(each.probability)}, logit {signed(each.logit, 2)}" for each in rows],
            width=width,
            marked=[number == result.best for number in range(len(rows))],
        ),
        alt=describe(result),
        table=score_table(result),
    )


def score_table(result: MultipleChoiceResult) -> pd.DataFrame:
    """Return every choice with its scores."""
    return pd.DataFrame(
        {
            "choice": [visible(choice.text) for choice in result.choices],
            "probability": [choice.probability for choice in result.choices],
            "logit": [choice.logit for choice in result.choices],
        }
    )


def describe(result: MultipleChoiceResult) -> str:
    """Describe the bars in one sentence."""
    said = "; ".join(
        f"{number}. {choice.text}: {percent(choice.probability)}"
        for number, choice in enumerate(result.choices, start=1)
    )
    return f"Bar chart of the probability of every choice. {said}."


def trust(result: MultipleChoiceResult, model: str = "") -> Html:
    """Say how far to trust the numbers; link the card of the model, if it is named."""
    return calibration_line(result.calibration, "choices", _ALONE, model=model)


def report(result: MultipleChoiceResult) -> Report:
    """Write the result as it would appear on paper."""
    says, more, _ = _answer(result)
    asked = tag("p", visible(result.context), class_="bx-text", dir="auto")
    return Report(
        f"The model’s answer: “{says}” {more}",
        (asked, scores(result), trust(result)),
        first=(before(result),),
    )


def snippet(result: MultipleChoiceResult, model: str) -> str:
    """Write the same computation in Python."""
    choices = ",\n    ".join(repr(choice.text) for choice in result.choices)
    limit = result.choices[0].cut.limit
    return f"""import torch
from bert_core import BertForMultipleChoice, BertTokenizer

name = {model!r}
tokenizer = BertTokenizer.from_pretrained(name)
model = BertForMultipleChoice.from_pretrained(name)
context = {result.context!r}
choices = [
    {choices},
]
inputs = tokenizer(
    [context] * len(choices), choices,
    padding=True, truncation=True, max_length={limit}, return_tensors="pt",
)
with torch.inference_mode():  # (1, choices, tokens) -> (1, choices)
    logits = model(**{{name: each[None] for name, each in inputs.items()}})
temperature = model.config.temperature("BertForMultipleChoice")
probabilities = torch.softmax(logits / temperature, dim=-1)
print(probabilities[0].tolist())
"""
