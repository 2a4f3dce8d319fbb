"""What is explained: the input that the model reads, and the number of its answer.

One function for each page whose answers can be explained; `asked` calls the right one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.fit import Severity, misfits
from app.engine.models.windows import window_runner
from app.features.why.result import HEADS, Of, Place
from app.records.results import Cut
from bert_core import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    Encoding,
)
from bert_core.analysis import Target
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.reading.entities import read_texts
from bert_core.reading.gaps import read_signs, written_before
from bert_core.reading.passage import read_passages
from bert_core.reading.tagging import TagScheme
from bert_core.reading.windows import cut_windows, first_of_text, readers

MOST = 128
"""Tokens that are explained; of a longer text, the part around the answer or the beginning."""

RIVALS = 5
MASK = "[MASK]"

FOLLOWS = ("follows", "does not follow")
ENDS = ("start", "end")


@dataclass(frozen=True, slots=True)
class Asked:
    """One number of one answer; most fields are those of `Explained`."""

    head: type[BertPreTrainedModel]
    encoding: Encoding
    target: Target
    answer: str
    number: str
    chosen: str
    tokens: tuple[int, ...] = ()
    others: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    own: bool = True
    calibrated: float | None = None
    read_as: tuple[str, ...] = ()
    cut: Cut | None = None
    part: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the tokens of the answer are in the text."""
        if not self.tokens:
            return ()
        first, last = self.tokens[0], self.tokens[-1]
        spans = self.encoding.spans
        sequence = self.encoding.sequence_ids[first] or 0
        return (Place(sequence, spans[first][0], spans[last][1]),)


@dataclass(frozen=True, slots=True)
class _Given:
    engine: Engine
    text: str
    pair: str
    chosen: str
    place: int


def asked(engine: Engine, of: Of, text: str, pair: str, chosen: str, place: int) -> Asked:
    """Let the model answer, and choose the number that is explained.

    Args:
        engine: the model.
        of: whose answer.
        text: the text; for question answering the passage.
        pair: the question, or the second text.
        chosen: which number; "" for that of the model's own answer.
        place: which mask or name, counted from 1.

    Raises:
        InputError: there is no such answer, or the model cannot give it.
    """
    for misfit in misfits(engine.facts, (HEADS[of].__name__,)):
        if misfit.severity is Severity.UNUSABLE:
            raise InputError(misfit.says)
    if (mask := engine.tokenizer.mask_token) in engine.facts.lacking:
        raise InputError(f"The vocabulary has no {mask}, which is needed here to hide words.")
    check_text(text + pair)
    found = _ASKED[of](_Given(engine, text, pair, chosen.strip(), place))
    if not any(side is not None for side in found.encoding.sequence_ids):
        raise InputError("The text has no piece that the model reads. Write a word.")
    return found


def code_of(target: Target) -> str:
    """Write a target in Python.

    >>> code_of(Target.label(3, 1)), code_of(Target.next_sentence(follows=False))
    ('Target.label(3, 1)', 'Target.next_sentence(follows=False)')
    """
    given = {
        "token": f"{target.position}, {target.chosen}",
        "label": f"{target.position}, {target.chosen}",
        "classification": f"{target.chosen}",
        "next_sentence": f"follows={target.chosen == 0}",
        "score": f"{target.chosen or ''}",
    }
    return f"Target.{target.kind}({given.get(target.kind, str(target.position))})"


def explainable(engine: Engine) -> tuple[Of, ...]:
    """Return whose answers can be explained, those first that the model was trained to give."""
    heads = engine.facts.heads
    return tuple(sorted(HEADS, key=lambda of: not heads[HEADS[of].__name__].trained))


def _limit(engine: Engine) -> int:
    return min(MOST, engine.max_length)


def _around(engine: Engine, whole: Encoding, first: int, last: int) -> tuple[Encoding, int]:
    """Return the input, or the part of it around some tokens, and by how much they move there."""
    limit, lead = _limit(engine), first_of_text(whole)
    if len(whole) <= limit:
        return whole, 0
    if lead > limit // 2:
        raise InputError(
            f"The question has {whole.sequence_ids.count(0):,} pieces; with a long passage, at "
            f"most {limit // 2 - 2} can be explained. Shorten one of the two."
        )
    windows = cut_windows(
        engine.tokenizer, whole, fits=limit, size=limit, stride=(limit - lead - 1) // 2
    )
    reader, _ = readers(windows.bounds, last - first + 1)
    window = int(reader[first - lead, last - first])
    if window < 0:  # nothing is long enough for both
        window = int(reader[first - lead, 0])
    return windows.inputs[window], windows.bounds[window][0]


