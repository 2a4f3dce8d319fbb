"""One loaded model with its tokenizer, and the methods through which every task computes."""

import hashlib
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from app.engine.compute.device import chosen_device, on_processor
from app.engine.compute.processor import PROCESSOR
from app.engine.compute.recent import RECENT
from app.engine.models.facts import ModelFacts, read_facts, stamp, tokenizer_in
from app.engine.models.papers import (
    Papers,
    StatisticsOnFile,
    Verification,
    describe,
    fingerprint,
    read_atlas,
    read_papers,
    read_statistics,
)
from app.engine.models.shelf import Offer, called_by_name, local_folder, offer_of, without_paths
from app.engine.models.untrained import NO_PAPERS, random_base, random_head
from app.records.pieces import SPACE
from app.records.results import Calibration
from bert_core import (
    BertForMaskedLM,
    BertForPreTraining,
    BertModel,
    BertTokenizer,
    Encoding,
    FamilyTokenizer,
)
from bert_core.analysis.head_atlas import HeadAtlas
from bert_core.checkpoints.formats.weights import HELD
from bert_core.checkpoints.loading import load_sharing
from bert_core.config import TEMPERATURES_FITTED_ON
from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError
from bert_core.model.kinds import KINDS
from bert_core.model.outputs import ModelOutputs
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.reading.gaps import pieces_after
from bert_core.reading.running import Inputs, Progress, by_length, input_tensors
from bert_core.verification import verify

M = TypeVar("M", bound=BertPreTrainedModel)
T = TypeVar("T", Tensor, ModelOutputs)
F = TypeVar("F")
_LONGEST = 200  # characters shown of what a temperature was fitted on; the text is untrusted
TOGETHER = 8  # inputs per pass: bounds memory, and lets other sessions run in between
_UNUSED, _NOT_USED = "[unused", "NOTUSED"  # BERT's entries without text, and CamemBERT's


