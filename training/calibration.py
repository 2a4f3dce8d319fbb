"""Fit temperatures on held-out rows, store them in a model's configurations, and measure them.

A probability of 70 % ought to mean right seven times in ten. The expected calibration error
measures how far a head is from that. Dividing all logits by one number, fitted on rows used neither
for training nor for evaluation, reduces the error and changes no answer (Guo et al. 2017, "On
Calibration of Modern Neural Networks"). `training.fitting` lists these rows.
"""

import gc
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import torch

from bert_core.bundled.figures import Bin, Figure
from bert_core.config import TEMPERATURES_FITTED_ON, BertConfig
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training.fitting import HEADS, Head
from training.judgements import Judged
from training.rows import is_there
from training.scores import RESAMPLED, Aim, Bools, Floats, Ints

BINS = 15
_LUCK = 200
_SEED = 17
_RANGE = (0.05, 50.0)  # of temperatures to try
_NARROW = 1e-3  # precision of the fitted logarithm
_GOLDEN = (math.sqrt(5) - 1) / 2


def expected_calibration_error(confidence: Floats, right: Bools, bins: int = BINS) -> float:
    """Return the expected calibration error, over bins of equal width.

    This is the mean distance between mean confidence and share of right answers over the bins,
    weighted by their cases (Guo et al. 2017, equation 3; bins are open below and closed above).

    >>> halves = np.array([True, False])
    >>> expected_calibration_error(np.array([0.5, 0.5]), halves)
    0.0
    >>> round(expected_calibration_error(np.array([0.9, 0.4]), halves), 3)
    0.25
    """
    if not len(confidence):
        raise InputError("There are no cases to measure; check the evaluation file.")
    gaps = np.bincount(_bin(confidence, bins), weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def _bin(confidence: Floats, bins: int = BINS) -> Ints:
    """Return the number of the bin of each probability, (N,)."""
    number: Ints = np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1).astype(np.int64)
    return number


