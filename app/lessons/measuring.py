"""Measuring all claims and steps of our lessons on a model."""

from collections.abc import Callable

from app.engine.models import Engine
from app.lessons.claims import count_again, unfit
from app.lessons.measured import Measured, Seen
from app.lessons.records import Lesson
from app.lessons.shelf import claims, in_order
from app.lessons.whole import looking_at
from bert_core.errors import BertError


def measure(engine: Engine, say: Callable[[str], None]) -> Measured:
    """Count every claim, and look at every step, that the model can answer.

    Args:
        engine: the model.
        say: gets a line for each claim and lesson.
    """
    able = [each for each in claims().values() if not unfit(engine, each.task)]
    counted, held_against = {}, {name for each in able for name in each.against}
    for claim in sorted(able, key=lambda each: (each.name not in held_against, not each.role)):
        found = counted[claim.name] = count_again(engine, claim.name)
        held = "" if found.holds else ", which its test refuses"
        say(f"{claim.name}: {found.k} of {found.n}{held}")
    steps: dict[str, Seen] = {}
    for lesson in in_order():
        if not lesson.own:
            seen = steps_of(engine, lesson)
            say(
                f"{lesson.slug}: {sum(each.holds for each in seen.values())} of {len(lesson.steps)}"
            )
            steps |= seen
    return Measured(
        engine.provenance.name, engine.provenance.fingerprint,
        {each.name: counted[each.name] for each in able}, steps,
    )  # fmt: skip


def steps_of(engine: Engine, lesson: Lesson) -> dict[str, Seen]:
    """Return what each step of a lesson shows; those that the model cannot answer are left out."""
    found = {}
    for number, step in enumerate(lesson.steps, 1):
        try:
            looking = looking_at(engine, lesson, number)
            seen = Seen(looking.holds(step.holds), looking.printed_gaps(step.reveal))
        except BertError:
            continue
        found[f"{lesson.slug} {number}"] = seen
    return found
