"""The classification page: the model's label, the scores of all labels."""

from app.features.classification.result import ClassificationResult
from app.words.blocks import answer, hint, join, line, tag, visible
from app.words.format import count, percent, signed
from app.words.notes import calibration_hint, cut_note, trained_note, unread_note
from app.words.pictures import ROWS, Picture, captioned_bars, picture
from app.words.screen import Parts, Rows, Screen, Table

INVITATION = "Write a text or pick an example."
_SHOWN = 8  # bars

_CLOSE = 0.1  # a lead below this is called small

_KINDS = {
    "single": "The model chooses one label: the probabilities of all labels add up to 100 %. ",
    "multi": "The model may choose any number of labels: each has its own probability, and they do "
    "not add up to 100 %. ",
}


def _answer(result: ClassificationResult) -> tuple[str, str, str]:
    if result.kind == "regression":
        says = ", ".join(f"{visible(name)} {signed(value, 3)}" for name, value in _rows(result)[:8])
        return says, "This model gives a number, not a label: a regression.", ""
    if result.kind == "multi":
        labels = ", ".join(visible(label) for label in result.chosen)
        more = (
            f"Of {count(len(result.labels), 'label')}: those with a probability of at least 50 %."
        )
        return labels or "none of its labels", more, "" if labels else "bx-open"
    (best, share), *others = _rows(result)
    after = " (calibrated)" if result.calibration.named else ""
    more = (
        f"{percent(share)} of the probability of its {count(len(result.labels), 'label')}{after}."
    )
    close = bool(others) and share - others[0][1] < _CLOSE
    if close:
        more += f" A small lead: {visible(others[0][0])} has {percent(others[0][1])}."
    return visible(best), more, "bx-open" if close else ""


def scores(result: ClassificationResult) -> Picture:
    """Draw the best labels as bars, best on top."""
    rows = _rows(result)[:_SHOWN]
    best = ", ".join(f"{name} {percent(value)}" for name, value in _rows(result)[:5])
    return picture(
        "classification",
        lambda width: captioned_bars(
            [visible(name) for name, _ in rows],
            [value for _, value in rows],
            [percent(value) for _, value in rows],
            width=width,
            marked=[name in result.chosen for name, _ in rows],
        ),
        alt=f"Bar chart of the probabilities of labels, best first: {best}.",
        table=_score_table(result, ROWS if len(result.labels) <= ROWS else _SHOWN),
    )


def _score_table(result: ClassificationResult, most: int = ROWS) -> dict[str, list[str | float]]:
    best = result.ranking[:most]
    return {
        "label": [visible(result.labels[n]) for n in best],
        "value" if result.kind == "regression" else "probability": [result.scores[n] for n in best],
        "logit": [result.logits[n] for n in best],
    }


def screen(result: ClassificationResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links its card."""
    says, more, kind = _answer(result)
    trust = hint("The number is the model’s own output, on the scale of its training data.")
    if result.kind != "regression":
        trust = calibration_hint(result.calibration, "texts", _KINDS[result.kind], model=model)
    rows = _score_table(result, len(result.labels))
    table = Table(rows, "The outputs of the model.", "classification")
    rest = 0 if result.kind == "regression" else len(result.labels) - _SHOWN
    left = line(f"{rest:,} further labels are in the table.") if rest > 0 else join()
    drawn: Parts = (table,) if result.kind == "regression" else (scores(result), left)
    pieces = tag("p", tag("bdi", visible(" ".join(result.encoding.pieces))), class_="bx-text")
    whole = (
        Table(rows, "All labels with their scores.", "labels"),
        Rows("All labels", lambda: rows, "classification", json=True),
    )
    return Screen(
        f"The model’s answer: {says}. {more}",
        (*drawn, *(() if model else (trust,))),
        tabs={"Input": lambda: (pieces, *(whole if rest > 0 else ()))},
        first=(trained_note(result.trained_on), unread_note(result.unread), cut_note(result.cut)),
        answer=answer(says, more, kind=kind, about=trust if model else ""),
        why=result.kind != "multi",
    )


def snippet(result: ClassificationResult, model: str) -> str:
    """Write the same computation in Python."""
    read = result.encoding
    second = f"\n    [{read.text_pair!r}]," if read.text_pair is not None else ""
    temperature = 'model.config.temperature("BertForSequenceClassification")'
    shown = {
        "single": f"torch.softmax(logits / {temperature}, dim=-1)",
        "multi": f"torch.sigmoid(logits / {temperature})",
        "regression": "logits",
    }[result.kind]
    return f"""import torch
from bert_core import BertForSequenceClassification, load_tokenizer

name = {model!r}
tokenizer = load_tokenizer(name)
model = BertForSequenceClassification.from_pretrained(name)
inputs = tokenizer(
    [{read.text!r}],{second}
    truncation=True, max_length={result.cut.limit}, return_tensors="pt",
)
with torch.inference_mode():
    logits = model(**inputs)
scores = {shown}
print({{model.config.label_name(n): score for n, score in enumerate(scores[0].tolist())}})
"""


def _rows(result: ClassificationResult) -> list[tuple[str, float]]:
    return [(result.labels[number], result.scores[number]) for number in result.ranking]