def error_interval(
    confidence: Floats, right: Bools, texts: Ints | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of the error from resampling the texts that the cases are from.

    Cases of one text are alike; resampled one by one, they would give too narrow an interval.
    Resampling adds chance differences, and any difference raises the error, so all resampled
    errors are too large by about the same amount. They are therefore shifted down until their mean
    is the measured error, and the interval covers their middle 95 %.
    """
    source = np.random.default_rng(_SEED)
    found = expected_calibration_error(confidence, right)
    texts = np.arange(len(right)) if texts is None else np.unique(texts, return_inverse=True)[1]
    cases = np.bincount(texts)
    gaps = np.zeros((len(cases), BINS))
    np.add.at(gaps, (texts, _bin(confidence)), right - confidence)
    drawn = []
    for _ in range(RESAMPLED):
        chosen = source.integers(len(cases), size=len(cases))
        drawn.append(np.abs(gaps[chosen].sum(0)).sum() / cases[chosen].sum())
    low, high = np.percentile(drawn, [2.5, 97.5]) - np.mean(drawn) + found
    return max(0.0, float(low)), min(1.0, float(high))


def binned(confidence: Floats, right: Bools) -> tuple[Bin, ...]:
    """Return the cases by stated probability, without empty bins."""
    number = _bin(confidence)
    return tuple(
        Bin(int(here.sum()), *(round(float(each[here].mean()), 4) for each in (confidence, right)))
        for here in (number == each for each in np.unique(number))
    )


def error_by_luck(confidence: Floats) -> float:
    """Return the mean error that these probabilities would show if they were perfectly calibrated.

    With few cases a bin rarely matches its confidence: of 20 answers given 70 %, exactly 14 are
    seldom right.
    """
    source = np.random.default_rng(_SEED)
    drawn = (source.random(len(confidence)) < confidence for _ in range(_LUCK))
    return float(np.mean([expected_calibration_error(confidence, right) for right in drawn]))


@dataclass(frozen=True, slots=True)
class Stated:
    """Probabilities of N answers."""

    plain: Annotated[Floats, "(N,) at temperature 1"]
    shown: Annotated[Floats, "(N,) at the temperature of the model"]
    right: Annotated[Bools, "(N,) whether the answer was right"]
    texts: Annotated[Ints | None, "(N,) numbers of the texts; None if each answer has its own"]

    @classmethod
    def of(
        cls, chunks: Iterable[Judged], temperature: float, has_answer: float | None = None
    ) -> "Stated":
        """Return what a head states; `has_answer` as in `confidences`."""
        outer = None if has_answer is None else 1.0
        return cls.together(
            [
                cls(
                    confidences(chunk, 1.0, has_answer=outer),
                    confidences(chunk, temperature, has_answer=has_answer),
                    chunk.right,
                    chunk.texts,
                )
                for chunk in chunks
            ]
        )

    @classmethod
    def together(cls, parts: Sequence["Stated"]) -> "Stated":
        """Join the answers of several parts."""
        plain, shown, right = (
            np.concatenate([getattr(each, name) for each in parts])
            for name in ("plain", "shown", "right")
        )
        texts = [each.texts for each in parts if each.texts is not None]
        return cls(plain, shown, right, np.concatenate(texts) if len(texts) == len(parts) else None)


def error_figure(aim: Aim, stated: Stated, used: str) -> Figure:
    """Return the error as a figure, with the error before fitting and that due to chance alone."""
    confidence, right = stated.shown, stated.right
    before = expected_calibration_error(stated.plain, right)
    meaning = (
        f"{aim.meaning}. Mean confidence {confidence.mean():.1%}, right {right.mean():.1%}; error "
        f"{before:.1%} at temperature 1, here at {used}; were every stated probability "
        f"true, so many cases would show {error_by_luck(confidence):.1%}"
    )
    found = expected_calibration_error(confidence, right)
    figure = aim.found(found, error_interval(confidence, right, stated.texts), len(right))
    return replace(figure, meaning=meaning.replace("%", " %"), bins=binned(confidence, right))


def confidences(judged: Judged, temperature: float, *, has_answer: float | None = None) -> Floats:
    """Return (N,) the probability of the best answer at a temperature.

    `has_answer` divides the margin over "no answer"; None to assume that there is an answer.
    """
    logs = torch.from_numpy(judged.scores).div(temperature).log_softmax(-1)
    if judged.alike is None:
        shares = logs.amax(-1).exp()
    else:
        shares = logs.exp().mul(torch.from_numpy(judged.alike)).sum(-1)
    stated: Floats = shares.double().numpy()
    if has_answer is None or judged.margin is None:
        return stated
    return np.asarray(stated * np.exp(-np.logaddexp(0.0, -judged.margin / has_answer)))


def loss(chunks: Iterable[Judged], temperature: float, *, by_label: bool = True) -> float:
    """Return how badly the probabilities at a temperature predict the rows.

    By label, the mean negative log-likelihood of the right column; else the mean squared distance
    of the best answer's probability from its being right, 0 or 1 (Brier 1950). That suits spans:
    people mark one of several good ones, and a few sure and wrong answers would dominate the fit.
    """
    total, cases = 0.0, 0
    for chunk in chunks:
        if by_label:
            kept = chunk.wanted >= 0
            logs = torch.from_numpy(chunk.scores[kept]).div(temperature).log_softmax(-1)
            wanted = torch.from_numpy(chunk.wanted[kept])
            total -= float(logs.gather(-1, wanted[:, None]).double().sum())
            cases += int(kept.sum())
        else:
            stated = confidences(chunk, temperature)
            total += float(np.square(stated - chunk.right).sum())
            cases += len(stated)
    if not cases:
        raise InputError("There are no rows to fit a temperature on; check the data folder.")
    return total / cases


def fit_temperature(chunks: Sequence[Judged], *, by_label: bool = True) -> float:
    """Return the temperature with the lowest loss, by golden-section search on its logarithm.

    Raises:
        InputError: there are no rows, or the loss is lowest at an end of the range: all rows were
            judged rightly, or none better than by guessing.
    """

    def at(logarithm: float) -> float:
        return loss(chunks, math.exp(logarithm), by_label=by_label)

    low, high = map(math.log, _RANGE)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = at(left), at(right)
    while high - low > _NARROW:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = at(right)
    found = (low + high) / 2
    if min(abs(found - math.log(end)) for end in _RANGE) < 2 * _NARROW:
        least, most = _RANGE
        raise InputError(
            f"The best temperature is {math.exp(found):.3g}, an end of the range that is searched "
            f"({least:g} to {most:g}); expected one inside it."
        )
    return round(math.exp(found), 3)


def calibrate(
    folder: Path, data: Path, device: str = "cpu", say: Callable[[str], None] = print
) -> dict[str, float]:
    """Fit a temperature for every trained head of a bundle and write them into its configurations.

    Heads without fitting rows are left unchanged. Returns the temperatures by class name.
    """
    found: dict[str, float] = {}
    tokenizer = BertTokenizer.from_pretrained(folder)
    heads = [head for head in HEADS if is_there(data / head.needs)]
    for cls, group in itertools.groupby(heads, key=lambda head: head.cls):
        gc.collect()  # one model at a time is held in memory
        model = cls.from_pretrained(folder, ignore_mismatched_sizes=True).to(device)
        for head in group:
            if not trained(model, head.part):
                continue
            try:
                judged = list(head.fit(model, tokenizer, data))
                found[head.name] = fit_temperature(judged, by_label=head.by_label)
            except InputError as error:  # a data folder with too little in it
                say(f"{head.name}: no temperature was fitted. {error}")
                continue
            _write(folder, head, found[head.name])
            say(f"{head.name}: temperature {found[head.name]:.3f}, {head.fitted_on}")
    return found


def _write(folder: Path, head: Head, temperature: float) -> None:
    """Write a temperature and what it was fitted on into the configuration of its head."""
    own = folder / "heads" / head.name.partition(".")[0] / "config.json"
    path = own if own.is_file() else folder / "config.json"
    config = BertConfig.from_json_file(path)
    config.temperatures = {**config.temperatures, head.name: temperature}
    fitted_on = config.extra.get(TEMPERATURES_FITTED_ON, {})
    config.extra[TEMPERATURES_FITTED_ON] = {**fitted_on, head.name: head.fitted_on}
    config.to_json_file(path)


def trained(model: BertPreTrainedModel, part: str) -> bool:
    """Return whether no parameter of a head was left randomly initialised on loading."""
    report = model.load_report
    return report is None or not any(name.startswith(part) for name in report.missing)
