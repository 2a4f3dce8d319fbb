"""One run of the lab from beginning to end, and what a visitor takes along."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_urlsafe
from typing import Annotated, Literal

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.features.lab.result import LabResult
from app.features.lab.result_settings import OWN, LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_lab import LABS, Lab, allowed
from app.features.lab.task_model import corpus_file
from app.features.lab.task_recorded import recorded
from app.features.lab.task_run import Run
from app.records.fields import Field
from bert_core.errors import InputError

LOOKS = 38
"""How often a complete run is measured after its start: most often at first, as most is learned
early."""

LONGEST = 120.0
"""Seconds of computing after which a run that a caller waits for ends."""

_ALONE = threading.Lock()


def lab(
    engine: Engine,
    *,
    corpus: Annotated[Literal["grammar", "facts", "own"], Field("Text to train on")] = "grammar",
    text: Annotated[str, Field("Your own text", key="own_text", lines=6)] = "",
    mask_rate: Annotated[int, Field("Hidden words (%)", low=15, high=80)] = 15,
    layers: Annotated[int, Field("Layers", low=1, high=4)] = 2,
    heads: Annotated[int, Field("Heads", low=1, high=8)] = 4,
    width: Annotated[int, Field("Width of vectors", low=32, high=128)] = 64,
    learning_rate: Annotated[float, Field("Learning rate", low=3e-4, high=0.1)] = 2e-3,
    positions: Annotated[bool, Field("Positions")] = True,
    shuffled: Annotated[bool, Field("Shuffled words")] = False,
    sentences: Annotated[int, Field("Sentences", low=200, high=20_000)] = 20_000,
    next_sentence: Annotated[bool, Field("Sentence pairs")] = False,
    shared: Annotated[bool, Field("Shared layers")] = False,
    whole_words: Annotated[bool, Field("Whole words hidden")] = False,
    pieces: Annotated[int, Field("Largest vocabulary", low=100, high=2_000)] = 2_000,
    seed: Annotated[int, Field("Seed", low=0, high=9)] = 0,
    steps: Annotated[int, Field("Steps", low=500, high=4_000)] = 2_000,
    keep: Annotated[bool, Field("Keep the model")] = False,
) -> LabResult:
    """Train a tiny BERT from scratch and measure what it learns.

    Recorded runs are answered at once, others after up to two minutes. A server that trains
    nothing answers the recorded ones only.

    Args:
        engine: not used; the lab makes its own model.
        corpus: a generated grammar, facts about countries, or your own text.
        text: at least 20 sentences; read only for the corpus "own".
        mask_rate: share of the words that is hidden, in percent: 15, 30, 40 or 80.
        layers: of the model: 1, 2, 3 or 4.
        heads: in each layer: 1, 2, 4 or 8.
        width: numbers in each vector: 32, 64 or 128.
        learning_rate: at its highest: 0.0003, 0.001, 0.002, 0.005, 0.01, 0.03 or 0.1.
        positions: whether the model is told the order of the words.
        shuffled: whether the words of each sentence are shuffled.
        sentences: to train on: 200 or 20,000.
        next_sentence: whether rows are pairs, and the second task is trained too.
        shared: whether all layers share one set of weights, as in ALBERT.
        whole_words: whether words are hidden whole.
        pieces: the largest size of the vocabulary: 100, 200 or 2,000.
        seed: of the first weights and of the masks, 0 to 9.
        steps: of the training: 500, 1,000, 2,000 or 4,000.
        keep: whether the trained model is offered to all tasks, under the name in the answer.

    Raises:
        InputError: a value is not one of its choices, the text is too short, the server trains
            nothing, or it is busy.
    """
    settings = LabSettings(
        corpus, mask_rate, layers, heads, width, learning_rate, positions, shuffled, sentences,
        next_sentence, shared, whole_words, pieces, seed, steps,
    )  # fmt: skip
    check_text(text)
    if keep and corpus == OWN:
        raise InputError(
            "A model trained on your own text is not kept on this server. Leave `keep` out."
        )
    found = None if keep else recorded(settings)
    if found is not None:
        return found
    with alone("recorded runs: leave all settings as they are, or change one"):
        run = Run(settings, text)
        found = completed(run)
    if not keep:
        return found
    return replace(found, kept=LABS.open_elsewhere(Lab(token_urlsafe(12), "", [run])))


@contextmanager
def alone(recorded: str) -> Iterator[None]:
    """Let one caller at a time train while it waits, and none beside the labs of the pages.

    Args:
        recorded: what a server that trains nothing has, and how to get it.

    Raises:
        InputError: the server trains nothing, or another training is in progress.
    """
    if not allowed():
        raise InputError(
            f"This server trains no models. It has {recorded}. Its host can allow training "
            "(BERT_EXPLORER_LAB)."
        )
    if LABS.computing() or not _ALONE.acquire(blocking=False):
        raise InputError("Another lab is computing. Try again in a minute.")
    try:
        yield
    finally:
        _ALONE.release()


def completed(run: Run, longest: float = LONGEST) -> LabResult:
    """Train a run to its end, or for as long as a caller would wait.

    Args:
        run: that has not begun.
        longest: seconds of computing.

    Raises:
        InputError: the visitor's text is too short.
    """
    PROCESSOR.run(run.prepare, tokens=0, training=True)
    for step in sorted({round(run.settings.steps * (n / LOOKS) ** 2) for n in range(LOOKS + 1)}):
        while run.step < step and not run.done:
            PROCESSOR.run(lambda: run.advance(0), tokens=0, training=True)
        PROCESSOR.run(run.look, tokens=0)
        found = run.result()
        if run.diverged:
            return found
        if found.points[-1].seconds > longest and not run.done:
            says = f"Ended after {longest:.0f} s of computing, at step {run.step:,}."
            return replace(found, diverged=says)
    return found


def texts(settings: LabSettings) -> bytes:
    """Return the texts of a generated corpus, as the Python of a run reads them."""
    return corpus_file(corpus_of(settings)).encode()
