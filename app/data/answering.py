"""Rows through a model in batches; each answer equals that of the task that is asked about one row.

Held by a test at 1e-5. Eight rows of similar length are read at once, whatever the task.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Annotated

import torch

from app.data.columns import KINDS, TaskName
from app.data.gold import NEXT, Asked, shown_names, stretches
from app.data.judge import Name
from app.engine.compute.visitor import LimitError, check_text
from app.engine.models import Engine
from app.engine.models.windows import window_runner
from bert_core import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    Encoding,
)
from bert_core.config import HAS_ANSWER
from bert_core.errors import InputError
from bert_core.reading.entities import TaggedText, read_texts
from bert_core.reading.gaps import written_before
from bert_core.reading.passage import read_passages
from bert_core.reading.tagging import TagScheme

AT_ONCE = 32
"""Rows between two looks at the clock, at the visitor's budget and at *Cancel*."""

_TOGETHER = 8  # gaps of one pass
_BEST = 5  # words of a gap that are kept
_MOST_GAPS = 20
_LABELS = 20


@dataclass(frozen=True, slots=True)
class Guess:
    """What a model answers for a row."""

    answer: Annotated[str, "as a person reads it"]
    sure: Annotated[float | None, "its probability, 0 to 1; of several names or gaps the mean"]
    shares: Annotated[tuple[tuple[str, float], ...], "answers with their probabilities, best first"]
    names: Annotated[frozenset[Name], "the names that were found, with their places"] = frozenset()
    gaps: Annotated[
        tuple[tuple[tuple[str, float], ...], ...], "of each gap, the five best words"
    ] = ()
    wanted: Annotated[
        tuple[tuple[int, float] | None, ...], "of each gap, rank and probability of the wanted word"
    ] = ()
    error: Annotated[str, 'why there is no answer; ""'] = ""

    def renamed(self, names: Mapping[str, str]) -> "Guess":
        """Return the same answer with other names of labels, or of kinds."""
        return replace(
            self,
            answer=names.get(self.answer) or self.answer,
            shares=tuple((names.get(label) or label, share) for label, share in self.shares),
            names=frozenset((names.get(kind) or kind, a, b) for kind, a, b in self.names),
        )


def labels_of(engine: Engine, task: TaskName) -> tuple[str, ...]:
    """Return the labels that a model answers with: names of labels, tags or kinds; () if any text.

    Raises:
        InputError: it gives numbers, or several labels at once, which are not counted here.
    """
    if task == "next_sentence":
        return NEXT
    if task == "ner":
        return tuple(TagScheme.of(engine.model(BertForTokenClassification).config).names)
    if task != "classification":
        return ()
    config = engine.model(BertForSequenceClassification).config
    if config.problem_type != "single_label_classification":
        gives = "a number" if config.problem_type == "regression" else "several labels at once"
        raise InputError(
            f"{engine.provenance.name} gives {gives} for a text; a table is counted for models "
            "that choose one label. Choose such a model."
        )
    return tuple(config.label_name(number) for number in range(config.num_labels))


def kinds_of(engine: Engine) -> tuple[str, ...]:
    """Return the kinds of names that a model finds."""
    return tuple(TagScheme.of(engine.model(BertForTokenClassification).config).kinds)


def answer_rows(engine: Engine, task: TaskName, rows: Sequence[Asked]) -> list[Guess]:
    """Answer rows; one that cannot be answered says why, and the others are.

    Raises:
        LimitError: the visitor's budget is used up.
    """
    try:
        for row in rows:
            check_text(" ".join((*row.texts.values(), *row.choices)))
        return _ANSWERS[task](engine, rows)
    except LimitError:
        raise
    except InputError as error:
        if len(rows) == 1:
            return [Guess("", None, (), error=str(error))]
        return [each for row in rows for each in answer_rows(engine, task, [row])]


