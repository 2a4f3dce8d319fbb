"""One text on its way through the whole model, and what its answer needs.

`xray` is the task. `task_run` runs the model, and `task_ranking` asks which parts matter.
"""

from dataclasses import replace
from typing import Annotated

import numpy as np

from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.features.xray.result import (
    Ask,
    Candidate,
    Floats,
    Kind,
    LayerReading,
    Lens,
    Mode,
    Question,
    Readings,
    XrayResult,
    read_parts,
)
from app.features.xray.task_ranking import rank_parts
from app.features.xray.task_run import (
    CLASSES,
    Seen,
    Text,
    checked,
    layer_scores,
    see,
    shares_of,
)
from app.features.xray.task_target import name_of, number_of, sign, target_of, target_value
from app.records.fields import Field
from bert_core import BertForTokenClassification, Encoding
from bert_core.errors import InputError
from bert_core.reading.gaps import read_signs
from bert_core.reading.running import Progress
from bert_core.reading.tagging import TagScheme

MOST_TOKENS = 128
CANDIDATES = 5

_CHOICES = ("", "single_label_classification")  # scores and labels judged alone are no choice
_ORDER: tuple[Kind, ...] = ("entity", "label", "word", "next", "start")


def xray(
    engine: Engine,
    text: Annotated[str, Field("Text", lines=3)],
    *,
    text_pair: Annotated[str, Field("Second text, or the question", lines=3)] = "",
    ask: Annotated[Ask, Field("What is asked")] = "auto",
    at: Annotated[int | None, Field("Piece that is asked", low=0)] = None,
    answer: Annotated[str, Field("Answer to follow", lines=1)] = "",
    off: Annotated[str, Field("Switched off", lines=1)] = "",
    mode: Annotated[Mode, Field("Replaced by")] = "mean",
    lens: Annotated[Lens, Field("Lens")] = "affine",
    rank: Annotated[bool, Field("Rank all parts")] = False,
    progress: Progress | None = None,
) -> XrayResult:
    """Follow a text through all layers to an answer, with parts of the model switched off.

    Args:
        engine: the model.
        text: the text, of at most 128 pieces; "[MASK]" or "___" hides a word.
        text_pair: a second text; for the start or end of an answer, the question. "" for none.
        ask: which head answers: for the "word" at a piece, the "start" or "end" of the answer to a
            question, the "entity" label of a piece, the "label" of the text, or whether the second
            text comes "next"; "auto" takes what fits the text.
        at: the piece that is asked, counted from 0 with [CLS]. If empty, the first [MASK], the
            surest entity, or the best start or end.
        answer: the word (one piece) or label whose probability is followed; "" for the first guess
            of the whole model.
        off: what is switched off, for example "2.7 2.a 2.f": head 7 of layer 2, and its attention
            and feed-forward blocks.
        mode: what replaces it: the "mean" activation over many texts, or "zero".
        lens: whether vectors are mapped to the last layer before the head reads them ("affine"),
            or not ("raw").
        rank: whether each part is also switched off alone, to see which parts the answer needs.

    Raises:
        InputError: a text is empty or too long, the model cannot answer, or there is no such
            piece, word, label or part.
    """
    check_text(text + text_pair)
    (text, a), (text_pair, b) = (
        read_signs(each, engine.tokenizer.mask_token) for each in (text, text_pair)
    )
    kind = fitting(engine, text, text_pair) if ask == "auto" else ask
    read = Text(
        engine,
        kind,
        _encoded(engine, kind, text, text_pair),
        lens,
        checked(engine, read_parts(off)),
        mode,
    )
    whole = see(read.whole, progress)
    if ask == "auto" and kind == "entity" and not any(_named(read, whole)):
        known = offered(engine)
        others: tuple[Kind, ...] = ("label", "word")
        read = replace(read, kind=next((each for each in others if each in known), kind))
        whole = see(read.whole, progress)
    now = see(read, progress) if read.off else whole
    position = _position(read, whole, at)
    before = layer_scores(read.whole, whole, position)
    question = _question(read, position, before[-1], answer)
    after = layer_scores(read, now, position) if read.off else before
    result = _result(read, question, now, (before, after))
    result = replace(result, read_as=tuple(dict.fromkeys(a + b)))
    if not rank:
        return result
    return replace(result, ranking=rank_parts(read, question, progress))


def offered(engine: Engine) -> tuple[Kind, ...]:
    """Return the questions that a trained head of the model answers."""
    return tuple(
        kind
        for kind, cls in CLASSES.items()
        if engine.facts.heads[cls.__name__].trained
        and engine.facts.heads[cls.__name__].problem in _CHOICES
    )


def fitting(engine: Engine, text: str, text_pair: str) -> Kind:
    """Return the question that fits a text.

    Raises:
        InputError: the model has no trained head that answers one.
    """
    known = offered(engine)
    wanted: tuple[Kind, ...] = ("word",) if engine.tokenizer.mask_token in text + text_pair else ()
    wanted += ("next",) if text_pair.strip() else ()
    for kind in (*wanted, *_ORDER):
        if kind in known:
            return kind
    if engine.facts.heads[CLASSES["label"].__name__].trained:
        return "label"  # of which `_encoded` says what the outputs are instead
    raise InputError(
        f"{engine.provenance.name} has no trained head, so it gives no answer that could be "
        "followed. Choose another model."
    )


