"""Patching: single activations of one sentence, put into the run of another one.

What `patching_grid` of the library measures, in both directions, for pieces and for heads (Vig et
al. 2020; Zhang and Nanda 2023).
"""

from dataclasses import dataclass

import numpy as np
import regex

from app.compute.processor import PROCESSOR
from app.compute.recent import RECENT
from app.features.xray.result import XrayResult
from app.features.xray.result_patching import Grid, Patching, Site
from app.features.xray.task_run import Text, layer_scores, see, text_of
from app.features.xray.task_target import name_of, number_of, target_of
from app.models import Engine
from bert_core import Encoding
from bert_core.analysis import Target, patching_by_layer, run
from bert_core.errors import InputError
from bert_core.reading.running import Progress


@dataclass(frozen=True, slots=True)
class Preset:
    """Two sentences with equal numbers of pieces on the bundled vocabulary.

    Attributes:
        name: what they differ in.
        text: the first sentence.
        other: the second one.
        answers: the two answers; "" for the first guesses.
    """

    name: str
    text: str
    other: str
    answers: str = ""


PRESETS = (
    Preset(
        "Gender", "The actress said that [MASK] was tired.", "The actor said that [MASK] was tired."
    ),
    Preset(
        "Number",
        "The author of the books [MASK] in London.",
        "The authors of the books [MASK] in London.",
    ),
    Preset(
        "Capital",
        "Berlin is the capital of [MASK].",
        "Tokyo is the capital of [MASK].",
        "germany / japan",
    ),
    Preset("Sense", "The river bank was full of [MASK].", "The city bank was full of [MASK]."),
)
"""Sentences to begin with; `tests` check that their pieces are equal in number."""


def patching(
    engine: Engine,
    result: XrayResult,
    other: str,
    *,
    answers: str = "",
    site: Site = "layer",
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
            first guess of each sentence.
        site: what is patched at each piece.
        progress: called with the layers done and their number, both directions together.

    Raises:
        InputError: the sentences differ in length, are equal, or have the same answer.
    """
    clean = text_of(engine, result).whole
    corrupt = Text(
        engine, clean.kind, engine.tokenizer.encode(other, result.pair or None), clean.lens
    )
    _check(clean.encoding, corrupt.encoding)
    target, names = _target(clean, corrupt, result, answers)
    key = (*clean.key, *corrupt.key, target, site)
    return RECENT.get(
        ("xray patching", *key),
        make=lambda: _patch(clean, corrupt, target, names, site, progress),
        size=lambda made: 4 * made.restored.nbytes,
    )


def _check(clean: Encoding, corrupt: Encoding) -> None:
    """Reject sentences that cannot be patched into each other."""
    if len(clean) != len(corrupt):
        raise InputError(
            f"The sentences have {len(clean)} and {len(corrupt)} pieces ({' '.join(clean.tokens)}; "
            f"{' '.join(corrupt.tokens)}); expected equal numbers, because each piece takes the "
            "place of the one at its position. Change only one word."
        )
    if clean.input_ids == corrupt.input_ids:
        raise InputError("Both sentences are the same. Change a word in one of them.")


def _target(
    clean: Text, corrupt: Text, result: XrayResult, answers: str
) -> tuple[Target, tuple[str, str]]:
    """Return what is measured, and the names of the two answers."""
    kind, position = result.question.kind, result.question.position
    scores = [layer_scores(each, see(each), position)[-1] for each in (clean, corrupt)]
    if kind != "word":
        guesses = [int(each.argmax()) for each in scores]
        target = target_of(kind, position, guesses[0])
        return target, (name_of(clean, guesses[0]), name_of(corrupt, guesses[1]))
    if answers.strip():
        words = [word for word in regex.split(r"\s*[/,]\s*", answers.strip()) if word]
        if len(words) != 2:
            raise InputError("Expected two words with a slash between them, as in: is / are.")
        numbers = [number_of(clean, word, len(scores[0])) for word in words]
    else:
        numbers = [int(each.argmax()) for each in scores]
    names = (name_of(clean, numbers[0]), name_of(clean, numbers[1]))
    if numbers[0] == numbers[1]:
        raise InputError(
            f"Both sentences have the answer “{names[0]}”, so there is no difference to follow. "
            "Name two words, as in: is / are."
        )
    return Target.token_difference(position, *numbers), names


def _patch(
    clean: Text,
    corrupt: Text,
    target: Target,
    names: tuple[str, str],
    site: Site,
    progress: Progress | None,
) -> Patching:
    grids: list[Grid] = []
    layers = clean.engine.provenance.layers
    for place in (site, "head"):
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
        tokens=tuple(clean.encoding.tokens),
        other_tokens=tuple(corrupt.encoding.tokens),
        answers=names,
        target=str(target),
        is_contrast=target.kind == "token_difference",
        values=(_value(clean, target), _value(corrupt, target)),
        site=site,
        restored=grids[0],
        lost=1 - grids[1],
        heads_restored=grids[2],
        heads_lost=1 - grids[3],
    )


def _value(text: Text, target: Target) -> float:
    """Return the target of a sentence as it is."""

    def work() -> float:
        found = run(text.model, text.encoding, attentions=False, hidden_states=False, logits=False)
        return float(target.read(text.model, found.last_hidden_state)[0])

    return PROCESSOR.run(work, tokens=len(text.encoding))
