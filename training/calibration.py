"""Fit temperatures on held-out rows, store them in a model's configurations, and measure them.

A probability of 70 % ought to mean right seven times in ten. The expected calibration error
measures how far a head is from that. Dividing all logits by one number, fitted on rows used neither
for training nor for evaluation, reduces the error and changes no answer (Guo et al. 2017, "On
Calibration of Modern Neural Networks"). `training.calibration_rows` lists these rows.
"""

import gc
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.bundled.figures import Bin, Figure
from bert_core.config import HAS_ANSWER, TEMPERATURES_FITTED_ON, BertConfig
from bert_core.errors import InputError
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.tokenizer import BertTokenizer
from training import calibration_rows as rows
from training.aims import Aim, calibration
from training.judgements import Judged
from training.pretraining_evaluation import RUNNING_TEXT
from training.rows import is_there
from training.scores import Floats, Ints

BINS = 15
_RESAMPLED = 1000
_LUCK = 200
_SEED = 17
_RANGE = (0.05, 50.0)  # of temperatures to try
_NARROW = 1e-3  # precision of the fitted logarithm
_GOLDEN = (math.sqrt(5) - 1) / 2

Bools = NDArray[np.bool_]
Judge = Callable[[Any, BertTokenizer, Path], Iterator[Judged]]


@dataclass(frozen=True, slots=True)
class Head:
    """One head that gets a temperature.

    Attributes:
        name: name of the temperature in the configuration; the part before a dot is the class.
        cls: the model class to load.
        needs: the fitting file, in the data folder.
        fitted_on: description of that file, for the configuration.
        fit: judges the fitting rows.
        measure: judges the evaluation rows.
        by_label: whether the fit uses the probability of the right column, as Guo et al. do;
            otherwise it uses that of the best answer, right or wrong (see `loss`).
        part: the parameters that must have been trained; "" for all.
        files: the evaluation files, if not those of all tasks of the class.
    """

    name: str
    cls: type[BertPreTrainedModel]
    needs: str
    fitted_on: str
    fit: Judge
    measure: Callable[[Any, BertTokenizer, Path], rows.Evaluated]
    by_label: bool = True
    part: str = ""
    files: tuple[str, ...] = ()


HEADS = (
    Head(
        "BertForMaskedLM",
        BertForPreTraining,
        "nsp/eval-documents.txt",
        "masked words of running text that was not trained on",
        rows.fit_words,
        rows.words,
        part="cls.predictions",
        files=(RUNNING_TEXT,),
    ),
    Head(
        "BertForNextSentencePrediction",
        BertForPreTraining,
        "text",
        "pairs of sentences, half of them neighbours, a quarter from one document",
        rows.fit_pairs,
        rows.pairs,
        part="cls.seq_relationship",
    ),
    Head(
        "BertForQuestionAnswering",
        BertForQuestionAnswering,
        "qa/train.jsonl",
        "questions to Wikipedia that were not trained on",
        rows.fit_questions,
        rows.answers,
        by_label=False,
    ),
    Head(
        HAS_ANSWER,
        BertForQuestionAnswering,
        "qa/train.jsonl",
        "questions that were not trained on, half of them asked of a like passage without the "
        "answer",
        rows.fit_has_answer,
        rows.answered,
    ),
    Head(
        "BertForTokenClassification",
        BertForTokenClassification,
        "ner/dev.conll",
        "names in web texts and encyclopedia that were not trained on, of all kinds shown",
        rows.fit_names,
        rows.names,
    ),
    Head(
        "BertForSequenceClassification",
        BertForSequenceClassification,
        "sst2/dev.tsv",
        "film reviews that were not trained on",
        rows.fit_sentiment,
        rows.sentiment,
    ),
    Head(
        "BertForMultipleChoice",
        BertForMultipleChoice,
        "mc/nextsentence_train.jsonl",
        "multiple choice that was not trained on",
        rows.fit_choices,
        rows.picked,
    ),
)


# -- the measure -------------------------------------------------------------------------------


