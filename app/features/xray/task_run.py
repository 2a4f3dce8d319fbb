"""One text in a model with parts switched off, and what each layer does to it.

`Text` says which text is read by which class, and what is off; `see` runs it once and keeps what
the pictures need. All later questions about the same text start from there.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.engine.compute.turns import in_turns
from app.engine.models import Engine
from app.features.xray.result import Changes, Floats, Kind, Lens, Mode, Part, XrayResult
from bert_core import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    Encoding,
)
from bert_core.analysis import Attention, FeedForward, Heads, Intervention, fitted, lens_states
from bert_core.analysis.forward import Activations, head_outputs, record
from bert_core.analysis.head_statistics import HeadName, name_heads, text_statistics
from bert_core.analysis.interventions import Edits
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.reading.running import Progress

CLASSES: dict[Kind, type[BertPreTrainedModel]] = {
    "word": BertForMaskedLM,
    "start": BertForQuestionAnswering,
    "end": BertForQuestionAnswering,
    "entity": BertForTokenClassification,
    "label": BertForSequenceClassification,
    "next": BertForNextSentencePrediction,
}
"""The class whose head answers each kind of question."""

_ROWS = 256  # of the vocabulary's scores at once: 31 MB


@dataclass(frozen=True, slots=True)
class Text:
    """A text as one class of a model reads it, with parts of the model switched off."""

    engine: Annotated[Engine, "the model"]
    kind: Annotated[Kind, "the question, which decides the class"]
    encoding: Annotated[Encoding, "the text"]
    lens: Annotated[Lens, "how hidden states are prepared for the head"] = "affine"
    off: Annotated[tuple[Part, ...], "the parts that are off"] = ()
    mode: Annotated[Mode, "what replaces them"] = "mean"

    @property
    def model(self) -> BertPreTrainedModel:
        """The class that answers."""
        return self.engine.model(CLASSES[self.kind])

    @property
    def temperature(self) -> float:
        """The temperature of shown probabilities; that of answers' spans is not one of starts."""
        found = self.engine.calibration(CLASSES[self.kind])
        return 1.0 if self.kind in ("start", "end") else found.temperature

    @property
    def piecewise(self) -> bool:
        """Whether the head answers for every piece by itself."""
        return self.kind in ("word", "entity")

    @property
    def whole(self) -> "Text":
        """The same text with everything on."""
        return replace(self, off=(), mode="mean")

    def without(self, parts: tuple[Part, ...]) -> "Text":
        """The same text with other parts off."""
        return replace(self, off=tuple(sorted(parts)))

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that what is seen depends on."""
        here = self.encoding
        return (
            *("xray", self.engine.provenance.fingerprint, id(self.model), self.lens, self.off),
            *(self.kind, self.mode, tuple(here.input_ids), tuple(here.token_type_ids)),
        )

    def interventions(self) -> list[Intervention]:
        """Return what is off as the library takes it."""
        heads: dict[int, list[int]] = {}
        found: list[Intervention] = []
        for part in self.off:
            if part.place == "head":
                heads.setdefault(part.layer, []).append(part.head)
            else:
                block = Attention if part.place == "attention" else FeedForward
                found.append(block(part.layer, mode=self.mode))
        return found + [Heads(layer, those, mode=self.mode) for layer, those in heads.items()]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What one run of a text leaves."""

    states: Annotated[Tensor, "(L + 1, T, D), embeddings first"]
    attentions: Annotated[tuple[Floats, ...], "L arrays (H, T, T)"]
    changes: Annotated[Changes, "how much each layer did to each piece"]
    answers: Annotated[
        np.ndarray,
        "(L + 1, T), the number of the most probable answer; -1 where the head is not read",
    ]
    shares: Annotated[Floats, "(L + 1, T), its probability"]
    agreement: Annotated[
        Floats, "(L + 1, T), the probability of what the whole model answers there in the end"
    ]

    @property
    def nbytes(self) -> int:
        """What it occupies."""
        arrays = (*self.attentions, self.answers, self.shares, self.agreement)
        return self.states.nbytes + sum(each.nbytes for each in arrays)


def text_of(engine: Engine, result: XrayResult) -> Text:
    """Return the text of a result, as it was read."""
    return Text(
        engine,
        result.question.kind,
        engine.tokenizer.encode(result.text, result.pair or None),
        result.readings.lens,
        result.parts_off,
        result.mode,
    )


def head_notes(engine: Engine, result: XrayResult) -> tuple[tuple[HeadName, ...], ...]:
    """Name what every head does in this text, with what is off taken into account."""
    return name_heads(text_statistics(result.attentions, text_of(engine, result).encoding))


def see(text: Text, progress: Progress | None = None) -> Seen:
    """Run a text, unless the same was run lately."""
    return RECENT.get(text.key, make=lambda: _see(text, progress), size=lambda made: made.nbytes)


def prepare(text: Text, progress: Progress | None = None) -> None:
    """Fit what belongs to a model, means and maps, if that was not done yet."""

    def work(step: Progress) -> None:
        fitted(text.model, text.engine.tokenizer, progress=step)

    RECENT.get(("fitted", text.model), lambda: in_turns(work, tokens=1, progress=progress))


