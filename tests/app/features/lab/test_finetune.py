"""Fine-tuning a tiny model: it learns, leaves the model it began with alone, one at a time."""

import io
import re
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification as Reference

from app.engine.models import Engine
from app.features.lab import task_finetune
from app.features.lab import view_finetune as view
from app.features.lab.result_finetune import TEXTS, WORDS, FinetuneResult
from app.features.lab.task_finetune import Tuned, lab_finetune, tune
from app.features.lab.task_finetune_recorded import recorded, weights_of
from app.features.lab.task_finetune_rows import READY, ready
from app.settings import BUNDLED_MODEL
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.errors import InputError
from tests.strangers import until

WORD = ("the cat sat on the mat", "a dog on the river bank")
ROWS = "".join(f"{WORD[n % 2]} {'!' * (n // 2)}\t{('cat', 'dog')[n % 2]}\n" for n in range(16))
TAGS = "".join(f"the {'cat' if n % 2 else 'dog'} {'!' * n}\tO B O\n" for n in range(1, 17))


def extract(tuned: Tuned, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(tuned.archive())) as archive:
        archive.extractall(folder)


@pytest.fixture(scope="module")
def texts(tiny_engine: Engine) -> Tuned:
    return tune(tiny_engine, ROWS, TEXTS, 50)


@pytest.fixture(scope="module")
def words(tiny_engine: Engine) -> Tuned:
    return tune(tiny_engine, TAGS, WORDS, 50)


def test_it_learns_and_counts_held_out_labels(texts: Tuned, words: Tuned) -> None:
    for run, cases in ((texts, 4), (words, None)):
        found = run.result
        first, last = found.points[0], found.points[-1]
        assert (first.step, last.step) == (0, 50)
        assert last.loss < first.loss
        assert last.cases == (cases or sum(len(row.labels) for row in run.rows.held_out))
        assert last.right == last.cases - len(found.mistakes)
        assert found.low <= last.right / last.cases <= found.high


def test_the_model_it_began_with_is_unchanged(tiny_engine: Engine) -> None:
    base = tiny_engine.model(BertForPreTraining)
    before = {name: value.clone() for name, value in base.state_dict().items()}
    trainable = [value.requires_grad for value in base.parameters()]
    run = tune(tiny_engine, ROWS, TEXTS, 50)
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())
    assert [value.requires_grad for value in base.parameters()] == trainable
    assert not base.training
    own, shared = run._model.bert, base.bert
    words = (each.embeddings.word_embeddings.weight.data_ptr() for each in (own, shared))
    assert len(set(words)) == 1  # not copied
    query = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(own.state_dict()[query], shared.state_dict()[query])
    assert run._model.config.temperatures == {}


def test_a_folder_that_transformers_opens(texts: Tuned, tmp_path: Path) -> None:
    extract(texts, tmp_path)
    reference = Reference.from_pretrained(tmp_path).eval()
    assert reference.config.id2label == {0: "cat", 1: "dog"}
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    encoding = tokenizer.encode("a dog on the mat")
    with torch.inference_mode():
        theirs = reference(torch.tensor([encoding.input_ids])).logits[0].softmax(-1)
    (_, label, share), *_ = texts.ask("a dog on the mat")
    assert label == reference.config.id2label[int(theirs.argmax())]
    assert share == pytest.approx(float(theirs.max()), abs=1e-5)


def test_a_text_of_ones_own_is_labelled(texts: Tuned, words: Tuned) -> None:
    (text, label, share), *rest = texts.ask("the cat sat on the mat")
    assert (text, rest) == ("the cat sat on the mat", [])
    assert label in texts.rows.labels and 0.5 <= share <= 1
    assert [word for word, *_ in words.ask("the cat \x07 sat")] == ["the", "cat", "sat"]
    with pytest.raises(InputError, match="no piece"):
        texts.ask("\x07")


def test_long_rows_are_cut_and_counted(tiny_engine: Engine) -> None:
    long = " ".join(["cat"] * 80)
    assert tune(tiny_engine, ROWS + f"{long}\tcat\n", TEXTS, 10).result.cut == 1


def test_divergence_is_a_result(tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_finetune, "LEARNING_RATE", 1e30)
    found = tune(tiny_engine, ROWS, TEXTS, 50).result
    assert "finite" in found.diverged or "loss is" in found.diverged
    assert found.points[0].step == 0


def test_one_visitor_trains_at_a_time_and_the_others_wait(tiny_engine: Engine) -> None:
    waits = threading.Event()
    found: list[Any] = []

    def other() -> None:
        found.append(tune(tiny_engine, ROWS, TEXTS, 10, lambda done, _: done or waits.set()))

    with task_finetune._alone(lambda: None):
        thread = threading.Thread(target=other)
        thread.start()
        until(waits.is_set)
        assert not found
    thread.join(60)
    assert found[0].result.last.step == 10


