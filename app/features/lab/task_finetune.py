"""Fine-tuning from beginning to end, for interfaces that wait for its result."""

from typing import Annotated, Literal

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.features.lab.result_finetune import FinetuneResult
from app.features.lab.task import LONGEST, alone
from app.features.lab.task_finetune_recorded import recorded, weights_of
from app.features.lab.task_finetune_rows import ready
from app.features.lab.task_finetune_run import STEPS, Tuning
from app.records.fields import Field

EVERY = 4  # steps between two points


def lab_finetune(
    engine: Engine,
    rows: Annotated[str, Field("Rows: text, tab, label", "tune_rows", lines=8)] = "",
    labelled: Annotated[Literal["texts", "words"], Field("Labelled", "tune_kind")] = "texts",
    steps: Annotated[int, Field("Steps", "tune_steps", low=10, high=200)] = STEPS[1],
) -> FinetuneResult:
    """Fine-tune the model on labelled rows and say what it gets wrong in rows it never saw.

    Args:
        engine: the model, which is not changed.
        rows: one a line: a text, a tab, and its label; "" for forty ready-made ones, which are
            answered at once for the bundled model.
        labelled: "texts", one label each, or "words", one tag each with spaces between them.
        steps: of the training, with eight rows each.

    Raises:
        InputError: a row cannot be used, the model is too large, the server trains nothing, or it
            is busy.
    """
    text = rows if rows.strip() else ready(labelled)
    run = Tuning(engine, text, labelled, steps)
    if not run.private and engine.provenance.fingerprint == weights_of(labelled):
        found = recorded(labelled)
        if found.steps == steps:
            return found
    with alone("a recorded training of its bundled model: leave out the rows"):
        return completed(run)


def completed(run: Tuning, longest: float = LONGEST) -> FinetuneResult:
    """Train to the end, or for as long as a caller would wait, with a point every few steps."""
    PROCESSOR.run(run.prepare, tokens=0, training=True)
    PROCESSOR.run(run.look, tokens=0)
    while not run.done:
        for _ in range(EVERY):
            PROCESSOR.run(lambda: run.advance(0.0), tokens=0, training=True)
        PROCESSOR.run(run.look, tokens=0)
        if run.seconds > longest and not run.done:
            run.diverged = f"Ended after {longest:.0f} s of computing, at step {run.step:,}."
    return run.result()
