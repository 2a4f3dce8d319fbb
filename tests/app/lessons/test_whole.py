"""A lesson as one page, for interfaces without a player."""

from pathlib import Path

from app.engine.models import open_engine
from app.lessons.shelf import in_order, lesson, shelf
from app.lessons.whole import whole


def test_a_lesson_as_a_page_has_every_step_and_leads_nowhere(tiny_model: Path) -> None:
    found = lesson("pieces")
    markup = "".join(each.markup for each in whole(open_engine(), found))
    for number, step in enumerate(found.steps, 1):
        assert f"<h2>{number}. {step.heading}</h2>" in markup
    assert markup.count("bx-reveal") == len(found.steps)
    assert "<figure" in markup and "See it on" not in markup


def test_lessons_come_in_the_order_of_the_paths() -> None:
    slugs = [each.slug for each in in_order()]
    assert sorted(slugs) == sorted(shelf().lessons) and slugs[0] == "pieces"
    assert slugs.index("senses") < slugs.index("heads") < slugs.index("reasons")
