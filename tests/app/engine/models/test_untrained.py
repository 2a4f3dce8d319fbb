"""The untrained twin of the bundled model: the same sizes, random weights, and it says so."""

import json

import pytest
import torch

from app.declared import declared
from app.engine.compute.recent import Cache
from app.engine.models import Engine, is_open, offers, open_engine, store
from app.engine.models.fit import KNOWS_NOTHING
from app.engine.models.second import second_model
from app.engine.models.usable import another_fitting
from app.faces import ask
from app.faces.api.calling import job
from app.faces.batch.answering import answer_rows
from app.faces.gradio.written import write
from app.lessons.sheet import sheet
from app.lessons.shelf import lesson
from app.lessons.whole import whole
from app.settings import BUNDLED_MODEL
from bert_core import BertForMaskedLM, BertForTokenClassification
from bert_core.errors import MissingFileError
from bert_core.model.kinds import KINDS
from tests.app.engine.models.test_shelf import TWIN
from tests.visits import markup, opened

GAP = "The capital of France is [MASK]."
SECOND = KNOWS_NOTHING.replace("This", "The second")


@pytest.fixture(scope="module")
def twin() -> Engine:
    return open_engine(offers()[TWIN])


@pytest.fixture(scope="module")
def bundled() -> Engine:
    return open_engine(offers()[BUNDLED_MODEL])


def test_no_weight_of_any_head_is_the_trained_one_but_all_sizes_are(
    twin: Engine, bundled: Engine
) -> None:
    for kind in KINDS.values():
        theirs = dict(bundled.model(kind.cls).named_parameters())
        ours = dict(twin.model(kind.cls).named_parameters())
        assert {name: each.shape for name, each in ours.items()} == {
            name: each.shape for name, each in theirs.items()
        }
        learned = [name for name, each in ours.items() if each.ndim > 1]
        assert learned and not any(torch.equal(ours[name], theirs[name]) for name in learned)
        assert twin.missing(kind.name) == ()
        assert not twin.calibration(kind.cls).named
    encoders = {id(twin.model(kind.cls).encoder_model) for kind in KINDS.values()}
    words = {
        twin.model(kind.cls).encoder_model.embeddings.word_embeddings.weight.data_ptr()
        for kind in KINDS.values()
    }
    assert len(encoders) > 1 and len(words) == 1


def test_the_weights_are_the_same_whenever_they_are_made(twin: Engine, bundled: Engine) -> None:
    again = bundled.untrained()
    for cls in (BertForMaskedLM, BertForTokenClassification):
        ours = twin.model(cls).state_dict()
        assert all(torch.equal(each, ours[name]) for name, each in
                   again.model(cls).state_dict().items())  # fmt: skip


def test_it_guesses_by_chance_and_every_face_says_so(twin: Engine) -> None:
    answer = ask("fill_mask", GAP, model=TWIN)
    assert answer.result.slots[0].choices > 10_000
    assert answer.notices == (KNOWS_NOTHING,)
    assert answer.model.name == TWIN and TWIN in answer.text() and "random" in answer.model.origin
    assert KNOWS_NOTHING in " ".join(answer.text().split())
    assert KNOWS_NOTHING in answer.html().decode()
    assert "it knows nothing" in str(write(declared("fill_mask"), {"text": GAP}, TWIN).markup)
    card = ask("model_card", model=TWIN)
    assert card.notices == (KNOWS_NOTHING,)
    assert not (card.result.figures or card.result.text or card.result.verifiable)
    with pytest.raises(MissingFileError, match="no reference for explorer-mini-uncased untrained"):
        twin.verify()


def test_a_bare_answer_of_a_program_says_so_too(twin: Engine) -> None:
    row = json.loads(answer_rows("fill_mask", TWIN, [({"text": GAP}, "")]))
    called = json.loads(job(declared("fill_mask"), {"text": GAP, "model": TWIN})())
    for each in (row["answer"], called, ask("fill_mask", GAP, model=TWIN).json()):
        assert each["provenance"]["notices"] == [KNOWS_NOTHING]
    assert "notices" not in ask("fill_mask", GAP).json()["provenance"]


def test_a_lesson_on_paper_and_a_page_say_so(twin: Engine, bundled: Engine) -> None:
    found = lesson("pieces")
    assert KNOWS_NOTHING in str(whole(twin, found)[0])
    assert KNOWS_NOTHING not in sheet(bundled, found, "http://127.0.0.1").decode()
    page = opened("pages/2_fill_mask.py", model=TWIN)
    assert "was never trained: its weights are random" in markup(page)


def test_nobody_is_sent_to_it_but_it_may_be_named_beside(bundled: Engine) -> None:
    assert another_fitting(BUNDLED_MODEL, ("BertForMaskedLM",)) is None
    assert another_fitting(TWIN, ()) == BUNDLED_MODEL
    assert second_model(bundled, TWIN, "BertForMaskedLM").facts.untrained


def test_it_counts_as_a_model_of_its_size_and_only_once_it_was_chosen(
    twin: Engine, bundled: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert twin.facts.memory_bytes == bundled.facts.memory_bytes > 0
    assert is_open(offers()[TWIN])
    monkeypatch.setattr(store, "_OPENED", Cache(twin.facts.memory_bytes, most=2, least=1))
    monkeypatch.setattr(store, "Engine", lambda *_: bundled)
    open_engine(offers()[BUNDLED_MODEL])
    assert not is_open(offers()[TWIN])
    open_engine(offers()[TWIN])
    assert is_open(offers()[TWIN]) and not is_open(offers()[BUNDLED_MODEL])