def _of_pairs(engine: Engine, rows: Sequence[Asked], *, follows: bool = False) -> list[Guess]:
    """Choose among labels for texts or pairs of texts, or say whether the second one follows."""
    cls = BertForNextSentencePrediction if follows else BertForSequenceClassification
    names = NEXT if follows else labels_of(engine, "classification")
    pairs = [(row.texts["text"], row.texts.get("text_pair", "")) for row in rows]
    logits = engine.logits(cls, [_encoded(engine, *pair) for pair in pairs]).double()
    shares = torch.softmax(logits / engine.calibration(cls).temperature, dim=-1)  # (N, C)
    return [
        best(zip(names, each, strict=True), row.wanted)
        for row, each in zip(rows, shares.tolist(), strict=True)
    ]


def _choices(engine: Engine, rows: Sequence[Asked]) -> list[Guess]:
    inputs = [_encoded(engine, row.texts["context"], each) for row in rows for each in row.choices]
    logits = engine.logits(BertForMultipleChoice, inputs)[:, 0].double()
    logits /= engine.calibration(BertForMultipleChoice).temperature
    parts = torch.split(logits, [len(row.choices) for row in rows])
    return [
        best(zip(row.choices, torch.softmax(each, dim=0).tolist(), strict=True), row.wanted)
        for row, each in zip(rows, parts, strict=True)
    ]


def best(shares: Iterable[tuple[str, float]], wanted: str) -> Guess:
    """Return the best label with its probability; of many labels, twenty and the wanted one."""
    ranked = sorted(shares, key=lambda each: -each[1])
    kept = [*ranked[:_LABELS], *(each for each in ranked[_LABELS:] if each[0] == wanted)]
    return Guess(*ranked[0], tuple(kept))


def _encoded(engine: Engine, first: str, second: str) -> Encoding:
    pair = second if second.strip() else None
    if pair is not None and not engine.facts.reads_pairs:
        raise InputError("the model has one token type only: it cannot tell two texts apart.")
    found = engine.tokenizer.encode(first, pair, max_length=engine.max_length)
    for side in (0, 1) if pair is not None else (0,):
        if side not in found.sequence_ids:
            raise InputError("found a text without a piece that the model reads; write a word.")
    return found


def _names(engine: Engine, rows: Sequence[Asked]) -> list[Guess]:
    """Find names; words that a person marked off have the label of their first piece."""
    scale = engine.calibration(BertForTokenClassification).temperature
    scheme = TagScheme.of(engine.model(BertForTokenClassification).config)
    runner = window_runner(engine, BertForTokenClassification, texts=len(rows))
    found = []
    texts = [row.texts["text"] for row in rows]
    for row, read in zip(rows, read_texts(runner, texts, scale), strict=True):
        if not len(read):
            raise InputError("found a text without a piece that the model reads; write a word.")
        every = read.entities(scheme).entities
        scored = (
            _tagged(row.words, read, scheme)
            if row.words
            else {(each.kind, each.start, each.end): each.score for each in every}
        )
        ordered = sorted(scored, key=lambda name: name[1:])
        shares = tuple((read.text[name[1] : name[2]], scored[name]) for name in ordered)
        sure = float(read.probabilities.max(axis=1).mean())
        names = frozenset(scored)
        found.append(Guess(shown_names(read.text, names), sure, shares, names=names))
    return found


def _tagged(
    words: Sequence[tuple[int, int]], read: TaggedText, scheme: TagScheme
) -> dict[Name, float]:
    outside = next((tag.name for tag in scheme.tags if tag.role == "outside"), "O")
    places = read.first_pieces(words).tolist()
    best, most = read.probabilities.argmax(axis=1), read.probabilities.max(axis=1)
    tags = [scheme.names[best[place]] if place >= 0 else outside for place in places]
    sure = {start: float(most[at]) for (start, _), at in zip(words, places, strict=True) if at >= 0}
    return {
        name: fmean(share for start, share in sure.items() if name[1] <= start < name[2])
        for name in stretches(tags, (*scheme.names, outside), words)
    }


