"""The multiple-choice page: the model's choice, and the probabilities of all choices."""

from app.features.multiple_choice.result import MultipleChoiceResult
from app.words.blocks import Html, answer, hint, join, line, tag, visible
from app.words.format import count, percent, signed
from app.words.notes import calibration_hint, cut_note, trained_note, unread_note
from app.words.pictures import Picture, captioned_bars, picture
from app.words.screen import Screen

INVITATION = "Write a context and some choices or pick an example."

_CLOSE = 0.1  # a lead below this is called small
_ALONE = (
    "The model scores each choice alone, together with the context; their order does not matter. "
    "The probabilities compare only these choices: a change in one changes all of them. "
)


def _measured(result: MultipleChoiceResult) -> Html:
    rows = [each for each in result.figures if each.chance is not None]
    if not rows:
        return trained_note(result.trained_on)
    kinds = "; ".join(
        f"{visible(each.task.rpartition(', ')[2])} {percent(each.share, counted=True)}, a guess "
        f"{percent(each.chance, counted=True)}"
        for each in rows
    )
    right, guess = (
        _span(shares) for shares in ([x.share for x in rows], [x.chance or 0 for x in rows])
    )
    explained = hint(trained_note(result.trained_on), f"Right by kind of question: {kinds}.")
    kinds_right = f"Measured: right in {right} of {count(len(rows), 'kind')} of questions"
    return tag("div", explained, line(f"{kinds_right}; a guess in {guess}."), class_="bx-scale")


def _span(shares: list[float]) -> str:
    return f"{100 * min(shares):.0f} to {percent(max(shares), 0, counted=True)}"


def scores(result: MultipleChoiceResult) -> Picture:
    """Draw the probability of every choice, in the order given."""
    rows = result.choices
    choices = "; ".join(
        f"{number}. {choice.text}: {percent(choice.probability)}"
        for number, choice in enumerate(rows, start=1)
    )
    return picture(
        "multiple-choice",
        lambda width: captioned_bars(
            [f"{number}. {choice.text}" for number, choice in enumerate(rows, start=1)],
            [choice.probability for choice in rows],
            [f"{percent(each.probability)}, logit {signed(each.logit, 2)}" for each in rows],
            width=width,
            marked=[number == result.best for number in range(len(rows))],
        ),
        alt=f"Bar chart of the probability of every choice. {choices}.",
        table=[
            (visible(each.text), each.probability, each.logit, result.calibration.temperature)
            for each in rows
        ],
        columns=("choice", "probability", "logit", "temperature"),
    )


def screen(result: MultipleChoiceResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links its card."""
    best, second = sorted(result.choices, key=lambda choice: -choice.logit)[:2]
    says = f"“{visible(best.text)}”"
    more = (
        f"{percent(best.probability)} of the probability of these "
        f"{count(len(result.choices), 'choice')}."
    )
    close = best.probability - second.probability < _CLOSE
    if close:
        more += f" A small lead: the next has {percent(second.probability)}."
    trust = calibration_hint(result.calibration, "choices", _ALONE, model=model)
    cut = next((choice.cut for choice in result.choices if choice.cut.anything), None)
    return Screen(
        f"The model’s answer: {says} {more}",
        (scores(result), *(() if model else (trust,))),
        first=(_measured(result), unread_note(result.unread), cut_note(cut) if cut else join()),
        answer=answer(
            tag("bdi", says),
            more,
            kind="bx-open" if close else "",
            about=trust if model else "",
        ),
        asked=(tag("p", visible(result.context), class_="bx-text", dir="auto"),),
    )


def snippet(result: MultipleChoiceResult, model: str) -> str:
    """Write the same computation in Python."""
    choices = ",\n    ".join(repr(choice.text) for choice in result.choices)
    limit = result.choices[0].cut.limit
    return f"""import torch
from bert_core import BertForMultipleChoice, load_tokenizer

name = {model!r}
tokenizer = load_tokenizer(name)
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