def test_who_waits_too_long_is_told_and_who_leaves_frees_the_place(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LeftError(Exception):
        pass

    def leave(done: int, _: int) -> None:
        if done:
            raise LeftError

    monkeypatch.setattr(task_finetune, "LONGEST", 0.0)
    with task_finetune._alone(lambda: None), pytest.raises(InputError, match="Try again"):
        tune(tiny_engine, ROWS, TEXTS, 10)
    monkeypatch.undo()
    with pytest.raises(LeftError):
        tune(tiny_engine, ROWS, TEXTS, 10, leave)
    assert tune(tiny_engine, ROWS, TEXTS, 10).result.last.step == 10


@pytest.mark.parametrize("kind", READY.values())
def test_a_recording_begins_as_fine_tuning_does_today(kind: str) -> None:
    found = recorded(kind)
    assert (found.points[0].step, found.last.step) == (0, 100)
    assert found.last.right == found.last.cases - len(found.mistakes)
    assert found.low > found.rows.guess
    engine = Engine(BUNDLED_MODEL)
    assert engine.provenance.fingerprint == weights_of(kind)
    run = tune(engine, ready(kind), kind, 1).result
    assert run.points[0].held_out == pytest.approx(found.points[0].held_out, rel=1e-3)
    assert run.parameters == found.parameters


def test_interfaces_that_wait_get_a_recording_or_a_training(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = Engine(BUNDLED_MODEL)
    assert lab_finetune(bundled) == recorded(TEXTS)
    assert lab_finetune(bundled, labelled="words") == recorded(WORDS)
    assert lab_finetune(tiny_engine, ROWS, steps=10).last.step == 10
    monkeypatch.setattr(task_finetune, "LONGEST", 0.01)
    assert tune(tiny_engine, ROWS, TEXTS, 50).result.diverged.startswith("Ended")
    monkeypatch.setenv("BERT_EXPLORER_LAB", "off")
    with pytest.raises(InputError, match="trains no models"):
        lab_finetune(tiny_engine, ROWS)
    assert lab_finetune(bundled) == recorded(TEXTS)


def test_a_model_that_is_too_large_is_refused(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_finetune, "MOST_TRAINED", 1_000)
    with pytest.raises(InputError, match="Choose a smaller model"):
        tune(tiny_engine, ROWS, TEXTS, 10)


@pytest.mark.slow
def test_a_recording_is_made_again_alike() -> None:
    found = recorded(TEXTS)
    again = tune(Engine(BUNDLED_MODEL), ready(TEXTS), TEXTS, 100).result
    assert again.last.right == pytest.approx(found.last.right, abs=1)
    assert again.last.held_out == pytest.approx(found.last.held_out, rel=0.1)


@pytest.fixture(scope="module")
def found(words: Tuned) -> FinetuneResult:
    return words.result


def test_the_curves_follow_the_numbers(found: FinetuneResult) -> None:
    drawn = str(view.curves(found).wide)
    lines = re.findall(r'<polyline points="([^"]+)"', drawn)
    assert len(lines) == 3
    shares = [float(point.split(",")[1]) for point in lines[2].split()]
    wanted = [30 + 150 * (1 - each.right / each.cases) for each in found.points]
    assert shares == pytest.approx(wanted, abs=0.06)
    low, high = re.search(r'y1="([\d.]+)" y2="([\d.]+)"[^>]*class="bx-ft-interval"', drawn).groups()  # type: ignore[union-attr]
    assert [float(low), float(high)] == pytest.approx(
        [30 + 150 * (1 - found.low), 30 + 150 * (1 - found.high)], abs=0.06
    )
    table = view.curves(found).table
    assert list(table["step"])[:: len(table) - 1] == [0, 50]
    assert "label" in view.curves(found).alt


def test_the_headline_has_the_interval_and_the_guess(found: FinetuneResult) -> None:
    says = str(view.screen(found).answer).replace("\xa0", " ")
    assert f"{found.last.right} of {found.last.cases} held-out words right" in says
    assert "95 % interval" in says and "Always saying “O” gets" in says
    assert "percentage points wide" in str(view.few(found))


def test_rows_never_become_markup(tiny_engine: Engine) -> None:
    hostile = ROWS.replace("\tcat", "\t<b>cat").replace("the cat sat", "the <i>cat sat")
    found = tune(tiny_engine, hostile, TEXTS, 1).result
    drawn = "".join(map(str, view.screen(found).report().drawn()))
    assert found.mistakes
    assert "<b>" not in drawn and "<i>" not in drawn and "&lt;b&gt;cat" in drawn
