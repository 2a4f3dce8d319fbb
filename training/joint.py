"""The task stage: every task and pretraining together, in one encoder."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from bert_core.finetuning import Trainer
from bert_core.tokenizer import BertTokenizer
from training.corpus import load_corpus
from training.mixture import Mixture, MixtureSettings
from training.stage import StageSettings, make_trainer, prepare, run_stage, write_settings
from training.start import start_model
from training.task_model import start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows, TaskSettings


@dataclass(frozen=True, slots=True)
class JointSettings:
    """What one step of the task stage sees.

    Attributes:
        tasks: rows of the tasks.
        pretraining: the smaller share of the pretraining mixture.
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

    def shifted(self, seed: int) -> "JointSettings":
        """Return the same sizes with other seeds; 0 leaves them as they are."""
        return JointSettings(
            replace(self.tasks, seed=self.tasks.seed + seed),
            replace(self.pretraining, seed=self.pretraining.seed + seed),
        )


def train_tasks(
    settings: StageSettings,
    joint: JointSettings | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume the stage until its budget is used up, or somebody sets `stop`.

    Args:
        settings: how the stage runs; `init` has to hold both heads of pretraining.
        joint: sizes of one step.
        say: gets a line of text now and then.
        stop: ends the stage after the step at hand, with its state saved.
    """
    joint = (joint or JointSettings()).shifted(settings.seed)
    prepare(settings, joint.tasks.seed)
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    model = start_task_model(start_model(settings.init), settings.init)
    began = time.monotonic()
    texts = load_corpus(settings.data, settings.cache or settings.work, tokenizer)
    rows = TaskRows.read(settings.data, joint.tasks.seed)
    tokens = sum(len(text.ids) for text in texts)
    say(
        f"{tokens:,} tokens of text, {len(rows.answered):,} questions and {len(rows.short):,} "
        f"short ones, {len(rows.tags) + len(rows.partial_tags):,} tagged sentences, "
        f"{len(rows.sentiment):,} with a sentiment, "
        f"{sum(map(len, rows.choices)) + len(rows.two_choices):,} with choices; "
        f"{time.monotonic() - began:.0f} s"
    )
    batches = TaskMixture(
        rows, tokenizer, joint.tasks, Mixture(texts, tokenizer.vocab, joint.pretraining)
    )
    trainer = make_trainer(settings, model, batches, task_loss, seed=joint.tasks.seed, say=say)
    mixture = {**asdict(joint.pretraining), "tasks": asdict(joint.tasks)}
    write_settings(settings, trainer, mixture, {"text_tokens": tokens})
    return run_stage(settings, trainer, say, stop)
