"""Patching: single activations of one sentence, put into the run of another one.

What `patching_grid` of the library measures, in both directions, for pieces and for heads (Vig et
al. 2020; Zhang and Nanda 2023).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import regex

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.features.xray.result import Ask, Grid, Patching, XrayResult
from app.features.xray.task import xray
from app.features.xray.task_run import Text, layer_scores, see, text_of
from app.features.xray.task_target import name_of, number_of, target_of
from app.records.fields import Field
from bert_core import Encoding
from bert_core.analysis import Target, patching_by_layer, run
from bert_core.errors import InputError
from bert_core.reading.gaps import read_signs
from bert_core.reading.running import Progress


@dataclass(frozen=True, slots=True)
class Preset:
    """Two sentences with equal numbers of pieces on the bundled vocabulary."""

    name: Annotated[str, "what they differ in"]
    text: Annotated[str, "the first sentence"]
    other: Annotated[str, "the second one"]
    answers: Annotated[str, "the two answers"]


PRESETS = (
    Preset("Gender", "The actress said that [MASK] was tired.",
           "The actor said that [MASK] was tired.", "she / he"),
    Preset("Number", "The author of the books [MASK] famous.",
           "The authors of the books [MASK] famous.", "is / are"),
    Preset("Capital", "Berlin is the capital of [MASK].",
           "Tokyo is the capital of [MASK].", "germany / japan"),
    Preset("Sense", "The river bank was full of [MASK].",
           "The city bank was full of [MASK].", "water / money"),
)  # fmt: skip
"""Sentences to begin with; `tests` check that their pieces are equal in number."""


def xray_patching(
    engine: Engine,
    text: Annotated[str, Field("First sentence", lines=2)],
    against: Annotated[str, Field("Second sentence", key="second", lines=2)],
    *,
    text_pair: Annotated[str, Field("Second text, or the question", lines=2)] = "",
    ask: Annotated[Ask, Field("What is asked")] = "auto",
    at: Annotated[int | None, Field("Piece that is asked", low=0)] = None,
    answers: Annotated[str, Field("Answers compared, as in: is / are", lines=1)] = "",
    progress: Progress | None = None,
) -> Patching:
    """Find out which activations carry the difference between two sentences.

    Args:
        engine: the model.
        text: the first sentence, whose answer is to be restored or lost.
        against: the second one, with the same number of pieces; best with only one word changed.
        text_pair: a second text of both; "" for none.
        ask: as in `xray`.
        at: the piece that is asked; if empty, the one that fits.
        answers: for a hidden word, the two words that are compared; "" for the first guess of
            each sentence.

    Raises:
        InputError: the sentences differ in length or are equal; or see `xray`.
    """
    check_text(against)
    result = xray(engine, text, text_pair=text_pair, ask=ask, at=at)
    return patching(engine, result, against, answers=answers, progress=progress)


def patching(
    engine: Engine,
    result: XrayResult,
    other: str,
    *,
    answers: str = "",
    progress: Progress | None = None,
) -> Patching:
    """Find out which activations carry the difference between two sentences.

    Between two layers other visitors have their turn, and `progress` may cancel by raising. What
    is switched off does not matter here.

    Args:
        engine: the model.
        result: the first sentence, and what is asked of it.
        other: the second sentence, with as many pieces; it has the same second text.
        answers: for a hidden word, the two words that are compared, as in "is / are"; "" for the
            first guess of each sentence, or, if that is the same, its log-probability.
        progress: called with the layers done and their number, both directions together.

    Raises:
        InputError: the sentences differ in length or are equal, or the answers cannot be compared.
    """
    other, _ = read_signs(other, engine.tokenizer.mask_token)
    clean = text_of(engine, result).whole
    corrupt = Text(
        engine, clean.kind, engine.tokenizer.encode(other, result.pair or None), clean.lens
    )
    _check(clean.encoding, corrupt.encoding)
    target, names = _target(clean, corrupt, result, answers)
    key = (*clean.key, *corrupt.key, target)
    return RECENT.get(
        ("xray patching", *key),
        make=lambda: _patch(clean, corrupt, target, names, progress),
        size=lambda made: 4 * made.restored.nbytes,
    )


def _check(clean: Encoding, corrupt: Encoding) -> None:
    if len(clean) != len(corrupt):
        raise InputError(
            f"The sentences have {len(clean)} and {len(corrupt)} pieces ({' '.join(clean.pieces)}; "
            f"{' '.join(corrupt.pieces)}); expected the same number, because each piece is put in "
            "place of the one at the same position. Change only one word."
        )
    if clean.input_ids == corrupt.input_ids:
        raise InputError("Both sentences are the same. Change a word in one of them.")


def _target(
    clean: Text, corrupt: Text, result: XrayResult, answers: str
) -> tuple[Target, tuple[str, str]]:
    """Return what is measured, and the names of the two answers."""
    kind, position = result.question.kind, result.question.position
    scores = [layer_scores(each, see(each), position)[-1] for each in (clean, corrupt)]
    guesses = [int(each.argmax()) for each in scores]
    if kind == "word" and answers.strip():
        count = len(scores[0])
        guesses = [number_of(clean, position, word, count) for word in _two_words(answers)]
    names = (name_of(clean, guesses[0]), name_of(corrupt, guesses[1]))
    if kind == "word" and guesses[0] != guesses[1]:
        return Target.token_difference(position, *guesses), names
    return target_of(kind, position, guesses[0]), names


def _two_words(answers: str) -> list[str]:
    """Read the two answers that are compared.

    Raises:
        InputError: these are not two different words.
    """
    words = [word for word in regex.split(r"\s*[/,]\s*", answers.strip()) if word]
    if len(words) != 2 or words[0] == words[1]:
        raise InputError("Expected two different words with a slash between them: is / are.")
    return words


def _patch(
    clean: Text,
    corrupt: Text,
    target: Target,
    names: tuple[str, str],
    progress: Progress | None,
) -> Patching:
    grids: list[Grid] = []
    layers = clean.engine.provenance.layers
    for place in ("layer", "head"):
        for direction in ("denoise", "noise"):
            given = (clean.model, clean.encoding, corrupt.encoding, target, place)
            rows = patching_by_layer(*given, direction=direction)
            grid = []
            for _ in range(layers):
                grid.append(PROCESSOR.run(lambda: next(rows), tokens=len(clean.encoding)))  # noqa: B023
                if progress is not None:
                    progress(len(grids) * layers + len(grid), 4 * layers)
            grids.append(np.stack(grid))
    return Patching(
        tokens=tuple(clean.encoding.pieces),
        other_tokens=tuple(corrupt.encoding.pieces),
        answers=names,
        target=str(target),
        is_contrast=target.kind == "token_difference",
        values=(_value(clean, target), _value(corrupt, target)),
        restored=grids[0],
        lost=1 - grids[1],
        heads_restored=grids[2],
        heads_lost=1 - grids[3],
    )


def _value(text: Text, target: Target) -> float:

    def work() -> float:
        found = run(text.model, text.encoding, attentions=False, hidden_states=False, logits=False)
        return float(target.read(text.model, found.last_hidden_state)[0])

    return PROCESSOR.run(work, tokens=len(text.encoding))