def _encoded(engine: Engine, kind: Kind, text: str, text_pair: str) -> Encoding:
    """Encode what the model reads; of a question and a passage the question comes first."""
    problem = engine.facts.heads[CLASSES[kind].__name__].problem
    if problem not in _CHOICES:
        raise InputError(
            f"The classifier of {engine.provenance.name} is a {problem.replace('_', ' ')}; the "
            "X-ray follows a choice of one among several labels. Ask another question, or choose "
            "another model."
        )
    if kind not in offered(engine):
        raise InputError(
            f"{engine.provenance.name} has no trained head for this question. Ask another one."
        )
    pair = text_pair if text_pair.strip() else None
    if pair is None and kind in ("next", "start", "end"):
        missing = "a second text" if kind == "next" else "a question"
        raise InputError(f"This asks about two texts; {missing} is missing in the second box.")
    if kind in ("start", "end"):
        encoding = engine.tokenizer.encode(pair or "", text)
    else:
        encoding = engine.tokenizer.encode(text, pair)
    if all(encoding.special_tokens_mask):
        raise InputError("The text has no piece that the model reads. Write a word.")
    most = min(MOST_TOKENS, engine.max_length)
    if len(encoding) > most:
        raise InputError(
            f"The text has {len(encoding):,} pieces; the X-ray shows at most {most}. Shorten it."
        )
    return encoding


def _position(text: Text, whole: Seen, at: int | None) -> int:
    """Return the piece that is asked: as given, or the one that fits."""
    encoding, kind = text.encoding, text.kind
    if kind in ("label", "next"):
        return 0
    if at is not None:
        if at < len(encoding):
            return at
        raise InputError(f"There is no piece {at}; the text has pieces 0 to {len(encoding) - 1}.")
    if kind in ("start", "end"):
        return int(np.argmax(whole.shares[-1]))
    own = [i for i, added in enumerate(encoding.special_tokens_mask) if not added]
    if kind == "entity":
        named = _named(text, whole)
        return max(own, key=lambda i: (named[i], float(whole.shares[-1, i])))
    mask = text.engine.tokenizer.mask_token
    masks = [i for i in own if encoding.tokens[i] == mask]
    words = [i for i in own if any(map(str.isalnum, encoding.pieces[i]))]
    return (masks or words[-1:] or own)[0]


def _named(text: Text, whole: Seen) -> list[bool]:
    """Return for each piece whether it is part of the text and of a name."""
    tags = TagScheme.of(text.engine.model(BertForTokenClassification).config).tags
    answers = zip(whole.answers[-1].tolist(), text.encoding.special_tokens_mask, strict=True)
    return [not added and tags[number].role != "outside" for number, added in answers]


def _question(text: Text, position: int, logits: Floats, answer: str) -> Question:
    """Say which answer is followed: the one that is named, or the first guess."""
    if text.kind in ("start", "end"):
        chosen = position
    elif answer.strip() and text.kind != "next":
        chosen = number_of(text, position, answer, len(logits))
    else:
        chosen = int(logits.argmax())
    return Question(text.kind, position, chosen, str(target_of(text.kind, position, chosen)))


def _result(
    text: Text, question: Question, seen: Seen, logits: tuple[Floats, Floats]
) -> XrayResult:
    """Put together what was found; logits (L + 1, N) of the whole model, and of what is on."""
    shares, whole = [shares_of(each, text.temperature) for each in logits], text.kind == "label"
    before, now = (target_value(question.kind, each[-1], question.chosen) for each in logits)
    names = tuple(tuple(name_of(text, number) for number in row) for row in seen.answers.tolist())
    return XrayResult(
        tokens=tuple(text.encoding.pieces),
        question=question,
        followed=name_of(text, question.chosen),
        candidates=_candidates(text, question, shares[0][-1], shares[1][-1]),
        effect=sign(question.kind, question.chosen) * (now - before),
        off=tuple(part.name for part in text.off),
        mode=text.mode,
        path=tuple(
            LayerReading(
                layer=number - 1 if number else None,
                answer=name_of(text, int(row.argmax())),
                probability=float(row.max()),
                followed=float(row[question.chosen]),
            )
            for number, row in enumerate(shares[1])
        ),
        ranking=(),
        layers=text.engine.provenance.layers,
        heads=text.engine.provenance.heads,
        sides=tuple(text.encoding.sequence_ids),
        text=text.encoding.text,
        pair=text.encoding.text_pair or "",
        readings=Readings(text.lens, names, seen.shares, seen.agreement),
        changes=seen.changes,
        attentions=seen.attentions,
        calibration=text.engine.calibration(CLASSES[text.kind]),
        labels=tuple(name_of(text, n) for n in range(logits[0].shape[-1] if whole else 0)),
        trained_on=text.engine.facts.heads[CLASSES[text.kind].__name__].trained_on if whole else "",
    )


def _candidates(
    text: Text, question: Question, before: Floats, now: Floats
) -> tuple[Candidate, ...]:
    shown = {*np.argsort(-now, kind="stable")[:CANDIDATES].tolist()}
    shown |= {question.chosen, int(before.argmax())}
    found = [
        Candidate(
            number=number,
            name=name_of(text, number),
            probability=float(now[number]),
            before=float(before[number]),
            rank=1 + int((now > now[number]).sum()),
            rank_before=1 + int((before > before[number]).sum()),
            followed=number == question.chosen,
        )
        for number in sorted(shown)
    ]
    return tuple(sorted(found, key=lambda each: each.rank))
