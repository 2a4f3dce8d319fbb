"""Fine-tuning a tiny model: it learns, leaves the model it began with alone, and can be kept."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertForSequenceClassification as Reference

from app.engine.models import Engine
from app.features.lab import view_finetune as view
from app.features.lab.result import State, Status
from app.features.lab.result_finetune import TEXTS, WORDS, FinetuneResult
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_finetune import EVERY, completed, lab_finetune
from app.features.lab.task_finetune_recorded import recorded, weights_of
from app.features.lab.task_finetune_rows import READY, ready
from app.features.lab.task_finetune_run import Tuning, tunable
from app.features.lab.task_lab import Job, Labs
from app.records.counted import wilson
from app.settings import BUNDLED_MODEL
from bert_core import BertForPreTraining, BertForTokenClassification, BertModel, BertTokenizer
from bert_core.errors import InputError
from tests.snippets import ran
from tests.strangers import until

WORD = ("the cat sat on the mat", "a dog on the river bank")
ROWS = "".join(f"{WORD[n % 2]} {'!' * (n // 2)}\t{('cat', 'dog')[n % 2]}\n" for n in range(16))
TAGS = "".join(f"the {'cat' if n % 2 else 'dog'} {'!' * n}\tO B O\n" for n in range(1, 17))


def trained(engine: Engine, text: str, kind: str, steps: int = 50) -> Tuning:
    """Train to the end, without a thread."""
    run = Tuning(engine, text, kind, steps)
    run.prepare()
    with torch.inference_mode():
        run.look()
    while not run.done:
        run.advance(0.05)
    with torch.inference_mode():
        run.look()
    return run


@pytest.fixture(scope="module")
def texts(tiny_engine: Engine) -> Tuning:
    return trained(tiny_engine, ROWS, TEXTS)


@pytest.fixture(scope="module")
def words(tiny_engine: Engine) -> Tuning:
    return trained(tiny_engine, TAGS, WORDS)


def test_it_learns_and_counts_held_out_labels(texts: Tuning, words: Tuning) -> None:
    for run, cases in ((texts, 4), (words, None)):
        first, last = run.points[0], run.points[-1]
        assert (first.step, last.step) == (0, 50)
        assert last.loss < first.loss
        found = run.result()
        assert last.cases == (cases or sum(len(row.labels) for row in run.rows.held_out))
        assert last.right == last.cases - len(found.mistakes)
        assert found.low <= last.right / last.cases <= found.high


def test_the_model_it_began_with_is_unchanged(tiny_engine: Engine) -> None:
    base = tiny_engine.model(BertForPreTraining)
    before = {name: value.clone() for name, value in base.state_dict().items()}
    trainable = [value.requires_grad for value in base.parameters()]
    run = trained(tiny_engine, ROWS, TEXTS, 50)
    assert run._model is not None
    assert all(torch.equal(value, before[name]) for name, value in base.state_dict().items())
    assert [value.requires_grad for value in base.parameters()] == trainable
    assert not base.training
    own, shared = run._model.bert, base.bert
    words = (each.embeddings.word_embeddings.weight.data_ptr() for each in (own, shared))
    assert len(set(words)) == 1  # not copied
    query = "encoder.layer.0.attention.self.query.weight"
    assert not torch.equal(own.state_dict()[query], shared.state_dict()[query])
    assert run._model.config.temperatures == {}


def test_the_problem_of_an_earlier_head_is_not_that_of_the_new_one(
    tiny_engine: Engine, texts: Tuning
) -> None:
    base = BertModel.from_model(tiny_engine.model(BertForPreTraining))
    base.config = base.config.changed({"problem_type": "regression"})
    assert tunable(base, texts.rows).config.problem_type == "single_label_classification"


def test_equal_rows_give_equal_weights(tiny_engine: Engine, texts: Tuning) -> None:
    again = trained(tiny_engine, ROWS, TEXTS)
    assert again.points[-1].held_out == texts.points[-1].held_out


@pytest.mark.parametrize(("text", "kind"), [(ROWS, TEXTS), (TAGS, WORDS)])
def test_the_python_lines_repeat_it_exactly(
    text: str, kind: str, tiny_engine: Engine, tiny_folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run = Tuning(tiny_engine, text, kind, 50)
    run.prepare()
    assert run._trainer is not None
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    losses = [run._trainer.step().loss for _ in range(12)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.tsv").write_bytes(run.files()["train.tsv"])
    script = run.python().replace(f"name = {tiny_folder.name!r}", f"name = {str(tiny_folder)!r}")
    script = script.replace("while not trainer.done:", "for _ in range(12):")
    _, printed = ran(script)
    torch.set_num_threads(before)
    assert [float(line) for line in printed.splitlines()] == losses
    assert (tmp_path / "my-bert" / "model.safetensors").is_file()


def test_mistakes_name_row_and_word(words: Tuning) -> None:
    for each in words.result().mistakes:
        assert each.row.labels[each.place] == each.wanted != each.said
        assert each.row in words.rows.held_out


def test_a_folder_that_transformers_opens(texts: Tuning, tmp_path: Path) -> None:
    for name, content in texts.files().items():
        (tmp_path / name).write_bytes(content)
    reference = Reference.from_pretrained(tmp_path).eval()
    assert reference.config.id2label == {0: "cat", 1: "dog"}
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    encoding = tokenizer.encode("a dog on the mat")
    with torch.inference_mode():
        theirs = reference(torch.tensor([encoding.input_ids])).logits[0].softmax(-1)
        (_, label, share), *_ = texts.ask("a dog on the mat")
    assert label == reference.config.id2label[int(theirs.argmax())]
    assert share == pytest.approx(float(theirs.max()), abs=1e-5)


@torch.inference_mode()
def test_a_text_of_ones_own_is_labelled(texts: Tuning, words: Tuning) -> None:
    (text, label, share), *rest = texts.ask("the cat sat on the mat")
    assert (text, rest) == ("the cat sat on the mat", [])
    assert label in texts.rows.labels and 0.5 <= share <= 1
    assert [word for word, *_ in words.ask("the cat \x07 sat")] == ["the", "cat", "sat"]
    with pytest.raises(InputError, match="no piece"):
        texts.ask("\x07")


def test_long_rows_are_cut_and_counted(tiny_engine: Engine) -> None:
    long = " ".join(["cat"] * 80)
    rows = ROWS + f"{long}\tcat\n"
    run = Tuning(tiny_engine, rows, TEXTS)
    run.prepare()
    assert run._cut == 1


def test_divergence_is_a_result(tiny_engine: Engine) -> None:
    run = Tuning(tiny_engine, ROWS, TEXTS)
    run.prepare()
    assert run._model is not None
    with torch.no_grad():
        run._model.classifier.weight.fill_(float("nan"))
    run.advance(0.1)
    assert run.done
    assert "finite" in run.diverged


# -- in line ---------------------------------------------------------------------------------------


def test_it_trains_in_the_line_of_the_labs(tiny_engine: Engine, labs: Labs) -> None:
    first = labs.start(LabSettings(corpus="facts", width=32, layers=1, steps=4_000), owner="ada")
    job = labs.train(Tuning(tiny_engine, ROWS, TEXTS, 50), owner="bob")
    until(lambda: labs.ask(first).state is State.RUNNING and first.runs[0].step)
    assert (labs.ask(job).state, labs.ask(job).before) == (State.WAITING, 1)
    with pytest.raises(InputError, match="run already"):
        labs.train(Tuning(tiny_engine, ROWS, TEXTS), owner="ada")
    labs.stop(first)
    until(lambda: labs.ask(job).state is State.DONE)
    assert job.runs[0].points[-1].step == 50
    assert job.runs[0]._trainer is None  # its memory is free


def test_own_rows_never_touch_the_disk_and_belong_to_their_visitor(
    tiny_engine: Engine, labs: Labs, tmp_path: Path
) -> None:
    job = labs.train(Tuning(tiny_engine, ROWS, TEXTS, 50), owner="ada")
    until(lambda: labs.ask(job).state is State.DONE)
    assert labs.held(job.key, "ada") is job
    assert labs.held(job.key, "bob") is None and labs.held(job.key, "") is None
    assert labs.find(job.key, "ada") is None  # no run of the lab
    with pytest.raises(InputError, match="Download it"):
        labs.open_elsewhere(job)
    assert not list(tmp_path.rglob("*"))


def test_a_ready_made_set_opens_on_the_page_of_its_kind(
    tiny_engine: Engine, labs: Labs, tmp_path: Path
) -> None:
    job = labs.train(Tuning(tiny_engine, ready(WORDS), WORDS, 50), owner="ada")
    until(lambda: labs.ask(job) and job.runs[0].points)
    labs.stop(job)
    until(lambda: not labs._working)
    name = labs.open_elsewhere(job)
    assert name.startswith("tuned-")
    model = BertForTokenClassification.from_pretrained(tmp_path / "lab" / "models" / name)
    assert tuple(model.config.id2label.values()) == job.runs[0].rows.labels
    assert model.load_report is None or not model.load_report.missing


def test_a_page_that_is_closed_stops_it(tiny_engine: Engine, tmp_path: Path) -> None:
    labs = Labs(None, patience=0.3)
    job: Job[Any] = labs.train(Tuning(tiny_engine, ROWS, TEXTS, 200_000), owner="ada")
    until(lambda: not labs._working, 10)
    assert job.state is State.STOPPED


def test_models_on_disk_are_bounded_in_bytes(
    tiny_engine: Engine, labs: Labs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = labs.train(Tuning(tiny_engine, ready(TEXTS), TEXTS, 50), owner="ada")
    until(lambda: labs.ask(job).state is State.DONE)
    size = sum(map(len, job.runs[0].files().values()))
    monkeypatch.setattr("app.features.lab.task_lab._MOST_BYTES", 2.5 * size)
    for key in ("a" * 16, "b" * 16, "c" * 16):
        job.key = key
        labs.open_elsewhere(job)
    names = sorted(each.name[:9] for each in (tmp_path / "lab" / "models").iterdir())
    assert names == ["tuned-bbb", "tuned-ccc"]


# -- recorded --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", READY.values())
def test_a_recording_is_what_fine_tuning_does_today(kind: str) -> None:
    found = recorded(kind)
    assert [each.step for each in found.points] == list(range(0, 101, EVERY))
    assert found.last.right == found.last.cases - len(found.mistakes)
    assert found.low > found.rows.guess
    engine = Engine(BUNDLED_MODEL)
    assert engine.provenance.fingerprint == weights_of(kind)
    run = Tuning(engine, ready(kind), kind, found.steps)
    run.prepare()
    with torch.inference_mode():
        run.look()
    assert run.points[0].held_out == pytest.approx(found.points[0].held_out, rel=1e-3)
    assert run.result().parameters == found.parameters


def test_faces_that_wait_get_a_recording_or_a_training(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = Engine(BUNDLED_MODEL)
    assert lab_finetune(bundled) == recorded(TEXTS)
    assert lab_finetune(bundled, labelled="words") == recorded(WORDS)
    found = lab_finetune(tiny_engine, ROWS, steps=10)
    assert [each.step for each in found.points] == [0, 4, 8, 10]
    assert completed(Tuning(tiny_engine, ROWS, TEXTS), longest=0.0).diverged.startswith("Ended")
    monkeypatch.setenv("BERT_EXPLORER_LAB", "off")
    with pytest.raises(InputError, match="trains no models"):
        lab_finetune(tiny_engine, ROWS)
    assert lab_finetune(bundled) == recorded(TEXTS)


def test_a_model_that_is_too_large_is_refused(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.features.lab.task_finetune_run.MOST_TRAINED", 1_000)
    with pytest.raises(InputError, match="Choose a smaller model"):
        Tuning(tiny_engine, ROWS, TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", READY.values())
def test_a_recording_is_made_again_alike(kind: str) -> None:
    found, again = recorded(kind), completed(Tuning(Engine(BUNDLED_MODEL), ready(kind), kind))
    assert again.last.right == pytest.approx(found.last.right, abs=1)
    assert again.last.held_out == pytest.approx(found.last.held_out, rel=0.1)


# -- what is drawn ---------------------------------------------------------------------------------


def test_wilson_holds_at_the_ends() -> None:
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-3)
    assert wilson(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-3)


@pytest.fixture(scope="module")
def found(words: Tuning) -> FinetuneResult:
    return words.result()


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
    assert list(table["step"]) == [0, 50]
    assert "label" in view.curves(found).alt


def test_the_headline_has_the_interval_and_the_guess(found: FinetuneResult) -> None:
    says = str(view.headline(found))
    assert f"{found.last.right} of {found.last.cases} held-out words right" in says
    assert "95 % interval" in says and "Always saying “O” gets" in says
    assert "percentage points wide" in str(view.few(found))


def test_rows_never_become_markup(tiny_engine: Engine) -> None:
    hostile = ROWS.replace("\tcat", "\t<b>cat").replace("the cat sat", "the <i>cat sat")
    run = Tuning(tiny_engine, hostile, TEXTS)
    run.prepare()
    with torch.inference_mode():
        run.look()
    found = run.result()
    drawn = str(view.mistakes(found)) + str(view.divided(found)) + str(view.headline(found))
    assert found.mistakes
    assert "<b>" not in drawn and "<i>" not in drawn and "&lt;b&gt;cat" in drawn


def test_where_it_is_is_said_in_words(found: FinetuneResult) -> None:
    assert "waits: 2 trainings before yours." in str(
        view.status_line(Status(State.WAITING, 2), None)
    )
    assert "stopped at step 50 of 50." in str(view.status_line(Status(State.STOPPED), found))
    assert "trains: step 50 of 50" in str(view.status_line(Status(State.RUNNING), found))


def test_all_right_is_no_proof(tiny_engine: Engine, texts: Tuning) -> None:
    found = texts.result()
    if not found.mistakes:
        assert "cannot show" in str(view.mistakes(found))
