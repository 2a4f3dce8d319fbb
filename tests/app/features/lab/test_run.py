"""One run: exact repetition in plain Python, going on after a restart, what is taken along."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining as Reference

from app.features.lab.result import Point
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_corpora import facts, own_text
from app.features.lab.task_model import corpus_file
from app.features.lab.task_run import MOST_POINTS, Run, thinned
from bert_core.errors import InputError
from tests.snippets import ran

SMALL = LabSettings(corpus="facts", width=32, layers=2, steps=500)
TEXT = "The cat sat on the mat. A dog ran to the old house. We saw the cat near the river. " * 30


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(run: Run, steps: int) -> list[float]:
    """Train some steps; return their losses."""
    run.prepare()
    trainer = run._ready[1].trainer
    return [trainer.step().loss for _ in range(steps)]


@torch.inference_mode()
def look(run: Run) -> Point:
    run.look()
    return run.points[-1]


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        replace(SMALL, shared=True, positions=False, next_sentence=True, mask_rate=40, seed=3),
        replace(SMALL, whole_words=True, pieces=200, shuffled=True, sentences=200),
    ],
)
def test_the_python_lines_repeat_the_run_exactly(
    settings: LabSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(settings)
    losses = train(run, 12)
    monkeypatch.chdir(tmp_path)
    for name in ("corpus.txt", "train.py"):
        (tmp_path / name).write_bytes(run.files()[name])
    script = run.python()
    assert len([line for line in script.splitlines() if line and not line.startswith("    ")]) < 24
    # Twelve steps of the same schedule instead of all.
    script = script.replace("while not trainer.done:", "for _ in range(12):")
    _, printed = ran(script)
    assert [float(line) for line in printed.splitlines()] == losses
    assert (tmp_path / "my-bert" / "model.safetensors").is_file()


@pytest.mark.parametrize("change", [{}, {"shared": True, "layers": 3}, {"positions": False}])
def test_every_folder_is_a_plain_bert_for_transformers(
    change: dict[str, Any], tmp_path: Path
) -> None:
    run = Run(replace(SMALL, **change))
    train(run, 8)
    for name, content in run.files().items():
        (tmp_path / name).write_bytes(content)
    reference = Reference.from_pretrained(tmp_path).eval()
    ids = run.tokenizer.encode("the capital of france is [MASK] .").input_ids
    with torch.no_grad():
        ours = run._ready[1].model.run(torch.tensor([ids]))
        theirs = reference(torch.tensor([ids]))
    assert ours.logits is not None
    assert ours.seq_relationship_logits is not None
    torch.testing.assert_close(ours.logits, theirs.prediction_logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(
        ours.seq_relationship_logits, theirs.seq_relationship_logits, atol=1e-5, rtol=0
    )
    state = reference.state_dict()
    if "shared" in change:
        key = "bert.encoder.layer.{}.output.dense.weight"
        assert all(torch.equal(state[key.format(0)], state[key.format(n)]) for n in (1, 2))
    if "positions" in change:
        assert not state["bert.embeddings.position_embeddings.weight"].any()


def test_a_run_goes_on_after_a_restart_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = Run(SMALL)
    losses = train(whole, 20)
    first = Run(SMALL, folder=tmp_path / "a")
    begun = train(first, 13)
    look(first)
    first.save()
    train(first, 3)  # lost: the server ends here
    second = Run(SMALL, folder=tmp_path / "a")
    second.prepare()
    assert second.step == 13
    assert begun + train(second, 7) == losses
    before, after = first.points[0], second.points[0]
    assert (after.step, after.guesses) == (before.step, before.guesses)
    np.testing.assert_array_equal(after.attention, before.attention)
    assert sorted(second.states) == [0]


def test_own_text_is_never_saved(tmp_path: Path) -> None:
    run = Run(replace(SMALL, corpus="own"), TEXT, tmp_path / "own")
    run.prepare()
    run.advance(0.01)
    look(run)
    run.save()
    assert not list(tmp_path.iterdir())
    assert b"the cat sat" in run.files()["corpus.txt"].lower()


def test_a_short_text_is_refused() -> None:
    with pytest.raises(InputError, match="2 sentences"):
        own_text("The cat sat down. The dog ran away.")


def test_a_point_has_what_the_page_draws() -> None:
    run = Run(SMALL)
    run.prepare()
    first = look(run)
    run.advance(0.2)
    point = look(run)
    start = run.start
    tokens = len(start.attended)
    assert point.step > first.step == 0
    assert first.loss == start.log_v
    assert start.unigram < start.log_v
    assert point.attention.shape == (2, 4, tokens, tokens)
    np.testing.assert_allclose(point.attention.astype(float).sum(-1), 1, atol=5e-3)
    assert point.vectors.shape == (len(start.shown), 2)
    assert len(point.accuracy) == len(start.phenomena)
    assert all(0 <= share <= 1 for share in point.accuracy)
    assert len(point.guesses) == len(start.watched) == 5
    assert point.steps_a_second > 0 < point.left


def test_the_rows_say_what_happened_to_each_piece() -> None:
    run = Run(replace(SMALL, next_sentence=True, mask_rate=40))
    run.prepare()
    seen = set()
    for row in run.start.rows:
        seen |= set(row.fates)
        for piece, given, fate in zip(row.pieces, row.given, row.fates, strict=True):
            assert (given == "[MASK]") == (fate == "masked")
            assert (piece == given) == (fate in {"", "kept"})
        assert 1 in row.segments
        assert row.follows in {True, False}
        assert row.real == tuple(piece != "[PAD]" for piece in row.pieces)
    assert seen >= {"", "masked"}


def test_joins_come_in_order_and_make_the_vocabulary() -> None:
    run = Run(SMALL)
    run.prepare()
    counts = [join.count for join in run.start.joins]
    assert counts == sorted(counts, reverse=True)
    assert {join.piece for join in run.start.joins} <= set(run.tokenizer.vocab)


def test_divergence_is_a_result() -> None:
    run = Run(SMALL)
    run.prepare()
    trainer = run._ready[1].trainer
    with torch.no_grad():
        run._ready[1].model.bert.embeddings.word_embeddings.weight.fill_(float("nan"))
    run.advance(1.0)
    assert run.done
    assert "expected a finite number" in run.diverged
    assert trainer.steps_done == 0
    with torch.inference_mode():
        run.look()
    assert not run.points


def test_looking_at_weights_that_are_no_numbers_ends_the_run() -> None:
    run = Run(SMALL)
    train(run, 1)
    with torch.no_grad():
        run._ready[1].model.bert.embeddings.word_embeddings.weight.fill_(float("nan"))
    with torch.inference_mode():
        run.look()
    assert run.done
    assert "After step 1, the loss is nan" in run.diverged


def test_scrubbing_back_gives_the_weights_of_then() -> None:
    run = Run(replace(SMALL, steps=500))
    run.prepare()
    begun = run.model_at(0).bert.embeddings.word_embeddings.weight
    train(run, 30)
    run._keep_state()
    now = run._ready[1].model.bert.embeddings.word_embeddings.weight
    torch.testing.assert_close(begun, run.model_at(0).bert.embeddings.word_embeddings.weight)
    assert not torch.allclose(begun, now, atol=1e-2)
    torch.testing.assert_close(run.model_at().bert.embeddings.word_embeddings.weight, now)


def test_a_sentence_can_be_filled_now_and_as_it_was_then() -> None:
    run = Run(SMALL)
    run.prepare()
    text = "the capital of [MASK] is [MASK] ."
    with torch.inference_mode():
        begun = run.fill(text, 0)
        same = run.fill(text)
    assert [len(each) for each in begun] == [5, 5]
    assert [word for word, _ in begun[0]] == [word for word, _ in same[0]]
    train(run, 30)
    with torch.inference_mode():
        assert run.fill(text, 0) == begun != run.fill(text)
        assert run.fill(text.replace("[MASK]", "___"), 0) == begun
        with pytest.raises(InputError, match="no \\[MASK\\]"):
            run.fill("the capital")


def test_points_are_bounded() -> None:
    run = Run(SMALL)
    run.prepare()
    point = look(run)
    points: list[Any] = []
    for step in range(3 * MOST_POINTS):
        points = thinned([*points, replace(point, step=step)], MOST_POINTS)
        assert len(points) <= MOST_POINTS
    assert (points[0].step, points[-1].step) == (0, 3 * MOST_POINTS - 1)


def test_facts_hold_out_one_wording_of_each() -> None:
    corpus = facts()
    assert not set(corpus.held_out) & set(corpus.sentences)
    assert {each.name for each in corpus.phenomena} == {
        "capital",
        "continent",
        "language",
        "people",
    }
    assert corpus_file(corpus).count("\n\n") == len(corpus.documents) - 1


@pytest.mark.parametrize(
    "change", [{"mask_rate": 20}, {"layers": 99}, {"positions": 1}, {"corpus": "web"}]
)
def test_settings_refuse_what_is_no_choice(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected one of"):
        replace(SMALL, **change)


def test_settings_go_into_a_link_and_come_back() -> None:
    wanted = replace(SMALL, learning_rate=0.03, shared=True, mask_rate=80)
    assert LabSettings.from_link(wanted.link()) == wanted
    assert LabSettings().link() == {}
    with pytest.raises(InputError):
        LabSettings.from_link({"heads": "drop table"})
