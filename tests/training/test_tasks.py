"""The task stage: rows, losses, resuming, and a bundle whose heads share one encoder."""

import json
from collections.abc import Callable
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
from bert_core.finetuning import Budget, Question, word_batch
from bert_core.model.pretrained import BertPreTrainedModel
from tests.training.conftest import settings
from tests.training.whole import LONG
from training.__main__ import main
from training.export import export
from training.lessons import run_stage
from training.named import as_read
from training.plan import PLANS
from training.record import read_record
from training.rows import (
    CHOICE_FILES,
    MISC_SOURCES,
    TAGS,
    TWO_CHOICE_FILES,
    choices,
    json_rows,
    tagged_words,
    typed,
    unanswerable,
)
from training.stage import LOG, WAY, StageSettings
from training.start import start_model
from training.task_model import HEADS, TaskModel, TaskPart, start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows, TaskSettings
from training.written import reading

SMALL = TaskSettings(
    questions=6,
    tags=3,
    partial_tags=2,
    sentiment=4,
    choices=4,
    max_length=64,
    stride=16,
    made=60,
    pretraining=LONG,
)


def silent(line: str) -> None:
    assert line


def mixture(data: Path, encoder: Path, choose: TaskSettings = SMALL) -> TaskMixture:
    tokenizer = BertTokenizer.from_pretrained(encoder)

    def nothing(step: int, progress: float) -> list[TaskPart]:
        return []

    return TaskMixture(TaskRows.read(data, 1, made=60), tokenizer, choose, nothing)


def test_an_unanswerable_question_is_asked_of_a_like_passage_without_the_answer() -> None:
    bridge = "{} crossed the stone bridge before noon."
    rows = [Question("Who crossed it?", bridge.format(name), name) for name in ("Ada", "Bo")]
    rows.append(Question("Who slept?", "Cy slept in the tower.", "Cy"))
    rows += [Question("What fell?", f"Snow fell {number} times.", "Snow") for number in range(30)]
    made = {(row.question, row.context) for row in unanswerable(rows, len(rows), seed=1)}
    assert ("Who crossed it?", bridge.format("Bo")) in made
    assert ("Who crossed it?", bridge.format("Ada")) in made
    assert not any(question == "What fell?" and "Snow" in context for question, context in made)


def test_an_unanswerable_question_may_be_asked_of_passages_of_other_rows() -> None:
    row = Question("Who crossed the bridge?", "Ada crossed the bridge.", "Ada")
    others = [Question("?", f"Bo saw the bridge {number} times.", "Bo") for number in range(3)]
    others += [Question("?", f"Snow fell {number} times.", "Snow") for number in range(60)]
    assert unanswerable([row], 1, seed=1) == []
    [made] = unanswerable([row], 1, seed=1, among=[row, *others])
    assert made.question == row.question and made.answer is None
    assert made.context.startswith("Bo saw the bridge")


def test_a_film_review_is_put_together_as_a_person_types() -> None:
    assert typed("it does n't work , but `` fun '' is -lrb- nearly -rrb- there") == (
        'It doesn\'t work, but "fun" is (nearly) there.'
    )
    assert typed("is it good ?") == "Is it good?"


def test_tagged_words_keep_word_and_tag_together(task_data: Path) -> None:
    rows = tagged_words(task_data, MISC_SOURCES)
    assert len(rows) == 6 * len(MISC_SOURCES)
    named = [
        (word, TAGS[tag]) for word, tag in zip(rows[0].words, rows[0].tags, strict=True) if tag
    ]
    assert named == [("aunt", "B-PER"), ("river", "I-PER"), ("moon", "B-LOC")]


def test_an_unknown_tag_is_refused(task_data: Path) -> None:
    path = task_data / "ner" / "by-source" / "wikigold.conll"
    path.write_text("Rome\tB-CITY\n", encoding="utf-8")
    with pytest.raises(InputError, match="B-CITY"):
        tagged_words(task_data, ["wikigold"])
    with pytest.raises(MissingFileError, match="nowhere"):
        tagged_words(task_data, ["nowhere"])