def _calibrated(given: _Given, of: Of, logits: Tensor, chosen: int) -> float | None:
    """Return the probability that the page of the answer shows; None if it is not calibrated."""
    found = given.engine.calibration(HEADS[of])
    return float((logits / found.temperature).softmax(-1)[chosen]) if found.named else None


def _place(given: _Given, count: int, thing: str) -> int:
    if not 1 <= given.place <= count:
        raise InputError(
            f"Found place={given.place}; the text has {count} {thing}{'s' * (count != 1)}, counted "
            "from 1."
        )
    return given.place - 1


def _option(given: _Given, options: tuple[str, ...], own: int) -> int:
    if not given.chosen or given.chosen == options[own]:
        return own
    if given.chosen not in options:
        raise InputError(f"Found {given.chosen[:60]!r}; expected one of {', '.join(options[:12])}.")
    return options.index(given.chosen)


def _fill_mask(given: _Given) -> Asked:
    engine = given.engine
    text, read_as = read_signs(given.text, engine.tokenizer.mask_token)
    whole = engine.tokenizer.encode(text)
    mask = engine.tokenizer.mask_token_id
    masks = [at for at, id_ in enumerate(whole.input_ids) if id_ == mask]
    if not masks:
        raise InputError(f"The text has no {MASK}. Write {MASK} or ___ in place of a word.")
    number = _place(given, len(masks), "mask")
    encoding, moved = _around(engine, whole, masks[number], masks[number])
    position = masks[number] - moved
    seen = [at for at, id_ in enumerate(encoding.input_ids) if id_ == mask]
    scores = dict(zip(seen, engine.scores_at(encoding, seen), strict=True))
    best = {engine.readable(id_): id_ for id_ in scores[position].topk(RIVALS).indices.tolist()}
    first = next(iter(best))
    rival = best.get(given.chosen or first)
    before = written_before(whole, masks[number])
    chosen = engine.entry(given.chosen, before) if rival is None else rival
    if chosen is None:
        raise InputError(
            f"“{given.chosen[:60]}” is not one piece of this vocabulary; only such words are "
            "explained. Choose another one."
        )
    word = engine.readable(chosen)
    firsts = (int(scores[at - moved].argmax()) if at - moved in scores else None for at in masks)
    return Asked(
        head=BertForMaskedLM,
        encoding=encoding,
        target=Target.token(position, chosen),
        answer=word,
        number=f"log-probability of “{word}” at the mask",
        chosen=word,
        tokens=(position,),
        others=tuple(dict.fromkeys([*best, word])),
        own=word == first,
        calibrated=_calibrated(given, "fill_mask", scores[position], chosen),
        read_as=read_as,
        named=tuple("…" if id_ is None else engine.readable(id_) for id_ in firsts),
        part=encoding is not whole,
    )


def _qa(given: _Given) -> Asked:
    engine = given.engine
    which = _option(given, ENDS, 0)
    runner = window_runner(engine, BertForQuestionAnswering)
    [reading] = read_passages(runner, [(given.text, given.pair)])
    found = reading.answers()
    whole = engine.tokenizer.encode(given.pair, given.text)
    lead = first_of_text(whole)
    first, last = (lead + piece for piece in found.spans.best)
    encoding, moved = _around(engine, whole, first, last)
    inside = range(lead, len(encoding) - 1)
    tokens = tuple(at - moved for at in range(first, last + 1) if at - moved in inside)
    at = (first, last)[which] - moved
    if at not in inside:
        raise InputError("The answer is too long to be explained at its end. Choose its start.")
    return Asked(
        head=BertForQuestionAnswering,
        encoding=encoding,
        target=(Target.start, Target.end)[which](at),
        answer=found.best()[0].text,
        number=f"log-probability that the answer {ENDS[which]}s at “{_typed(encoding, at)}”",
        chosen=ENDS[which],
        tokens=tokens,
        others=ENDS,
        part=encoding is not whole,
    )


def _typed(encoding: Encoding, token: int) -> str:
    start, end = encoding.spans[token]
    return ((encoding.text_pair if encoding.sequence_ids[token] else encoding.text) or "")[
        start:end
    ]


