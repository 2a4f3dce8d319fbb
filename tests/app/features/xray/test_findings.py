"""What the guide says that we learned about the bundled model on the X-ray page."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.features.xray.result import XrayResult
from app.features.xray.task import xray
from app.features.xray.task_ranking import rank_parts, spare
from app.features.xray.task_run import text_of
from app.features.xray.view_words import ASKS
from app.models import Engine
from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_names

pytestmark = pytest.mark.skipif(
    BUNDLED_MODEL not in bundled_names(), reason="the bundled weights are not here"
)
GUIDE = (Path(__file__).parents[4] / "docs" / "guide.md").read_text(encoding="utf-8")
CHAPTER = " ".join(GUIDE.partition("\n## X-ray\n")[2].partition("\n## ")[0].split())
LINKS = [link for link in re.findall(r"`/(xray\?[^`]*)`", CHAPTER) if "tab=" not in link]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(BUNDLED_MODEL)


def opened(engine: Engine, number: int, **more: Any) -> XrayResult:
    """Compute what a link of the chapter shows; `more` replaces what the link says."""
    found = {key: value[0] for key, value in parse_qs(urlsplit(LINKS[number]).query).items()}
    given: dict[str, Any] = {**found, **more}
    names = {name: key for key, name in ASKS.items()}
    given["ask"] = names[given.pop("ask", "word")]
    given["at"] = int(given["at"]) if "at" in given else None
    return xray(engine, given.pop("text"), **given)


def shares(result: XrayResult) -> dict[str, tuple[int, int]]:
    """Return the answers with their per cent now and before."""
    return {
        each.name: (round(100 * each.probability), round(100 * each.before))
        for each in result.candidates
    }


def attention(result: XrayResult, layer: int, head: int, piece: str) -> int:
    row = result.attentions[layer][head, result.question.position]
    return round(100 * float(row[result.tokens.index(piece)]))


def test_one_head_copies(engine: Engine) -> None:
    result = opened(engine, 0)
    assert result.first.name == "france" and result.best.name == "paris"
    assert shares(result)["france"] == (8, 35)
    assert attention(opened(engine, 0, off=""), 5, 5, "france") == 94
    assert "from 35 % to 8 %" in CHAPTER and "94 % of the gap's attention" in CHAPTER


def test_one_head_agrees_verb_and_noun(engine: Engine) -> None:
    assert attention(opened(engine, 1, off=""), 3, 1, "keys") == 88
    found = shares(opened(engine, 1)) | shares(opened(engine, 1, answer="are"))
    assert found["are"] == (4, 18) and found["is"] == (5, 1)
    assert "from 18 % to 4 %, and *is* rises from 1 % to 5 %" in CHAPTER


def test_an_ambiguous_name_needs_its_neighbours(engine: Engine) -> None:
    first, second = opened(engine, 2), opened(engine, 2, at=9)
    assert first.first.name == "B-PER" and first.best.name == second.best.name == "B-LOC"
    assert shares(first)["B-PER"][1] == 73 and shares(first)["B-LOC"][0] == 70
    assert shares(second)["B-LOC"][0] == 65
    assert (
        "(65 %). The first one, a person with everything on (73 %), becomes a place (70 %)"
        in CHAPTER
    )


def test_question_and_passage_meet_in_one_layer(engine: Engine) -> None:
    result = opened(engine, 3)
    assert shares(result)["1867 (16)"] == (6, 95) and result.best.name == "warsaw (14)"
    for layer in (0, 1, 2, 4, 5):
        assert -0.1 < opened(engine, 3, off=f"{layer}.a").effect < 0
    path = [each.answer for each in opened(engine, 3, off="").path]
    assert path[1:4] == ["[CLS] (0)"] * 3 and set(path[4:]) == {"1867 (16)"}


def test_not_joins_its_word_before_the_last_layer(engine: Engine) -> None:
    bad, good = opened(engine, 4), opened(engine, 4, text="The film was not good.")
    assert shares(bad)["positive"][1] == 63 and shares(bad)["negative"][0] == 81
    assert good.first.name == "negative" and shares(good)["positive"][0] == 57
    assert "(63 %)" in CHAPTER and "(81 %)" in CHAPTER and "(57 %)" in CHAPTER


def test_a_city_needs_few_parts(engine: Engine) -> None:
    text = text_of(engine, opened(engine, 2, at=9, off=""))
    question = opened(engine, 2, at=9, off="").question
    found = spare(text, rank_parts(text, question))
    assert (len(found.off), found.of) == (71, 78)
    assert "71 of the 78 heads" in CHAPTER
