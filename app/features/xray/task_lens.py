"""The lens: what the head of the question would say after every layer, raw and affine."""

from dataclasses import replace

import numpy as np

from app.engine.models import Engine
from app.features.xray.result import Lens, XrayResult
from app.features.xray.result_lens import LensPaths
from app.features.xray.task_run import Text, layer_scores, prepare, see, shares_of, text_of
from app.features.xray.task_target import name_of

LENSES: tuple[Lens, ...] = ("affine", "raw")
_FOLLOWED = 4
_BEST = 5


def lens_paths(engine: Engine, result: XrayResult) -> LensPaths:
    """Follow the best answers, and the one that is asked for, through all layers."""
    question = result.question
    wanted = [each.number for each in result.candidates if each.number != question.chosen]
    numbers = [question.chosen, *wanted[: _FOLLOWED - 1]]
    text = text_of(engine, result)
    prepare(text)
    seen = see(text)
    found = [
        shares_of(layer_scores(replace(text, lens=lens), seen, question.position), text.temperature)
        for lens in LENSES
    ]  # (L + 1, answers) each
    ranks = np.array(
        [
            [[1 + int((row > row[number]).sum()) for row in shares] for number in numbers]
            for shares in found
        ]
    )
    return LensPaths(
        names=tuple(name_of(text, number) for number in numbers),
        count=found[0].shape[1],
        lenses=LENSES,
        ranks=ranks,
        shares=np.stack([shares[:, numbers].T for shares in found]),
        best=tuple(tuple(_best(text, row) for row in shares) for shares in found),
    )


def _best(text: Text, row: np.ndarray) -> tuple[tuple[str, float], ...]:
    best = np.argsort(-row, kind="stable")[:_BEST]
    return tuple((name_of(text, int(number)), float(row[number])) for number in best)
