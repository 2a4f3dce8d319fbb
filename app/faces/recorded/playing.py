"""What a browser needs to play the steps of a lesson: questions, what is right, what to compute."""

import json
from collections.abc import Sequence

from app.declared import declared
from app.faces.recorded.live import LIVE_TASKS
from app.lessons.looking import CLAIM, Looking
from app.lessons.pointing import things
from app.lessons.records import Question, Step
from app.lessons.view import unmarked
from app.words.html import Html, tag


def played(looking: Looking, step: Step, blocks: Sequence[Html]) -> Html:
    """Put a step with everything revealed into an element with its data for `live/lesson.js`."""
    data = json.dumps(step_data(looking, step), ensure_ascii=False)
    return tag("section", *blocks, class_="bx-step", data_step=data)


def step_data(looking: Looking, step: Step) -> dict[str, object]:
    """Return a step as JSON has it; what is right in it was computed by its own model."""
    values = looking.look.values
    parameters = declared(step.page).parameters
    texts = [each.name for each in parameters if isinstance(values.get(each.name), str)]
    labels = {each.name: each.field.label for each in parameters}
    live = step.page in LIVE_TASKS and not values.get("rank")  # browsers rank no parts
    given = {each.name: values.get(each.name, each.default) for each in parameters}
    plain = (str, bool, int, float)
    edits = step.change.edits if step.change else texts[:1]
    return {
        "task": step.page if live else None,
        "given": {name: value for name, value in given.items() if isinstance(value, plain)},
        "show": step.show,
        "question": _question(looking, step.question),
        "why": _question(looking, step.why),
        "change": {
            "ask": _said(looking, step.change.ask) if step.change else "",
            "edits": [[name, labels[name]] for name in edits],
        },
    }


def _question(looking: Looking, question: Question | None) -> dict[str, object] | None:
    if question is None:
        return None
    found: dict[str, object] = {
        "kind": question.kind,
        "ask": _said(looking, question.ask),
        "choices": [[_said(looking, text) for text in (each.say, each.reply)]
                    for each in question.choices],
        "its": unmarked(looking.says(question)),
        "counted": question.of.startswith(CLAIM),
    }  # fmt: skip
    if question.kind == "point":
        found |= {"at": question.at, "things": things(looking, question.at)}
    elif question.kind == "number":
        kind, value = looking.truth(question)
        found |= {
            "unit": question.unit,
            "ends": looking.ends(question),
            "truth": float(value) * (100 if kind == "share" else 1),
        }
    return found


def _said(looking: Looking, template: str) -> str:
    return unmarked(looking.fill(template))
