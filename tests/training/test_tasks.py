"""The task stage: rows, batches, losses, and a bundle whose heads share one encoder."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.errors import InputError, MissingFileError
from bert_core.finetuning import Question
from tests.training.conftest import ROWS, quiet, settings
from training.export import export
from training.lessons import run_stage
from training.rows import (
    CHOICE_FILES,
    MISC_SOURCES,
    TAGS,
    TWO_CHOICE_FILES,
    choices,
    json_rows,
    questions,
    tagged_words,
    typed,
    unanswerable,
    without_answer,
)
from training.start import start_model
from training.task_model import HEADS, TaskModel, TaskPart, start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows


def mixture(data: Path, encoder: Path) -> TaskMixture:
    tokenizer = BertTokenizer.from_pretrained(encoder)
    return TaskMixture(TaskRows.read(data, 1), tokenizer, ROWS, lambda step, progress: [])


def of_step(batches: TaskMixture, step: int, *tasks: str) -> list[TaskPart]:
    parts = [part for part in batches(step, 0.0) if isinstance(part, TaskPart)]
    return [part for part in parts if not tasks or part.task in tasks]


@pytest.fixture
def model(encoder: Path) -> TaskModel:
    torch.manual_seed(0)
    return start_task_model(start_model(encoder), str(encoder)).eval()


# -- rows --------------------------------------------------------------------------------------


def test_an_unanswerable_question_is_asked_of_a_like_passage_without_the_answer() -> None:
    bridge = "{} crossed the stone bridge before noon."
    rows = [Question("Who crossed it?", bridge.format(name), name) for name in ("Ada", "Bo")]
    rows.append(Question("Who slept?", "Cy slept in the tower.", "Cy"))
    rows += [Question("What fell?", f"Snow fell {number} times.", "Snow") for number in range(30)]
    made = {(row.question, row.context) for row in unanswerable(rows, len(rows), seed=1)}
    assert ("Who crossed it?", bridge.format("Bo")) in made
    assert ("Who crossed it?", bridge.format("Ada")) in made
    assert not any(question == "What fell?" and "Snow" in context for question, context in made)
    assert unanswerable([rows[0]], 1, seed=1) == []  # there is no other passage
    [made_one] = unanswerable([rows[0]], 1, seed=1, among=rows)
    assert made_one.answer is None and made_one.context == bridge.format("Bo")


def test_a_passage_loses_the_sentences_that_answer() -> None:
    passage = "Ada slept. Bo ran home. Cy saw the tower."
    [made] = without_answer([Question("Who ran?", passage, "Bo", 11)], 1, seed=1)
    assert made == Question("Who ran?", "Ada slept. Cy saw the tower.", None)


def test_a_film_review_is_put_together_as_a_person_types() -> None:
    assert typed("it does n't work , but `` fun '' is -lrb- nearly -rrb- there") == (
        'It doesn\'t work, but "fun" is (nearly) there.'
    )
    assert typed("is it good ?") == "Is it good?"


def test_tagged_words_keep_word_and_tag_together_and_an_unknown_tag_is_refused(
    task_data: Path,
) -> None:
    rows = tagged_words(task_data, MISC_SOURCES)
    assert len(rows) == 6 * len(MISC_SOURCES)
    named = [(word, TAGS[tag]) for word, tag in zip(rows[0].words, rows[0].tags, strict=True)]
    assert named[1:3] == [("aunt", "B-PER"), ("river", "I-PER")]
    path = task_data / "ner" / "by-source" / "wikigold.conll"
    path.write_text("Rome\tB-CITY\n", encoding="utf-8")
    with pytest.raises(InputError, match="B-CITY"):
        tagged_words(task_data, ["wikigold"])
    with pytest.raises(MissingFileError, match="nowhere"):
        tagged_words(task_data, ["nowhere"])


def test_rows_for_fitting_are_not_among_those_for_training(
    task_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*CHOICE_FILES, *TWO_CHOICE_FILES):
        everything = json_rows(task_data / "mc" / f"{name}.jsonl")
        trained = choices(task_data, [name])
        kept = choices(task_data, [name], kept_apart=True)
        assert len(trained) + len(kept) == len(everything)
        assert kept and not set(kept) & set(trained)
    every = questions(task_data, ["train", "train_lower"])
    kept_apart = every[0].context
    monkeypatch.setattr("training.rows.held_out", lambda context: context == kept_apart)
    rows = TaskRows.read(task_data, 1)
    assert len(rows.answered) == sum(row.context != kept_apart for row in every) < len(every)
    assert kept_apart not in {row.context for row in (*rows.answered, *rows.unanswered)}


# -- batches -----------------------------------------------------------------------------------


def test_every_row_is_shown_once_before_any_comes_again(task_data: Path, encoder: Path) -> None:
    batches, rows = mixture(task_data, encoder), list(range(10))
    drawn = [row for step in range(5) for row in batches._draw("tags", rows, 4, step)]
    assert sorted(drawn[:10]) == sorted(drawn[10:]) == rows and drawn[:10] != drawn[10:]
    assert batches._draw("tags", rows, 4, 1) == drawn[4:8]  # a function of the step alone


def test_rows_of_a_step_are_alike_in_length_and_each_comes_once(
    task_data: Path, encoder: Path
) -> None:
    batches, rows = mixture(task_data, encoder), list(range(64))
    drawn = [batches._alike("tags", rows, 4, step, lambda row: row) for step in range(16)]
    assert sorted(row for step in drawn for row in step) == rows
    assert all(max(step) - min(step) == 3 for step in drawn)
    assert [step[0] for step in drawn] != sorted(step[0] for step in drawn)


def test_a_step_has_rows_of_every_source_that_is_there(task_data: Path, encoder: Path) -> None:
    batches = mixture(task_data, encoder)
    assert {part.task for part in of_step(batches, 0)} == {
        *("questions", "tags", "partial_tags", "sentiment", "choices")
    }
    [sentiment] = of_step(batches, 0, "sentiment")
    assert len(sentiment.batch["input_ids"]) == 4 + 3 + 2
    assert all(row.answer is None for row in batches.rows.unanswered)
    batches.rows = replace(batches.rows, phrases=(), reviews=())
    [sentiment] = of_step(batches, 0, "sentiment")
    assert len(sentiment.batch["input_ids"]) == 4


def test_every_fourth_step_has_two_choices_a_row_and_the_others_four(
    task_data: Path, encoder: Path
) -> None:
    batches = mixture(task_data, encoder)
    for step, choices_a_row in enumerate((4, 4, 4, 2, 4)):
        parts = of_step(batches, step, "choices")
        shapes = [part.batch["input_ids"].shape[:2] for part in parts]
        assert sum(rows for rows, _ in shapes) == 4
        assert {width for _, width in shapes} == {choices_a_row}
        assert sum(part.share for part in parts) == pytest.approx(1.0)
        assert sum(part.weight for part in parts) == pytest.approx(ROWS.weights["choices"])


# -- losses ------------------------------------------------------------------------------------


def test_where_a_kind_is_not_annotated_its_absence_is_not_learnt(
    task_data: Path, encoder: Path, model: TaskModel
) -> None:
    parts = {part.task: part for part in of_step(mixture(task_data, encoder), 0)}
    with torch.no_grad():
        model.get_parameter("tags.weight").zero_()
        bias = model.get_parameter("tags.bias")
        bias.zero_()
        bias[TAGS.index("B-MISC")] = 30.0
    labels = parts["partial_tags"].batch["labels"]
    outside = (labels == 0).sum() / (labels >= 0).sum()
    partial = task_loss(model, parts["partial_tags"]).parts["partial_tags"]
    full = task_loss(model, parts["tags"]).parts["tags"]
    assert float(partial) == pytest.approx(30.0 * float(1 - outside), abs=0.1)
    assert float(full) == pytest.approx(30.0, abs=0.1)


def test_questions_lose_only_over_real_tokens(
    task_data: Path, encoder: Path, model: TaskModel
) -> None:
    part = of_step(mixture(task_data, encoder), 0, "questions")[0]
    wider = {
        name: torch.nn.functional.pad(value, (0, 9)) if value.dim() == 2 else value
        for name, value in part.batch.items()
    }
    padded = TaskPart(part.task, wider, part.weight, part.share)
    with torch.no_grad():
        losses = [float(task_loss(model, each).total) for each in (part, padded)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_choices_lose_the_cross_entropy_over_the_choices_of_a_row(
    task_data: Path, encoder: Path, model: TaskModel
) -> None:
    batch = of_step(mixture(task_data, encoder), 0, "choices")[0].batch
    reference = BertForMultipleChoice.from_model(model)
    with torch.no_grad():
        reference.classifier.weight.copy_(model.get_parameter("choice.weight"))
        reference.classifier.bias.copy_(model.get_parameter("choice.bias"))
        wanted = reference.eval()(**batch)
        loss = task_loss(model, TaskPart("choices", batch, 0.5))
    assert float(loss.total) == pytest.approx(0.5 * float(wanted), abs=1e-5)
    follows, other = model.cls.seq_relationship.weight
    assert torch.equal(model.get_parameter("choice.weight")[0], follows - other)


def test_all_parts_of_a_step_have_finite_losses_and_gradients(
    task_data: Path, encoder: Path, model: TaskModel
) -> None:
    for part in of_step(mixture(task_data, encoder), 0):
        model.train().zero_grad()
        loss = task_loss(model, part).total
        loss.backward()  # type: ignore[no-untyped-call]
        gradient = model.bert.encoder.layer[0].output.dense.weight.grad  # type: ignore[union-attr]
        assert torch.isfinite(loss)
        assert gradient is not None and float(gradient.abs().sum()) > 0  # type: ignore[union-attr]


# -- heads -------------------------------------------------------------------------------------


def test_the_heads_of_a_bundle_share_its_encoder_and_start_the_next_training(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, folder = tmp_path / "work", tmp_path / "bundle"
    trainer = run_stage("tasks", settings(task_data, work, encoder), ROWS, say=quiet)
    trained = trainer.model
    assert isinstance(trained, TaskModel)
    export(work, folder)
    root = BertForPreTraining.from_pretrained(folder)
    again = start_task_model(start_model(folder), str(folder))
    names = {cls: (own, theirs) for cls, own, theirs in HEADS}
    for cls in (
        BertForQuestionAnswering,
        BertForTokenClassification,
        BertForSequenceClassification,
        BertForMultipleChoice,
    ):
        own, theirs = names[cls]
        product = trained.products[cls]
        assert type(product) is cls and product.bert is trained.bert
        model = cls.from_pretrained(folder)
        assert model.load_report is not None and not model.load_report.missing
        for leaf in ("weight", "bias"):
            stored = model.get_parameter(f"{theirs}.{leaf}")
            wanted = trained.get_parameter(f"{own}.{leaf}").detach().half().float()
            assert torch.equal(stored, wanted)
            assert torch.equal(again.get_parameter(f"{own}.{leaf}"), stored)
        name = "bert.encoder.layer.1.output.dense.weight"
        assert torch.equal(model.get_parameter(name), root.get_parameter(name))
        assert (folder / "heads" / cls.__name__ / "model.safetensors").stat().st_size < 5_000
    tagger = BertForTokenClassification.from_pretrained(folder)
    assert list(tagger.config.id2label.values()) == list(TAGS)
