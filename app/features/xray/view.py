"""The X-ray of a text on paper and in Python."""

from app.features.xray.result import Mode, Part, XrayResult
from app.features.xray.view_overview import key, overview
from app.features.xray.view_switches import ranking_line, ranking_picture
from app.features.xray.view_words import MEAN, READS, headline, label_note, measure
from app.words.blocks import line
from app.words.notes import gaps_note
from app.words.screen import Block, Screen


def screen(result: XrayResult, *, head: str = MEAN) -> Screen:
    """Say what is shown; `head` names the head whose threads are drawn (see `overview`)."""
    blocks: list[Block] = [
        overview(result, head),
        key(),
        line(f"Followed: the {measure(result)}."),
        line(READS[result.readings.lens].replace(", under “Settings”,", "")),
    ]
    if result.ranking:
        blocks += [ranking_line(result), ranking_picture(result)]
    return Screen(
        headline(result), tuple(blocks), first=(gaps_note(result.read_as), label_note(result))
    )


def snippet(result: XrayResult, model: str) -> str:
    """Write the same computation in Python."""
    question = result.question
    at, chosen = question.position, question.chosen
    cls, target = {
        "word": ("BertForMaskedLM", f"token({at}, {chosen})"),
        "start": ("BertForQuestionAnswering", f"start({chosen})"),
        "end": ("BertForQuestionAnswering", f"end({chosen})"),
        "entity": ("BertForTokenClassification", f"label({at}, {chosen})"),
        "label": ("BertForSequenceClassification", f"classification({chosen})"),
        "next": ("BertForNextSentencePrediction", "next_sentence()"),
    }[question.kind]
    changes = "".join(f"    {_written(part, result.mode)},\n" for part in result.parts_off)
    return f"""\
from bert_core import {cls}, load_tokenizer
from bert_core.analysis import Attention, FeedForward, Heads, Target, head_effects, run

model = {cls}.from_pretrained({model!r})
tokenizer = load_tokenizer({model!r})
text = tokenizer.encode({result.text!r}, {result.pair or None!r})
off = [
{changes}]
outputs = run(model, text, interventions=off)
target = Target.{target}
print(target, target.read(model, outputs.last_hidden_state).item())

# which head matters for this answer: (layers, heads)
print(head_effects(model, text, target, {result.mode!r}).round(2))
"""


def _written(part: Part, mode: Mode) -> str:
    kind = {"head": "Heads", "attention": "Attention", "feed_forward": "FeedForward"}[part.place]
    where = f"{part.layer}, {part.head}" if part.place == "head" else str(part.layer)
    return f"{kind}({where}, mode={mode!r})"