def _answers(engine: Engine, rows: Sequence[Asked]) -> list[Guess]:
    runner = window_runner(engine, BertForQuestionAnswering, texts=len(rows))
    scale = engine.calibration(BertForQuestionAnswering).temperature
    outer = engine.calibration(BertForQuestionAnswering, HAS_ANSWER).temperature
    pairs = [(row.texts["passage"], row.texts["question"]) for row in rows]
    found = []
    for reading in read_passages(runner, pairs):
        answers = reading.answers(temperature=scale, has_answer=outer)
        shares = [(each.text, each.probability) for each in answers.best(_BEST)]
        text, sure = shares[0] if answers.answered() else ("", answers.null_probability)
        found.append(Guess(text, sure, tuple(shares)))
    return found


def _gaps(engine: Engine, rows: Sequence[Asked]) -> list[Guess]:
    tokenizer = engine.tokenizer
    mask = tokenizer.vocab.get(tokenizer.mask_token)
    if mask is None:
        raise InputError(f"The vocabulary of {engine.provenance.name} has no mask.")
    texts = [row.texts["text"].replace("[MASK]", tokenizer.mask_token) for row in rows]
    inputs = [tokenizer.encode(text) for text in texts]
    for each in inputs:
        engine.check_length(each)
    places = [[n for n, id_ in enumerate(each.input_ids) if id_ == mask] for each in inputs]
    if wrong := next((len(each) for each in places if not 1 <= len(each) <= _MOST_GAPS), None):
        raise InputError(f"found {wrong} gaps; expected 1 to {_MOST_GAPS}.")
    alike = defaultdict[tuple[int, int], list[int]](list)
    for number, (each, at) in enumerate(zip(inputs, places, strict=True)):
        alike[len(each), len(at)].append(number)
    found = dict[int, Guess]()
    for same in alike.values():
        for start in range(0, len(same), _TOGETHER):
            group = same[start : start + _TOGETHER]
            ids = torch.tensor([inputs[n].input_ids for n in group])
            scores = engine.score_rows(ids, torch.tensor([places[n] for n in group]))  # (B, P, V)
            scale = engine.calibration(BertForMaskedLM).temperature
            for n, each in zip(group, torch.softmax(scores.double() / scale, dim=-1), strict=True):
                found[n] = _filled(engine, rows[n], inputs[n], places[n], each)
    return [found[number] for number in range(len(rows))]


def _filled(
    engine: Engine, row: Asked, read: Encoding, places: Sequence[int], shares: torch.Tensor
) -> Guess:
    gold = row.gold if isinstance(row.gold, tuple) else ((),) * len(places)
    gaps, wanted = list[tuple[tuple[str, float], ...]](), list[tuple[int, float] | None]()
    for place, good, each in zip(places, gold, shares, strict=True):
        best = each.topk(min(_BEST, len(each)))
        ids = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        gaps.append(tuple((engine.readable(id_), share) for id_, share in ids))
        named = (engine.entry(word, written_before(read, place)) for word in good)
        share = max((float(each[id_]) for id_ in named if id_ is not None), default=None)
        wanted.append(None if share is None else (int((each > share).sum()) + 1, share))
    sure = math.fsum(gap[0][1] for gap in gaps) / len(gaps)
    answer = ", ".join(gap[0][0] for gap in gaps)
    shares_ = gaps[0] if len(gaps) == 1 else ()
    return Guess(answer, sure, shares_, gaps=tuple(gaps), wanted=tuple(wanted))


_ANSWERS: dict[TaskName, Callable[[Engine, Sequence[Asked]], list[Guess]]] = {
    "classification": _of_pairs,
    "next_sentence": partial(_of_pairs, follows=True),
    "ner": _names,
    "qa": _answers,
    "fill_mask": _gaps,
    "multiple_choice": _choices,
}
assert _ANSWERS.keys() == KINDS.keys()
