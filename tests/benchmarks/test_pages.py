"""The timing of the pages drives every page, with texts of exactly the length it names."""

from pathlib import Path

import pytest

from app.catalog import Feature
from app.catalog import pages as with_pages
from app.engine.models import open_engine
from benchmarks import pages
from benchmarks.pages import COLUMNS, Texts, Timing, can_answer, measure
from benchmarks.report import section
from bert_core import BertTokenizer

WORDS = ["the", "cat", "dog", "sat", "on", "mat", "river", "bank"]


@pytest.mark.parametrize("tokens", [12, 41])
@pytest.mark.parametrize(
    "slug", ["tokenizer", "fill_mask", "next_sentence", "attention", "qa", "senses"]
)
def test_texts_have_exactly_the_tokens_that_were_asked_for(
    tiny_folder: Path, slug: str, tokens: int
) -> None:
    tokenizer = BertTokenizer.from_pretrained(str(tiny_folder))
    texts = Texts(WORDS)
    first, second = (texts.boxes(slug, tokens) for _ in range(2))
    assert first != second
    if slug == "senses":  # reads its lines one by one
        lines = [line for line in first["text"].splitlines() if line]
        assert sum(len(tokenizer.encode(line).input_ids) for line in lines) == tokens
        assert len(lines) > 1 and all("bank" in line for line in lines)
    else:
        assert len(tokenizer.encode(*first.values()).input_ids) == tokens


WRITTEN = [feature for feature in with_pages() if feature.takes_text]
QUICK = {"tokenizer", "fill_mask"}


@pytest.mark.parametrize(
    "feature",
    [
        pytest.param(each, id=each.slug, marks=[] if each.slug in QUICK else pytest.mark.slow)
        for each in WRITTEN
    ],
)
def test_every_page_that_can_answer_can_be_driven(feature: Feature, tiny_model: Path) -> None:
    if not can_answer(feature):
        assert open_engine().missing(feature.needs[0])
        return
    found = list(measure(feature, Texts(WORDS), 20, rounds=1))
    assert found[0].action == "a new text"
    assert all(len(timing.wall) == len(timing.processor) == 1 for timing in found)
    assert all(timing.wall[0] > 0 for timing in found)
    if feature.slug == "attention":
        assert len(found) == 6


def test_a_page_that_fails_is_not_timed(tiny_model: Path) -> None:
    attention = next(feature for feature in with_pages() if feature.slug == "attention")

    class NoTexts(Texts):
        def of(self, tokens: int) -> str:
            return ""

    with pytest.raises(AssertionError, match="at least one is needed"):
        list(measure(attention, NoTexts(WORDS), 20, rounds=1))


def test_a_line_says_what_was_reached() -> None:
    fast = Timing("Attention", "a new text", 512, [0.09, 0.1, 0.4], [0.17, 0.18, 0.19])
    slow = Timing("Attention", "a new text", 512, [0.15, 0.15, 0.15], [0.3, 0.3, 0.3])
    text = section("Pages", [fast, slow], pages.NOTES, COLUMNS)
    assert "| page | action | tokens | median | lowest to highest | processor | reached |" in text
    assert "| Attention | a new text | 512 | 100 ms | 90.0 ms to 400 ms | 180 ms | yes |" in text
    assert "| 150 ms | 150 ms to 150 ms | 300 ms | **no** |" in text
