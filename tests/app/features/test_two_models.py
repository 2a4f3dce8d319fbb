"""Two models asked the same: each says what it says alone, and what differs is counted."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.declared import declared
from app.engine.models import Engine, open_engine
from app.engine.models.second import ONLY_ONE, other_models, second_model
from app.engine.models.shelf import UNTRAINED, offers
from app.faces.paper.answers import ask
from app.features.attention import task_two_models as heads
from app.features.attention.task import attention
from app.features.xray.task import xray
from app.records.two_answers import Both, Said, TwoAnswers
from app.settings import BUNDLED_MODEL
from app.words.two_answers import says, screen
from bert_core.errors import BertError, CheckpointError, InputError
from bert_core.reading.alignment import align_pieces

TEXT = "the cat sat on the [MASK]."
TASKS = ("attention", "xray")


@pytest.fixture
def engines(tiny_model: Path, second_model: str) -> tuple[Engine, Engine]:
    """The default model, and the one that is offered beside it."""
    return open_engine(), open_engine(offers()[second_model])


@pytest.mark.parametrize("slug", TASKS)
def test_a_model_beside_itself_does_not_differ(tiny_model: Path, slug: str) -> None:
    found = ask(f"{slug}_two_models", text=TEXT, beside=tiny_model.name)
    result: TwoAnswers = found.result
    assert result.rows and not any(row.differs for row in result.rows)
    assert all(row.first.share == row.second.share for row in result.rows)
    assert "≠" not in found.html().decode().partition("<main>")[2].partition("<table")[2]


def test_attention_is_summed_to_the_parts_of_a_text_and_averaged_from_them() -> None:
    weights = np.array([[[0.5, 0.2, 0.3], [0.1, 0.1, 0.8], [0.3, 0.5, 0.2]]], np.float32)
    found = heads.by_parts(weights, [(0,), (1, 2)])
    np.testing.assert_allclose(found, [[[0.5, 0.5], [0.2, 0.8]]], atol=1e-6)
    part = heads.by_parts(weights, [(0,), (1,)])  # what the last piece got is not there
    np.testing.assert_allclose(part, [[[5 / 7, 2 / 7], [0.5, 0.5]]], atol=1e-6)


def test_the_head_that_looks_most_alike_is_found(tiny_engine: Engine) -> None:
    first = attention(tiny_engine, "the cat sat on the mat", layer=0, head=1)
    layers = [layer.copy() for layer in first.attentions]
    layers[1][3], layers[0][1] = first.attentions[0][1], first.attentions[1][3]
    moved = replace(first, attentions=tuple(layers))
    encoding = tiny_engine.tokenizer.encode(first.text)
    parts = align_pieces(encoding, encoding)
    found = heads.both(("a", "b"), (first, moved), parts, names=tuple(map(str, range(8))))
    assert found.overlap == pytest.approx(1, abs=1e-5)
    [row] = found.answers
    assert (row.first.text, row.second.text) == ("layer 0, head 1", "layer 1, head 3")
    assert not any(each.differs for each in found.rows)


def test_words_in_other_pieces_are_one_part_of_the_text(
    engines: tuple[Engine, Engine],
) -> None:
    found = ask("attention_two_models", text="the cat sat. the cat", beside="second-model").result
    assert [row.place for row in found.rows] == [
        "[CLS]", "the (1)", "cat (1)", "sat", ".", "the (2)", "cat (2)", "[SEP]",
    ]  # fmt: skip
    assert 0 < found.overlap < 1


def test_the_second_model_is_asked_at_the_same_characters(engines: tuple[Engine, Engine]) -> None:
    text = "the cat sat on"  # `on` is piece 4 of the first model, and 6 of the second
    found = ask("xray_two_models", text=text, ask="word", at=4, beside="second-model").result
    second = xray(engines[1], text, ask="word", at=6)
    assert found.answers[0].second == Said(second.best.name, second.best.probability)
    places = [row.place for row in found.rows if "of the layers" in row.place]
    assert places == ["after 1/2 of the layers", "after 2/2 of the layers"]
    last = found.rows[-1]
    assert "(layer 1)" in last.first.text and "(layer 2)" in last.second.text


def test_a_second_model_that_cannot_be_used_is_refused_with_a_reason(
    engines: tuple[Engine, Engine], untrained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = engines[0]
    for name in ("nonsense", str(untrained_folder), "../second-model", "\x1b<b>"):
        with pytest.raises(InputError, match=r"beside: found .*; expected one of .*second-model"):
            second_model(first, name)
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(untrained_folder))
    with pytest.raises(CheckpointError, match="has no trained masked-word head"):
        second_model(first, untrained_folder.name, "BertForMaskedLM")
    assert second_model(first, untrained_folder.name).provenance.name == untrained_folder.name
    assert untrained_folder.name != second_model(first, "", "BertForMaskedLM").provenance.name
    monkeypatch.setenv("BERT_EXPLORER_MEMORY", "1")
    with pytest.raises(CheckpointError, match="MiB in memory; this server keeps at most 1 MiB"):
        second_model(first, "explorer-mini-uncased")


def test_where_only_one_trained_model_is_on_offer_it_says_where_to_get_another() -> None:
    engine = open_engine(offers()["explorer-mini-uncased"])
    assert other_models(engine) == (f"{BUNDLED_MODEL}{UNTRAINED}",)
    with pytest.raises(BertError) as refused:
        declared("attention_two_models").run(engine, {"text": TEXT})
    assert str(refused.value) == ONLY_ONE and "BERT_EXPLORER_MODELS" in ONLY_ONE


def test_what_differs_has_a_sign_between_both_answers_and_a_sentence() -> None:
    rows = (
        Both("<i>", Said("1. <i>", 0.5), Said("", None), differs=True),
        Both("tea", Said("2. tea", 0.25), Said("1. tea", 0.75), differs=False),
    )
    best = Both("Gap 1", Said("<i>", 0.5), Said("tea", 0.75), differs=True)
    found = TwoAnswers(("one", "two"), (best,), rows)
    assert says(found) == (
        "one says “<i>” (50.0 %), two “tea” (75.0 %). 1 of 2 lines below differs, marked ≠."
    )
    drawn = str(screen(found).parts[0])
    assert drawn.count("<mark>") == 1 and "<mark><bdi>1. &lt;i&gt;</bdi></mark>" in drawn
    assert 'aria-label="differs">≠</td>' in drawn and 'aria-label="same">=</td>' in drawn
    assert "<i>" not in drawn


def test_what_is_not_drawn_is_counted() -> None:
    rows = tuple(Both(str(n), Said("a"), Said("a"), differs=False) for n in range(207))
    table, more = screen(TwoAnswers(("one", "two"), (), rows)).parts
    assert str(table).count("<tr>") == 201 and "… and 7 more lines" in str(more)
