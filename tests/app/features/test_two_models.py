"""Two models asked the same: each says what it says alone, and what differs is counted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from app.declared import declared
from app.engine.models import Engine, open_engine
from app.engine.models.second import ONLY_ONE, other_models, second_model
from app.engine.models.shelf import UNTRAINED, offers
from app.faces.paper.answers import ask
from app.features.ner import task_two_models as names
from app.features.ner.task import ner
from app.features.qa import task_two_models as answers
from app.features.qa.task import qa
from app.records.two_answers import Both, Said, TwoAnswers
from app.settings import BUNDLED_MODEL
from app.words.two_answers import says, screen
from bert_core.errors import BertError, CheckpointError, InputError

TEXT, PASSAGE = "the cat sat on the [MASK].", "the cat sat on the mat. a dog sat on the bank."
TASKS = ("fill_mask", "ner", "qa")
GIVEN: dict[str, dict[str, object]] = {"qa": {"passage": PASSAGE, "question": "the cat"}}


@pytest.fixture
def engines(tiny_model: Path, second_model: str) -> tuple[Engine, Engine]:
    """The default model, and the one that is offered beside it."""
    return open_engine(), open_engine(offers()[second_model])


@pytest.mark.parametrize("slug", TASKS)
def test_a_model_beside_itself_does_not_differ(tiny_model: Path, slug: str) -> None:
    found = ask(f"{slug}_two_models", **GIVEN.get(slug, {"text": TEXT}), beside=tiny_model.name)
    result: TwoAnswers = found.result
    assert result.rows and not any(row.differs for row in result.rows)
    assert all(row.first.share == row.second.share for row in result.rows)
    assert "≠" not in found.html().decode().partition("<main>")[2].partition("<table")[2]


def test_probabilities_are_those_of_transformers_for_both_models(
    engines: tuple[Engine, Engine], tiny_model: Path, second_folder: Path
) -> None:
    result = ask("fill_mask_two_models", text=TEXT, beside=second_folder.name, top_k=4).result
    for folder, engine, side in zip(
        (tiny_model, second_folder), engines, ("first", "second"), strict=True
    ):
        ids = engine.tokenizer.encode(TEXT).input_ids
        model: Any = transformers.BertForMaskedLM.from_pretrained(folder).eval()
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0, ids.index(4)]
        shares = logits.softmax(-1)
        for row in result.rows:
            said: Said = getattr(row, side)
            if said.share is not None:
                id_ = engine.tokenizer.vocab[said.text.partition(". ")[2]]
                assert said.share == pytest.approx(float(shares[id_]), abs=1e-5)
                assert int(said.text.partition(".")[0]) == 1 + int((shares > shares[id_]).sum())
        best = engine.tokenizer.ids_to_tokens[int(logits.argmax())]
        assert getattr(result.answers[0], side).text == best
    differing = [row for row in result.rows if row.differs]
    ranks = [[int(each.text.partition(".")[0]) if each.share is not None else 999
              for each in (row.first, row.second)] for row in differing]  # fmt: skip
    assert ranks and all(min(each) <= 4 < max(each) or 1 in each for each in ranks)


def test_names_that_overlap_are_at_one_place(engines: tuple[Engine, Engine]) -> None:
    first, second = (ner(each, PASSAGE) for each in engines)
    found = names.both(("a", "b"), first, second)
    assert sum(row.first.text != "" for row in found.rows) <= len(first.entities)
    for place, said in ((row.place, row.first) for row in found.rows if row.first.share):
        assert any(said.text == f"{each.text} ({each.label})" for each in first.entities)
        assert said.text.partition(" (")[0] in place
    none = replace(second, readings={**second.readings, "first": _empty(second.reading)})
    alone = names.both(("a", "b"), first, none)
    assert len(alone.rows) == len(first.entities) and all(row.differs for row in alone.rows)
    assert {row.second.text for row in alone.rows} == {""}
    assert says(names.both(("a", "b"), none, none)) == "Neither model finds anything here."


def _empty(reading: Any) -> Any:
    return replace(reading, entities=())


def test_answers_are_compared_by_their_place_in_the_passage(
    engines: tuple[Engine, Engine],
) -> None:
    first, second = (qa(each, PASSAGE, "the cat") for each in engines)
    found = answers.both(("a", "b"), first, second)
    spans = [PASSAGE.find(row.place) for row in found.rows[:-1]]
    assert min(spans) >= 0 and found.rows[-1].place == "no answer"
    assert found.rows[-1].first.share == first.null_probability
    silent = answers.both(("a", "b"), first, replace(second, threshold=-99.0))
    assert silent.answers[0].second.text == "no answer" and silent.rows[-1].differs


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
        declared("fill_mask_two_models").run(engine, {"text": TEXT})
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