def _see(text: Text, progress: Progress | None) -> Seen:
    if text.lens == "affine" or text.off:
        prepare(text, progress)
    whole = see(text.whole, progress) if text.off else None
    length = len(text.encoding)

    def run() -> tuple[Activations, Tensor]:
        edits = Edits(text.model, text.interventions(), length, attentions=True)
        found = record(text.model, text.encoding, attentions=True, edit=edits.apply)
        states = torch.cat(found.hidden_states)  # (L + 1, T, D)
        return found, states

    found, states = PROCESSOR.run(run, tokens=length)
    answers, shares, agreement = _read(text, states, whole, progress)
    return Seen(
        states=states,
        attentions=tuple(_array(each[0]) for each in found.attentions),
        changes=PROCESSOR.run(lambda: _changes(found), tokens=1),
        answers=answers,
        shares=shares,
        agreement=agreement,
    )


def _changes(found: Activations) -> Changes:
    """Compare what goes into each layer with what comes out, and with what its blocks add."""
    before = torch.cat(found.hidden_states[:-1])  # (L, T, D)
    after = torch.cat(found.hidden_states[1:])
    layers = range(len(before))
    attention = torch.cat([found.at["attention", layer] for layer in layers])
    forward = torch.cat([found.at["feed_forward", layer] for layer in layers])
    length = before.norm(dim=-1)
    return Changes(
        turned=_array(1 - F.cosine_similarity(before, after, dim=-1)),
        by_attention=_array(attention.norm(dim=-1) / length),
        by_feed_forward=_array(forward.norm(dim=-1) / length),
    )


def _array(tensor: Tensor) -> Floats:
    """Convert to a read-only array, because sessions share the result."""
    array: Floats = tensor.float().cpu().numpy()
    array.setflags(write=False)
    return array


# -- the head on every layer ----------------------------------------------------------------------


def scores(text: Text, states: Tensor) -> Tensor:
    """Apply the head of the question to hidden states (N, T, D).

    Returns:
        (N, T, options) for questions about single pieces; else (N, options), which are the pieces
        themselves for a start or an end.
    """
    found = head_outputs(text.model, states)
    logits = {"start": found.start_logits, "end": found.end_logits}.get(text.kind, found.logits)
    assert logits is not None
    return logits


def layer_scores(text: Text, seen: Seen, position: int) -> Floats:
    """Return the scores of all answers after each layer, (L + 1, N); the last are the answer's."""
    here = slice(position, position + 1) if text.piecewise else slice(None)

    def work() -> Floats:
        ready = lens_states(text.model, seen.states, text.lens)[:, here]
        return _array(scores(text, ready).flatten(1))

    return RECENT.get(
        ("xray scores", text.key, position),
        make=lambda: PROCESSOR.run(work, tokens=1),
        size=lambda made: made.nbytes,
    )


def shares_of(logits: Floats, temperature: float) -> Floats:
    """Return the softmax of logits (..., N) divided by a temperature."""
    scaled = logits / temperature
    each: Floats = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    each /= each.sum(axis=-1, keepdims=True)
    return each


def _read(
    text: Text, states: Tensor, whole: Seen | None, progress: Progress | None
) -> tuple[np.ndarray, Floats, Floats]:
    """Return what the head answers at each piece of each layer; see `Seen`."""
    count, length = states.shape[:2]
    if whole is None:
        start = 0
        answers = np.full((count, length), -1)
        shares = np.full((count, length), np.nan, np.float32)
        agreement = shares.copy()
    else:  # layers before the first part that is off are as they were
        start = 1 + min(part.layer for part in text.off)
        answers, shares, agreement = (
            each.copy() for each in (whole.answers, whole.shares, whole.agreement)
        )
    ready = PROCESSOR.run(lambda: lens_states(text.model, states, text.lens), tokens=1)
    final = None if whole is None else whole.answers[-1]
    width = max(1, _ROWS // length)
    blocks = [range(max(start, end - width), end) for end in range(count, start, -width)]
    for done, block in enumerate(blocks, start=1):  # the last layers first: they name the answers
        here = slice(block.start, block.stop)
        rows = ready[here] if text.kind not in ("label", "next") else ready[here, :1]
        found = PROCESSOR.run(lambda: scores(text, rows), tokens=len(block) * length)  # noqa: B023
        logits = found.float().cpu().numpy()
        if text.kind in ("start", "end"):
            agreement[here] = shares[here] = shares_of(logits, text.temperature)
        else:
            at = slice(None) if text.piecewise else slice(0, 1)
            logits = logits.reshape(len(block), -1, logits.shape[-1])  # (N, T or 1, options)
            best = logits.argmax(axis=-1)
            final = best[-1] if final is None else final[at]
            answers[here, at] = best
            shares[here, at], agreement[here, at] = _two_shares(
                logits, best, final, text.temperature
            )
        if progress is not None:
            progress(done, len(blocks))
    for each in (answers, shares, agreement):
        each.setflags(write=False)
    return answers, shares, agreement


def _two_shares(
    logits: np.ndarray, best: np.ndarray, final: np.ndarray, temperature: float
) -> tuple[Floats, Floats]:
    """Return the probabilities of two options for each row of logits (N, T, options)."""
    final = np.broadcast_to(final, best.shape)
    top, other = (
        np.take_along_axis(logits, which[..., None], axis=-1)[..., 0] for which in (best, final)
    )
    logits -= top[..., None]
    logits /= temperature
    total = np.exp(logits, out=logits).sum(axis=-1)
    return 1 / total, np.exp((other - top) / temperature) / total


def checked(engine: Engine, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Reject parts that the model does not have.

    Raises:
        InputError: there is one.
    """
    layers, heads = engine.provenance.layers, engine.provenance.heads
    for part in parts:
        if part.layer >= layers or part.head >= heads:
            raise InputError(
                f"There is no {part.words}: the model has layers 0 to {layers - 1} with heads 0 to "
                f"{heads - 1}."
            )
    return parts
