"""The task stage: train all tasks and pretraining together in one encoder."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from bert_core.finetuning import Trainer
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import load_corpus
from training.mixture import Mixture, MixtureSettings
from training.stage import Lesson, StageSettings, prepare, train
from training.start import start_model
from training.task_model import start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows, TaskSettings, by_square_root


@dataclass(frozen=True, slots=True)
class JointSettings:
    """The contents of one step of the task stage.

    Attributes:
        tasks: rows per task.
        pretraining: the smaller, pretraining part of the step.
        rows: total rows of all tasks, divided among them in proportion to the square roots of
            their sizes, so that no task is seen far more often than the others and none is
            crowded out; None uses the numbers in `tasks`.
    """

    tasks: TaskSettings = field(default_factory=TaskSettings)
    pretraining: MixtureSettings = field(
        default_factory=lambda: MixtureSettings(
            blocks=12,
            sentences=12,
            pairs=32,
            same_document=0.25,
            pair_weight=1.0,
            splits=2,
            rate_falls=0.5,
            seed=21,
        )
    )
    rows: int | None = None

    def shifted(self, seed: int) -> "JointSettings":
        """Return the same sizes with different seeds; 0 keeps the seeds."""
        return JointSettings(
            replace(self.tasks, seed=self.tasks.seed + seed),
            replace(self.pretraining, seed=self.pretraining.seed + seed),
            self.rows,
        )


def train_tasks(
    settings: StageSettings,
    joint: JointSettings | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume the stage until its budget is used up or `stop` is set.

    Args:
        settings: how the stage runs; `init` must contain both pretraining heads.
        joint: sizes of one step.
        say: called with lines of progress.
        stop: when set, the stage saves its state and ends after the current step.
    """
    prepare(settings)
    return train(settings, task_lesson(settings, joint, say), say, stop)


def task_lesson(
    settings: StageSettings,
    joint: JointSettings | None = None,
    say: Callable[[str], None] = print,
) -> Lesson:
    """Read texts and labelled rows and prepare the stage's training data.

    Args:
        settings: how the stage runs.
        joint: sizes of one step.
        say: called with a line of progress.
    """
    joint = (joint or JointSettings()).shifted(settings.seed)
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    began = time.monotonic()
    texts = load_corpus(settings.data, settings.cache or settings.work, tokenizer)
    rows = TaskRows.read(settings.data, joint.tasks.seed, gapped=joint.tasks.gapped > 0)
    tasks = joint.tasks if joint.rows is None else by_square_root(joint.tasks, rows, joint.rows)
    tokens = sum(len(text.ids) for text in texts)
    say(
        f"{tokens:,} tokens of text, {len(rows.answered):,} questions and {len(rows.short):,} "
        f"short ones, {len(rows.tags) + len(rows.partial_tags):,} tagged sentences, "
        f"{len(rows.sentiment):,} with a sentiment, "
        f"{sum(map(len, rows.choices)) + len(rows.two_choices):,} with choices, "
        f"{len(rows.gapped):,} sentences with a gap; "
        f"{time.monotonic() - began:.0f} s"
    )
    pretraining = Mixture(texts, tokenizer.vocab, joint.pretraining)
    return Lesson(
        lambda: start_task_model(start_model(settings.init), settings.init),
        TaskMixture(rows, tokenizer, tasks, pretraining),
        task_loss,
        joint.tasks.seed,
        tokenizer.pad_token_id,
        {**asdict(joint.pretraining), "tasks": asdict(tasks)},
        {"text_tokens": tokens},
    )