class Engine:
    """A model shared by all sessions: read-only after loading, safe in any number of threads.

    All model classes are built on the same encoder, so the attention a visitor sees belongs to
    the answer shown. The exceptions are heads whose files contain an encoder of their own;
    `facts` lists them.

    Args:
        name: a bundled name or a folder.
        offer: the model as visitors know it, if not by the name of its folder.

    Raises:
        BertError: the model cannot be found or read.
    """

    def __init__(self, name: str, offer: Offer | None = None) -> None:
        self._lock = threading.Lock()
        self._self = object()  # represents this engine in keys, without keeping it alive
        self._offer = offer or offer_of(name)
        with called_by_name(self._offer):
            self._load(local_folder(name))

    def _load(self, folder: Path) -> None:
        """Read the weights, the vocabulary, and the facts about them."""
        self._folder, self._stamp = folder, stamp(folder)
        held = next(iter(HELD.get(folder, {}).values()), None)
        self._device = chosen_device() if held is None else held.device
        self._base = BertForPreTraining.from_pretrained(str(folder)).to(self._device)
        self.tokenizer: BertTokenizer | FamilyTokenizer = tokenizer_in(folder, self._stamp)
        self.facts: ModelFacts = read_facts(folder)
        self._kept: dict[object, Any] = {BertForPreTraining: self._base}  # see `_once`
        left_out = self.facts.left_over
        self.provenance = describe(self._offer, folder, self._base, self.tokenizer, left_out)

    @property
    def max_length(self) -> int:
        """The longest input in tokens, including the added special tokens."""
        return self.provenance.max_length

    @property
    def casings(self) -> bool:
        """Whether its tokenizer can be told to lower-case; others do what their files say."""
        return isinstance(self.tokenizer, BertTokenizer)

    def tokenizer_for(self, *, lower_case: bool) -> BertTokenizer | FamilyTokenizer:
        """Return a tokenizer with this model's vocabulary and the requested casing.

        Raises:
            InputError: the tokenizer has the other casing, and no switch.
        """
        if lower_case == self.tokenizer.do_lower_case:
            return self.tokenizer
        if not self.casings:
            raise InputError(
                f"The tokenizer of {self.provenance.name} "
                f"{'keeps capitals' if lower_case else 'lower-cases'} and has no switch for "
                "it. Leave the casing as it is."
            )
        read = partial(BertTokenizer.from_pretrained, do_lower_case=lower_case)
        return self._once(lower_case, lambda: read(str(self._unchanged())))

    def never_used(self, rows: int) -> list[int]:
        """Return entries that no text contains: reserved ones, and rows without a spelling."""
        names = self.tokenizer.ids_to_tokens
        return [
            id_
            for id_ in range(rows)
            if (name := names.get(id_, _UNUSED)).startswith(_UNUSED) or name.endswith(_NOT_USED)
        ]

    def entry(self, word: str, before: str = " ") -> int | None:
        """Return the entry of the vocabulary that a person means; None if there is none.

        `word` is one piece after the text `before`, or an entry as `readable` shows it.
        """
        named = self._spellings.get(word)
        if named is not None and (SPACE in word or isinstance(self.tokenizer, BertTokenizer)):
            return named
        pieces = pieces_after(self.tokenizer, before, word)
        if len(pieces) == 1 and pieces[0] != self.tokenizer.unk_token:
            return self.tokenizer.vocab[pieces[0]]
        return named

    @cached_property
    def _spellings(self) -> dict[str, int]:
        """The entries as people read them."""
        return {self.tokenizer.readable(name): id_ for name, id_ in self.tokenizer.vocab.items()}

    def readable(self, id_: int) -> str:
        """Return an entry of the vocabulary as people read it; a row without one by its number."""
        name = self.tokenizer.ids_to_tokens.get(id_)
        return f"[row {id_}]" if name is None else self.tokenizer.readable(name)

    def model(self, cls: type[M]) -> M:
        """Return this model as one of the eight classes, built once and kept.

        Raises:
            CheckpointError: the files of this class contradict its configuration.
        """
        make = random_head if self.facts.untrained else load_sharing
        found = self._once(cls, lambda: make(cls, self._base, self._unchanged()))
        assert isinstance(found, cls)
        return found

    def _unchanged(self) -> Path:
        """Return the folder, unless its files are no longer those that this model was read from.

        Raises:
            CheckpointError: a head or vocabulary would be joined to another model's weights.
        """
        if stamp(self._folder) != self._stamp:
            raise CheckpointError(
                f"The files of {self._offer.name} changed while it was in use; expected those it "
                "was opened with. Ask again to reopen it."
            )
        return self._folder

    def _once(self, key: object, make: Callable[[], F]) -> F:
        """Make or read something once; what is already there is returned without locking."""
        if key not in self._kept:
            with self._lock, called_by_name(self._offer):
                if key not in self._kept:
                    self._kept[key] = make()
        found: F = self._kept[key]
        return found

    def untrained(self) -> "Engine":
        """Return a copy of this model that has learned nothing: the same sizes, random weights."""
        made = copy(self)
        made._lock, made._self = threading.Lock(), object()
        made.facts = self.facts.forgotten()
        made._base = random_base(self._base)
        made._kept = {BertForPreTraining: made._base, "statistics": None, "atlas": None}
        made.provenance = replace(
            self.provenance, fingerprint=f"{self.provenance.fingerprint} untrained"
        )
        return made

    def missing(self, class_name: str) -> tuple[str, ...]:
        """Return the parameters of a class that no file supplied; () means all are trained.

        Raises:
            InputError: `bert_core` has no model class of this name.
        """
        if class_name not in KINDS:
            raise InputError(f"There is no model class named {class_name!r}.")
        report = self.model(KINDS[class_name].cls).load_report
        return report.missing if report else ()

    def calibration(self, cls: type[BertPreTrainedModel], name: str = "") -> Calibration:
        """Return the temperature of a class's softmax, and where that temperature comes from.

        `name` is that of the temperature if the class has several (`BertConfig.temperature`).
        """
        config = self.model(cls).config
        name = config.temperature_key(name or cls.__name__)
        told = config.extra.get(TEMPERATURES_FITTED_ON)
        fitted_on = told.get(name) if isinstance(told, dict) else None
        return Calibration(
            temperature=config.temperature(name),
            named=name in config.temperatures,
            fitted_on=fitted_on[:_LONGEST] if isinstance(fitted_on, str) else "",
            errors=tuple(each.share for each in self.facts.errors.get(name, ())),
        )

    def papers(self) -> Papers:
        """Read the files next to the weights in their current state; random weights have none."""
        if self.facts.untrained:
            return NO_PAPERS
        found = read_papers(self._folder)
        problems = tuple(without_paths(self._offer, each) for each in found.problems)
        return replace(found, problems=problems)

    def verify(self) -> Verification:
        """Read the files again and compare them with the reference stored next to them.

        Who asks while this is under way, such as a whole class, gets the same outcome.

        Raises:
            BertError: the reference is missing or cannot be read.
        """
        if self.facts.untrained:
            raise MissingFileError(f"There is no reference for {self._offer.name}.")

        def work() -> Verification:
            began, start = datetime.now(UTC), time.perf_counter()
            report, weights = verify(self._folder), fingerprint(self._folder)
            return Verification(report, weights, began, time.perf_counter() - start)

        with called_by_name(self._offer):
            found = RECENT.get((self._self, "verify"), lambda: PROCESSOR.run(work, tokens=1))
        failure = without_paths(self._offer, found.report.failure)
        return replace(found, report=replace(found.report, name=self._offer.name, failure=failure))

    def head_statistics(self) -> StatisticsOnFile | None:
        """Return where every head usually looks, read once; None if it was not measured.

        Raises:
            CheckpointError: the statistics file is damaged or does not match the model.
        """
        size = (self.provenance.layers, self.provenance.heads)
        return self._once("statistics", lambda: read_statistics(self._folder, size))

    def head_atlas(self) -> HeadAtlas | None:
        """Return the atlas of heads stored with the weights, read once; None if there is none.

        Raises:
            CheckpointError: the file is damaged.
        """
        return self._once("atlas", lambda: read_atlas(self._folder))

    def check_length(self, encoding: Encoding) -> None:
        """Reject an input that is longer than the model reads.

        Raises:
            InputError: the message has both lengths.
        """
        found = len(encoding.input_ids)
        if found > self.max_length:
            raise InputError(
                f"The text has {found:,} tokens; {self.provenance.name} reads at most "
                f"{self.max_length:,}. Shorten it."
            )

    def warm_up(self) -> None:
        """Run the model once on a text as long as it reads, so that no visitor waits for that."""
        length = min(self.max_length, 512)
        encoding = self.tokenizer.encode(self.tokenizer.mask_token * length, max_length=length)
        self.attentions(encoding)
        self.scores_at(encoding, [1])
        with suppress(BertError):  # the pages report what is wrong
            self.head_statistics()

    def run(
        self,
        cls: type[BertPreTrainedModel],
        encodings: Encoding | Sequence[Encoding],
        *,
        attentions: bool = False,
        hidden_states: bool = False,
    ) -> ModelOutputs:
        """Run one class on B inputs, padded to the longest.

        The outputs are detached, on the CPU, and without `last_hidden_state`, which is empty.

        Raises:
            InputError: an input is longer than the model reads.
        """
        batch = [encodings] if isinstance(encodings, Encoding) else list(encodings)
        inputs = self._collate(batch)
        return self._run(cls, batch, inputs, attentions=attentions, hidden_states=hidden_states)

    def logits(
        self,
        cls: type[BertPreTrainedModel],
        encodings: Sequence[Encoding],
        progress: Progress | None = None,
    ) -> Tensor:
        """Score N whole inputs, batching those of similar length: (N, C), on the CPU.

        For multiple choice, an input is one choice with its context, and C is 1.

        Raises:
            InputError: there is no input, or one is longer than the model reads.
        """
        separately = KINDS[cls.__name__].has_axis("N")
        found: dict[int, Tensor] = {}
        lengths = [len(encoding) for encoding in encodings]
        for group in by_length(lengths, self._device, most=TOGETHER) if encodings else ([],):
            batch = [encodings[number] for number in group]
            ids, types, mask = self._collate(batch)
            if separately:
                ids, types, mask = ids[:, None], types[:, None], mask[:, None]
            outputs = self._run(cls, batch, (ids, types, mask))
            assert outputs.logits is not None
            found.update(zip(group, outputs.logits, strict=True))
            if progress is not None:
                progress(len(found), len(encodings))
        return torch.stack([found[number] for number in range(len(found))])

    def attentions(self, encoding: Encoding) -> tuple[Tensor, ...]:
        """Return the attention of every head for one input: L times (H, T, T), on the CPU.

        Raises:
            InputError: the input is longer than the model reads.
        """
        input_ids, token_type_ids, attention_mask = self._collate([encoding])
        model = self.model(BertModel)

        def run() -> tuple[Tensor, ...]:
            given = (input_ids, token_type_ids, attention_mask)
            layers = model.run(*given, hidden_states=False, logits=False).attentions or ()
            return tuple(layer[0].cpu() for layer in layers)

        return PROCESSOR.run(run, tokens=input_ids.numel())

    def scores_at(self, encoding: Encoding, positions: Sequence[int]) -> Tensor:
        """Score the whole vocabulary at some positions of one input: (P, V), on the CPU."""
        input_ids, token_type_ids, attention_mask = self._collate([encoding])
        model = self.model(BertForMaskedLM)
        return self._computed(
            ("scores_at", tuple(positions)),
            [encoding],
            lambda: model.scores_at(
                input_ids,
                torch.tensor([list(positions)], dtype=torch.long),
                token_type_ids=token_type_ids,
                attention_mask=attention_mask,
            )[0].cpu(),
        )

    def score_rows(self, input_ids: Tensor, positions: Tensor) -> Tensor:
        """Score the whole vocabulary in texts of equal length (a `Scorer` of `bert_core.reading`).

        `input_ids` are (B, T), `positions` (B, P), the scores (B, P, V), on the CPU.
        """
        model, device = self.model(BertForMaskedLM), self._device
        return PROCESSOR.run(
            lambda: model.scores_at(input_ids.to(device), positions.to(device)).cpu(),
            tokens=input_ids.numel(),
        )

    def _run(
        self,
        cls: type[BertPreTrainedModel],
        batch: Sequence[Encoding],
        inputs: Inputs,
        *,
        attentions: bool = False,
        hidden_states: bool = False,
    ) -> ModelOutputs:
        """Run a class on a batch, given as encodings and as tensors."""
        model = self.model(cls)
        ids, types, mask = inputs

        def work() -> ModelOutputs:
            outputs = model.run(
                ids, types, mask, attentions=attentions, hidden_states=hidden_states
            )
            # No page reads the vectors without asking for all layers. They would be 99 % of the
            # memory that an answer or a window of a long text occupies while it is kept.
            return on_processor(replace(outputs, last_hidden_state=torch.empty(0)))

        return self._computed(("run", cls, attentions, hidden_states), batch, work)

    def _computed(
        self, what: tuple[object, ...], batch: Sequence[Encoding], work: Callable[[], T]
    ) -> T:
        """Compute in turn, unless the same was computed lately or is being computed.

        The result is shared, so callers must not change it in place. It depends on `what` and on
        the inputs of `batch`.
        """
        digest = hashlib.sha256()
        for encoding in batch:
            ids: list[int] = encoding.input_ids
            types: list[int] = encoding.token_type_ids
            digest.update(array("q", [len(ids), *ids, *types]).tobytes())
        return RECENT.get(
            (self._self, *what, digest.digest()),
            make=lambda: PROCESSOR.run(work, tokens=len(batch) * max(map(len, batch))),
            size=_bytes_of,
        )

    def _collate(self, batch: Sequence[Encoding]) -> Inputs:
        """Pad encodings to equal length on the model's device: ids, types, mask, each (B, T)."""
        if not batch:
            raise InputError("Nothing to compute: the list of inputs is empty.")
        for encoding in batch:
            self.check_length(encoding)
        return input_tensors(self.tokenizer, batch, self._device)


def _bytes_of(found: Tensor | ModelOutputs) -> int:
    """Return the memory that a result occupies."""
    if isinstance(found, Tensor):
        return found.untyped_storage().nbytes()
    parts = [getattr(found, each.name) for each in fields(found)]
    tensors = [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]
    return sum(each.untyped_storage().nbytes() for each in tensors if isinstance(each, Tensor))