def _ner(given: _Given) -> Asked:
    engine = given.engine
    config = engine.model(BertForTokenClassification).config
    scheme = TagScheme.of(config)
    [pieces] = read_texts(window_runner(engine, BertForTokenClassification), [given.text])
    names = pieces.entities(scheme, "first").entities if len(pieces) else ()
    if not names:
        raise InputError("The model finds no name in this text, so there is nothing to explain.")
    one = names[_place(given, len(names), "name")]
    logits = torch.from_numpy(np.log(pieces.probabilities[one.pieces[0]]))
    label = int(logits.argmax())
    whole = engine.tokenizer.encode(given.text)
    encoding, moved = _around(engine, whole, one.pieces[0] + 1, one.pieces[0] + 1)
    tokens = tuple(
        at - moved
        for at in range(one.pieces[0] + 1, one.pieces[1] + 1)
        if at - moved < len(encoding) - 1
    )
    text = " ".join(given.text[one.start : one.end].split())
    return Asked(
        head=BertForTokenClassification,
        encoding=encoding,
        target=Target.label(tokens[0], label),
        answer=f"{text}: {one.kind}",
        number=f"log-probability of {scheme.names[label]} at “{_typed(encoding, tokens[0])}”",
        chosen="",
        calibrated=_calibrated(given, "ner", logits, label),
        tokens=tokens,
        named=tuple(
            f"{' '.join(given.text[each.start : each.end].split())}: {each.kind}" for each in names
        ),
        part=encoding is not whole,
    )


def _of_whole(engine: Engine, text: str, pair: str | None) -> tuple[Encoding, Cut | None]:
    """Return an input that is read as a whole, cut at its end if it is too long."""
    whole = engine.tokenizer.encode(text, pair)
    limit = _limit(engine)
    if len(whole) <= limit:
        return whole, None
    encoding = engine.tokenizer.encode(text, pair, max_length=limit)
    return encoding, Cut.of(whole, encoding, limit=limit)


def _next_sentence(given: _Given) -> Asked:
    encoding, cut = _of_whole(given.engine, given.text, given.pair)
    for side, name in ((0, "first"), (1, "second")):
        if side not in encoding.sequence_ids:
            raise InputError(f"The {name} sentence has no piece that the model reads. Write one.")
    logits = given.engine.logits(BertForNextSentencePrediction, [encoding])[0]
    best = int(logits.argmax())
    label = _option(given, FOLLOWS, best)
    return Asked(
        head=BertForNextSentencePrediction,
        encoding=encoding,
        target=Target.next_sentence(follows=label == 0),
        answer=FOLLOWS[label],
        number=f"logit of “{FOLLOWS[label]}” minus that of “{FOLLOWS[1 - label]}”",
        chosen=FOLLOWS[label],
        others=FOLLOWS,
        own=label == best,
        calibrated=_calibrated(given, "next_sentence", logits, label),
        cut=cut,
    )


def _classification(given: _Given) -> Asked:
    engine = given.engine
    config = engine.model(BertForSequenceClassification).config
    if config.problem_type == "multi_label_classification":
        raise InputError(
            "This model judges each label by itself. Only a choice among labels is explained here."
        )
    if given.pair.strip() and not engine.facts.reads_pairs:
        raise InputError("This model cannot tell two texts apart. Leave the second box empty.")
    encoding, cut = _of_whole(engine, given.text, given.pair if given.pair.strip() else None)
    scores = engine.logits(BertForSequenceClassification, [encoding])[0]
    labels = tuple(config.label_name(number) for number in range(len(scores)))
    if config.problem_type == "regression":
        output = _option(given, labels, 0)
        several = len(labels) > 1
        named = f"{labels[output]} " if several else ""
        return Asked(
            head=BertForSequenceClassification,
            encoding=encoding,
            target=Target.score(output),
            answer=f"{named}{float(scores[output]):.2f}",
            number=f"the model’s score{f' “{labels[output]}”' if several else ''}",
            chosen=labels[output] if several else "",
            others=labels if several else (),
            cut=cut,
        )
    best = int(scores.argmax())
    label = _option(given, labels, best)
    return Asked(
        head=BertForSequenceClassification,
        encoding=encoding,
        target=Target.classification(label),
        answer=labels[label],
        number=f"log-probability of “{labels[label]}”",
        chosen=labels[label],
        others=labels,
        own=label == best,
        calibrated=_calibrated(given, "classification", scores, label),
        cut=cut,
    )


_ASKED: dict[Of, Callable[[_Given], Asked]] = {
    "fill_mask": _fill_mask,
    "qa": _qa,
    "ner": _ner,
    "next_sentence": _next_sentence,
    "classification": _classification,
}