def test_every_row_is_shown_once_before_any_comes_again(task_data: Path, encoder: Path) -> None:
    batches = mixture(task_data, encoder)
    rows = list(range(10))
    drawn = [row for step in range(5) for row in batches._draw("tags", rows, 4, step)]
    assert sorted(drawn[:10]) == rows
    assert sorted(drawn[10:]) == rows
    assert drawn[:10] != drawn[10:]
    assert batches._draw("tags", rows, 4, 1) == drawn[4:8]  # a function of the step alone


def test_where_a_kind_is_not_annotated_its_absence_is_not_learnt(
    task_data: Path, encoder: Path
) -> None:
    torch.manual_seed(0)
    model = start_task_model(start_model(encoder), str(encoder)).eval()
    parts = {part.task: part for part in mixture(task_data, encoder)(0, 0.0)}  # type: ignore[union-attr]
    with torch.no_grad():
        model.get_parameter("tags.weight").zero_()
        bias = model.get_parameter("tags.bias")
        bias.zero_()
        bias[TAGS.index("B-MISC")] = 30.0
    labels = parts["partial_tags"].batch["labels"]  # type: ignore[union-attr]
    outside = (labels == 0).sum() / (labels >= 0).sum()
    partial = task_loss(model, parts["partial_tags"]).parts["partial_tags"]
    full = task_loss(model, parts["tags"]).parts["tags"]
    assert float(partial) == pytest.approx(30.0 * float(1 - outside), abs=0.1)
    assert float(full) == pytest.approx(30.0, abs=0.1)