def expected_calibration_error(confidence: Floats, right: Bools, bins: int = BINS) -> float:
    """Return the expected calibration error, over bins of equal width.

    This is the mean distance between mean confidence and share of right answers over the bins,
    weighted by their cases (Guo et al. 2017, equation 3; bins are open below and closed above).

    Args:
        confidence: (N,) stated probability of each answer, 0 to 1.
        right: (N,) whether it was right.
        bins: number of bins.

    Raises:
        InputError: there are no cases.

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

    Args:
        confidence: (N,) stated probability of each answer, 0 to 1.
        right: (N,) whether it was right.
        texts: (N,) numbers of the texts; None if each case has its own.
    """
    source = np.random.default_rng(_SEED)
    found = expected_calibration_error(confidence, right)
    texts = np.arange(len(right)) if texts is None else np.unique(texts, return_inverse=True)[1]
    cases = np.bincount(texts)
    gaps = np.zeros((len(cases), BINS))
    np.add.at(gaps, (texts, _bin(confidence)), right - confidence)
    drawn = []
    for _ in range(_RESAMPLED):
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
    seldom right. No model can be expected to score below this on as many cases.
    """
    source = np.random.default_rng(_SEED)
    drawn = (source.random(len(confidence)) < confidence for _ in range(_LUCK))
    return float(np.mean([expected_calibration_error(confidence, right) for right in drawn]))


# -- the fit -----------------------------------------------------------------------------------


def confidences(judged: Judged, temperature: float, *, has_answer: float | None = None) -> Floats:
    """Return (N,) the probability of the best answer at a temperature.

    Args:
        judged: the rows.
        temperature: divisor of the logits.
        has_answer: divisor of the margin over "no answer"; None to assume that there is an answer.
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

    Args:
        chunks: the rows.
        temperature: divisor of the logits.
        by_label: if true, use the mean negative log-likelihood of the right column, skipping rows
            without one. Otherwise use the mean squared distance between the best answer's
            probability and its being right, 0 or 1 (Brier 1950). That suits spans: people mark one
            of several good spans, so the marked span's probability is not the answer's, and a few
            confidently wrong answers would dominate the fit. Fitted by label, the first bundle's
            best spans were nearly twice as far off as unfitted (5.7 % and 3.2 %).
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

    The loss by label has one minimum: it is convex in 1 / T.

    Raises:
        InputError: there are no rows, or the loss is lowest at an end of the range: all rows were
            judged rightly, or none better than by guessing, and no temperature is the best.
    """
    low, high = map(math.log, _RANGE)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = loss(chunks, math.exp(left), by_label=by_label)
    at_right = loss(chunks, math.exp(right), by_label=by_label)
    while high - low > _NARROW:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(chunks, math.exp(left), by_label=by_label)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(chunks, math.exp(right), by_label=by_label)
    found = (low + high) / 2
    if min(abs(found - math.log(end)) for end in _RANGE) < 2 * _NARROW:
        least, most = _RANGE
        raise InputError(
            f"The best temperature is {math.exp(found):.3g}, an end of the range that is searched "
            f"({least:g} to {most:g}); expected one inside it."
        )
    return round(math.exp(found), 3)


# -- a model's heads ---------------------------------------------------------------------------


def calibrate(
    folder: Path, data: Path, device: str = "cpu", say: Callable[[str], None] = print
) -> dict[str, float]:
    """Fit a temperature for every trained head of a bundle and write them into its configurations.

    Heads without fitting rows in the data folder are left unchanged. The bundle's verification
    files must be written afterwards.

    Returns:
        The temperatures by class name.
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
    told = config.extra.get(TEMPERATURES_FITTED_ON, {})
    config.extra[TEMPERATURES_FITTED_ON] = {**told, head.name: head.fitted_on}
    config.to_json_file(path)


def calibration_figures(
    model: BertPreTrainedModel, tokenizer: BertTokenizer, data: Path, head: Head
) -> list[Figure]:
    """Measure the calibration error of one head at the temperature that its model names."""
    temperature, outer = (model.config.temperature(name) for name in (head.name, HAS_ANSWER))
    evaluated = head.measure(model, tokenizer, data)
    kept: dict[tuple[str, bool], list[_Stated]] = {}
    for part, chunks in evaluated.parts.items():
        for chunk in chunks:  # as wide as the vocabulary: only what is stated is kept
            for known in {told.known for told in evaluated.figures}:
                plain = confidences(chunk, 1.0, has_answer=None if known else 1.0)
                shown = confidences(chunk, temperature, has_answer=None if known else outer)
                stated = _Stated(plain, shown, chunk.right, chunk.texts)
                kept.setdefault((part, known), []).append(stated)
    figures = []
    for told in evaluated.figures:
        found = [each for part in told.parts for each in kept.get((part, told.known), [])]
        if sum(len(each.right) for each in found):
            aim = calibration(told.task, told.where)
            aim = aim if told.aimed else replace(aim, floor=None, goal=None)
            used = f"{temperature:.2f}"
            if head.name == "BertForQuestionAnswering" and not told.known:
                used += f", and {outer:.2f} for there being an answer"
            figures.append(_figure(aim, _together(found), used))
    return figures


@dataclass(frozen=True, slots=True)
class _Stated:
    """Probabilities of N answers.

    Attributes:
        plain: (N,) at temperature 1.
        shown: (N,) at the temperature of the model.
        right: (N,) whether the answer was right.
        texts: (N,) numbers of the texts; None if each answer has its own.
    """

    plain: Floats
    shown: Floats
    right: Bools
    texts: Ints | None


def _together(found: Sequence[_Stated]) -> _Stated:
    plain, shown, right = (
        np.concatenate([getattr(each, name) for each in found])
        for name in ("plain", "shown", "right")
    )
    texts = [each.texts for each in found if each.texts is not None]
    return _Stated(plain, shown, right, np.concatenate(texts) if len(texts) == len(found) else None)


def _figure(aim: Aim, stated: _Stated, used: str) -> Figure:
    """Return the error as a figure, with the error before fitting and that due to chance alone."""
    confidence, right = stated.shown, stated.right
    before = expected_calibration_error(stated.plain, right)
    luck = error_by_luck(confidence)
    told = (
        f"{aim.meaning}. Mean confidence {confidence.mean():.1%}, right {right.mean():.1%}; error "
        f"{before:.1%} at temperature 1, here at {used}; were every stated probability "
        f"true, so many cases would show {luck:.1%}"
    )
    found = expected_calibration_error(confidence, right)
    figure = aim.found(found, error_interval(confidence, right, stated.texts), len(right))
    return replace(figure, meaning=told.replace("%", " %"), bins=binned(confidence, right))


def trained(model: BertPreTrainedModel, part: str) -> bool:
    """Return whether no parameter of a head was left randomly initialised on loading."""
    report = model.load_report
    return report is None or not any(name.startswith(part) for name in report.missing)
