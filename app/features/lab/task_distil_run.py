"""Students: runs of half the layers of a trained one, which is the teacher of one of them.

Both have the same start and the same batches. They are trained, looked back to and taken along like
every run, but live in memory alone: a distillation takes seconds.
"""

from dataclasses import replace

import torch

from app.features.lab.result import LabResult
from app.features.lab.result_corpus import Corpus
from app.features.lab.result_distil import LAYERS, Recipe
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_model import (
    Parts,
    as_python,
    corpus_file,
    make_batches,
    make_trainer,
    new_model,
)
from app.features.lab.task_run import Run
from bert_core import BertForPreTraining
from bert_core.errors import InputError, count
from bert_core.pretraining import (
    PretrainingBatch,
    PretrainingLoss,
    distilled_loss,
    every_second_layer,
    joint_loss,
)

STEPS = 500
SOFT = 0.9
"""Share of the teacher's answers in the loss."""


class Student(Run):
    """One student.

    Args:
        origin: the run whose model is the teacher; it has been looked at.
        model: the teacher: a copy, as the run may go on.
        recipe: how students learn.
        teaches: whether it learns from the teacher.
    """

    named = "student"

    def __init__(
        self, origin: Run, model: BertForPreTraining, recipe: Recipe, *, teaches: bool
    ) -> None:
        super().__init__(student_settings(origin.settings, recipe), origin.text)
        self.origin, self.recipe = origin, recipe
        self._model, self._teaches = model, teaches
        self._step, self._level = origin.step, origin.points[-1].held_out

    def _parts(self, corpus: Corpus) -> Parts:
        """Build what the run is made of; the vocabulary is the teacher's."""
        settings, start, tokenizer = self.settings, self.origin.start, self.origin.tokenizer
        batches = make_batches(settings, corpus, tokenizer)
        torch.manual_seed(settings.seed)
        if self.recipe.start == LAYERS:
            model = every_second_layer(self._model)
        else:
            model = new_model(settings, start.vocabulary)
        trainer = make_trainer(settings, model, batches, self._loss)
        return Parts(tokenizer, start.joins, batches, model, trainer)

    def _loss(self, student: BertForPreTraining, batch: PretrainingBatch) -> PretrainingLoss:
        if not self._teaches:
            return joint_loss(student, batch)
        return distilled_loss(
            student, self._model, batch, temperature=self.recipe.temperature, soft=SOFT
        )

    def python(self) -> str:
        """Return the lines of Python that repeat the teacher and then the student."""
        texts = self.origin.corpus
        teacher, _, _ = as_python(self.origin.settings, texts).partition("while not trainer.done")
        _, batches, rest = as_python(self.settings, texts).partition("batches = ")
        if self.recipe.start == LAYERS:
            before, rest = rest.split("torch.manual_seed", 1)
            rest = (
                f"{before}model = every_second_layer(teacher)\n" + rest[rest.index("settings =") :]
            )
        if self._teaches:
            given = f"model, teacher, batch, temperature={self.recipe.temperature}, soft={SOFT}"
            rest = rest.replace("joint_loss(model, batch)", f"distilled_loss({given})")
        return (
            f"from bert_core.pretraining import distilled_loss, every_second_layer\n{teacher}"
            f"while trainer.steps_done < {self._step}:\n    trainer.step()\nteacher = model\n"
            f"ids = ids[:{len(self.corpus.documents)}]\n{batches}{rest}"
        )

    def files(self, step: int | None = None) -> dict[str, bytes]:
        """Return what a visitor takes along, by name; the texts are those of the teacher."""
        return {**super().files(step), "corpus.txt": corpus_file(self.origin.corpus).encode()}

    def result(self) -> LabResult:
        """Return what the API returns."""
        return replace(super().result(), teacher=self._level)


def student_settings(teacher: LabSettings, recipe: Recipe) -> LabSettings:
    """Return the settings of both students.

    Raises:
        InputError: the teacher has an odd number of layers.
    """
    if teacher.layers % 2:
        raise InputError(
            f"The model has {count(teacher.layers, 'layer')}, and a student has half of them. "
            "Train one of 2 or 4 layers."
        )
    sentences = min(teacher.sentences, recipe.sentences)
    return replace(teacher, layers=teacher.layers // 2, sentences=sentences, steps=STEPS)


def students(origin: Run, recipe: Recipe) -> tuple[Student, Student]:
    """Return two students of a run that has been looked at: one alone, one with the teacher.

    Raises:
        InputError: the run has an odd number of layers, or its loss is no longer a number.
    """
    if origin.diverged:
        raise InputError(f"This model cannot teach. {origin.diverged}")
    model = origin.model_at()
    return (
        Student(origin, model, recipe, teaches=False),
        Student(origin, model, recipe, teaches=True),
    )