def test_questions_lose_only_over_real_tokens(task_data: Path, encoder: Path) -> None:
    torch.manual_seed(0)
    model = start_task_model(start_model(encoder), str(encoder)).eval()
    part = next(p for p in mixture(task_data, encoder)(0, 0.0) if p.task == "questions")  # type: ignore[union-attr]
    assert isinstance(part, TaskPart)
    wider = {
        name: torch.nn.functional.pad(value, (0, 9)) if value.dim() == 2 else value
        for name, value in part.batch.items()
    }
    padded = TaskPart(part.task, wider, part.weight, part.share)
    with torch.no_grad():
        losses = [float(task_loss(model, each).total) for each in (part, padded)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_the_heads_of_a_bundle_share_its_encoder_and_give_the_trained_scores(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, folder = tmp_path / "work", tmp_path / "bundle"
    trainer = run_stage("tasks", settings(task_data, work, encoder), SMALL, say=silent)
    export(work, folder)
    cases: tuple[tuple[type[BertPreTrainedModel], str, str], ...] = (
        (BertForQuestionAnswering, "qa_outputs", "qa_outputs"),
        (BertForTokenClassification, "classifier", "tags"),
        (BertForSequenceClassification, "classifier", "sentiment"),
    )
    root = BertForPreTraining.from_pretrained(folder)
    for cls, theirs, own in cases:
        model = cls.from_pretrained(folder)
        assert model.load_report is not None and not model.load_report.missing
        for leaf in ("weight", "bias"):
            trained = trainer.model.get_parameter(f"{own}.{leaf}").detach().half().float()
            assert torch.equal(model.get_parameter(f"{theirs}.{leaf}"), trained)
        name = "bert.encoder.layer.1.output.dense.weight"
        assert torch.equal(model.get_parameter(name), root.get_parameter(name))
        assert (folder / "heads" / cls.__name__ / "model.safetensors").stat().st_size < 5_000
    tagger = BertForTokenClassification.from_pretrained(folder)
    assert list(tagger.config.id2label.values()) == list(TAGS)


def test_a_stopped_task_stage_ends_like_one_in_one_go(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    apart, whole = tmp_path / "apart", tmp_path / "whole"
    torch.manual_seed(0)
    stop = Stop(after=2)
    first = run_stage("tasks", settings(task_data, apart, encoder), SMALL, say=silent, stop=stop)  # type: ignore[arg-type]
    assert first.steps_done == 2
    resumed = run_stage("tasks", settings(task_data, apart, encoder), SMALL, say=silent)
    torch.manual_seed(0)
    straight = run_stage("tasks", settings(task_data, whole, encoder), SMALL, say=silent)
    ours, theirs = resumed.model.state_dict(), straight.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


class Stop:
    """Set after so many looks at it, as a signal in the middle of a run is."""

    def __init__(self, after: int) -> None:
        self.left = after

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_the_tasks_are_measured_on_the_way_with_the_classes_of_the_product(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    chosen = replace(settings(task_data, tmp_path, encoder, steps=2), measured=1)
    trainer = run_stage("tasks", chosen, SMALL, say=silent)
    lines = [json.loads(line) for line in (tmp_path / WAY).read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 2]
    names = "famous first", "unseen first", "question answering, F1, XQuAD English"
    for name in (*names, "named entities (PER, LOC, ORG), F1, ner/test", "sentiment, SST-2 test"):
        assert all(0 <= line[name] <= 100 for line in lines), name
    model = trainer.model
    assert isinstance(model, TaskModel)
    for cls, own, theirs in HEADS:
        product = model.products[cls]
        assert type(product) is cls and product.training
        assert product.bert is model.bert
        assert product.get_submodule(theirs) is model.get_submodule(own)
    alone = sum(parameter.numel() for parameter in start_model(encoder).parameters())
    assert sum(parameter.numel() for parameter in model.parameters()) == alone + 33 * (
        2 + 9 + 2 + 1
    )


def test_names_are_trained_in_the_words_that_the_model_reads(
    task_data: Path, tokenizer: BertTokenizer
) -> None:
    path = task_data / "ner" / "by-source" / "wikigold.conll"
    path.write_text("The\tO\nU.K.\tB-LOC\n", encoding="utf-8")
    [row] = tagged_words(task_data, ["wikigold"])
    batch = word_batch(tokenizer, [as_read(row)], max_length=32)
    found = [TAGS[tag] for tag in batch["labels"][0].tolist() if tag >= 0]
    assert found == ["O", "B-LOC", "I-LOC", "I-LOC", "I-LOC"]
    rows = replace(TaskRows.read(task_data, 1, made=60), tags=[row])
    [part] = [
        part
        for part in TaskMixture(rows, tokenizer, SMALL, lambda step, progress: [])(0, 0.0)
        if isinstance(part, TaskPart) and part.task == "tags"
    ]
    assert TAGS.index("I-LOC") in part.batch["labels"]


def test_rows_of_a_step_are_alike_in_length_and_each_comes_once(
    task_data: Path, encoder: Path
) -> None:
    batches, rows = mixture(task_data, encoder), list(range(64))
    drawn = [batches._alike("tags", rows, 4, step, lambda row: row) for step in range(16)]
    assert sorted(row for step in drawn for row in step) == rows
    assert all(max(step) - min(step) == 3 for step in drawn)
    assert [step[0] for step in drawn] != sorted(step[0] for step in drawn)


@pytest.mark.slow
def test_the_next_stage_starts_from_the_heads_of_a_bundle(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    work, folder = tmp_path / "work", tmp_path / "bundle"
    run_stage("tasks", settings(task_data, work, encoder), SMALL, say=silent)
    export(work, folder)
    again = start_task_model(start_model(folder), str(folder))
    for cls, own, theirs in (
        (BertForQuestionAnswering, "qa_outputs", "qa_outputs"),
        (BertForTokenClassification, "tags", "classifier"),
    ):
        stored = cls.from_pretrained(folder).get_parameter(f"{theirs}.weight")
        assert torch.equal(again.get_parameter(f"{own}.weight"), stored)


@pytest.mark.slow
def test_from_the_command_line_to_a_card_that_tells_both_stages(
    task_data: Path, encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    data = ["--data", str(task_data)]
    start = ["--init", str(encoder), "--steps", "1"]
    assert main(["pretrain", *data, "--work", str(tmp_path / "w1"), *start]) == 0
    assert main(["export", "--work", str(tmp_path / "w1"), "--target", str(one)]) == 0
    start = ["--init", str(one), "--steps", "1"]
    assert main(["tasks", *data, "--work", str(tmp_path / "w2"), *start]) == 0
    target = ["--target", str(two), *data]
    assert main(["export", "--work", str(tmp_path / "w2"), *target]) == 0
    card = (two / "README.md").read_text(encoding="utf-8")
    for said in ("Stage 1: pretraining", "Stage 2: all tasks", "SQuAD", "SST-2", "exact match"):
        assert said in card
    assert str(tmp_path) not in card
    assert str(tmp_path) not in (two / "training.json").read_text(encoding="utf-8")
    assert [stage.steps for stage in read_record(two / "training.json")] == [1, 1]
    assert {path.name for path in two.glob("*.svg")} == {"curve-1.svg", "curve-2.svg"}
    assert not three.exists()
    capsys.readouterr()


def test_all_parts_of_a_step_have_finite_losses_and_gradients(
    task_data: Path, encoder: Path
) -> None:
    torch.manual_seed(0)
    model = start_task_model(start_model(encoder), str(encoder))
    check: Callable[[TaskPart], None]

    def check(part: TaskPart) -> None:
        model.zero_grad()
        loss = task_loss(model, part).total
        loss.backward()  # type: ignore[no-untyped-call]
        gradient = model.bert.encoder.layer[0].output.dense.weight.grad  # type: ignore[union-attr]
        assert torch.isfinite(loss)
        assert gradient is not None and float(gradient.abs().sum()) > 0  # type: ignore[union-attr]

    tasks = set()
    for part in mixture(task_data, encoder)(0, 0.0):
        assert isinstance(part, TaskPart)
        check(part)
        tasks.add(part.task)
    assert tasks == {"questions", "tags", "partial_tags", "sentiment", "choices"}


def test_a_step_has_rows_of_every_source(task_data: Path, encoder: Path) -> None:
    rows_of = {"phrases": 5, "reviews": 3, "feelings": 2, "partial_tags": 2, "made_tags": 4}
    sizes = replace(SMALL, made_questions=0.34, max_length=400, **rows_of)
    batches = mixture(task_data, encoder, sizes)
    asked = 0
    for step in range(8):
        parts = {part.task: part for part in batches(step, 0.0) if isinstance(part, TaskPart)}
        assert len(parts["sentiment"].batch["input_ids"]) == 4 + 5 + 3 + 2
        assert len(parts["partial_tags"].batch["input_ids"]) >= 2 + 4  # long ones are cut in two
        assert len(parts["tags"].batch["input_ids"]) == 3
        asked += len(batches._alike("made_questions", batches.rows.made_questions, 2, step, str))
    assert asked == 16
    rows = batches.rows
    assert all(row.answer is not None for row in rows.made_questions)
    assert all(row.answer is None for row in rows.unanswered)
    bare = replace(rows, phrases=(), reviews=(), feelings=(), made_questions=(), made_tags=())
    less = TaskMixture(bare, batches.tokenizer, sizes, lambda step, progress: [])(0, 0.0)
    tokens = sum(part.batch["input_ids"].shape[0] for part in less if part.task == "sentiment")  # type: ignore[union-attr, misc]
    assert tokens == 4  # sources that a data folder lacks leave their rows out


def test_no_row_comes_near_an_evaluation_of_our_own(task_data: Path) -> None:
    [row, *_] = reading.negations()
    path = task_data / "sentiment" / "train.tsv"
    near = row.text.replace(row.text.split()[2], "nowhere", 1).upper()
    lines = [f"{near}\t1\tshop", *[f"Number {n} is good.\t1\tshop" for n in range(40)]]
    path.write_text("\n".join(["sentence\tlabel\tsource", *lines]) + "\n", encoding="utf-8")
    rows = TaskRows.read(task_data, 1, made=60)
    assert len(rows.reviews) > 30
    assert not any(row.typed.text == near for row in rows.reviews)


def choice_rows(batches: TaskMixture, step: int) -> list[TaskPart]:
    return [p for p in batches(step, 0.0) if isinstance(p, TaskPart) and p.task == "choices"]


def test_every_fourth_step_has_two_choices_a_row_and_the_others_four(
    task_data: Path, encoder: Path
) -> None:
    batches = mixture(task_data, encoder)
    for step, choices_a_row in enumerate((4, 4, 4, 2, 4)):
        parts = choice_rows(batches, step)
        shapes = [part.batch["input_ids"].shape[:2] for part in parts]
        assert sum(rows for rows, _ in shapes) == 4
        assert {width for _, width in shapes} == {choices_a_row}
        assert sum(part.share for part in parts) == pytest.approx(1.0)
        assert sum(part.weight for part in parts) == pytest.approx(SMALL.weights["choices"])


def test_rows_for_fitting_are_not_among_those_for_training(task_data: Path) -> None:
    for name in (*CHOICE_FILES, *TWO_CHOICE_FILES):
        everything = json_rows(task_data / "mc" / f"{name}.jsonl")
        trained = choices(task_data, [name])
        kept = choices(task_data, [name], kept_apart=True)
        assert len(trained) + len(kept) == len(everything)
        assert kept and not set(kept) & set(trained)


def test_choices_lose_the_cross_entropy_over_the_choices_of_a_row(
    task_data: Path, encoder: Path
) -> None:
    model = start_task_model(start_model(encoder), str(encoder)).eval()
    batch = choice_rows(mixture(task_data, encoder), 0)[0].batch
    reference = BertForMultipleChoice.from_model(model)
    with torch.no_grad():
        reference.classifier.weight.copy_(model.get_parameter("choice.weight"))
        reference.classifier.bias.copy_(model.get_parameter("choice.bias"))
        wanted = reference.eval()(**batch)
        loss = task_loss(model, TaskPart("choices", batch, 0.5))
    assert float(loss.total) == pytest.approx(0.5 * float(wanted), abs=1e-5)
    follows, other = model.cls.seq_relationship.weight
    assert torch.equal(model.get_parameter("choice.weight")[0], follows - other)


@pytest.mark.slow
def test_gapped_sentences_are_a_task_of_their_own_with_the_loss_of_choices(
    data: Path, task_data: Path, encoder: Path, tokenizer: BertTokenizer
) -> None:
    rows = TaskRows.read(data, 1, gapped=True)
    assert len(rows.gapped) > 40 and not TaskRows.read(data, 1, made=60).gapped
    batches = TaskMixture(rows, tokenizer, replace(SMALL, gapped=3), lambda step, progress: [])
    (part,) = [p for p in batches(0, 0.0) if isinstance(p, TaskPart) and p.task == "gapped"]
    assert tuple(part.batch["input_ids"].shape[:2]) == (3, 4)
    model = start_task_model(start_model(encoder), str(encoder)).eval()
    with torch.no_grad():
        loss = task_loss(model, part)
        same = task_loss(model, TaskPart("choices", part.batch, part.weight))
    assert float(loss.total) == pytest.approx(float(same.total)) and set(loss.parts) == {
        "gapped",
        "tokens",
    }


@pytest.mark.slow
def test_the_recipe_s_own_step_trains_at_a_tenth_of_its_size(
    task_data: Path, encoder: Path, tmp_path: Path
) -> None:
    planned = PLANS["cpu"].stages["tasks"]
    assert isinstance(planned.sizes, TaskSettings)
    sizes = replace(planned.sizes.times(0.1), made=200)
    trainer = replace(planned.trainer, budget=Budget(steps=6), warmup_steps=2)
    plan = StageSettings(task_data, tmp_path, str(encoder), trainer, measured=2)
    trained = run_stage("tasks", plan, sizes, say=silent)
    logged = [json.loads(line) for line in (tmp_path / LOG).read_text().splitlines()]
    assert [line["step"] for line in logged] == [1, 2, 3, 4, 5, 6]
    for name in ("questions", "tags", "partial_tags", "sentiment", "next_sentence"):
        assert all(line["parts"][name] > 0 for line in logged), name
    rates = [line["learning_rate"] / planned.trainer.learning_rate for line in logged]
    assert rates == pytest.approx([0.5, 1, 1, 1, 5 / 6, 5 / 12])  # up, level, down over 40 %
    assert {path.name for path in tmp_path.glob("half-*")} == {"half-1", "half-2"}
    text = sum(line["parts"]["tokens"] for line in logged) / 6
    assert 1_000 < text < 4_500  # of about 22,600
    assert trained.average.count == 1  # the last tenth
