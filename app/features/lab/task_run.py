"""One run of the lab, driven from outside: prepare, then advance and look in turn.

A run knows nothing of threads, visitors and time on the clock. Its training depends only on its
settings and its text; what it keeps is bounded: at most 400 points and 20 states.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from app.features.lab.result import Guess, LabResult, MaskedRow, Point, Start
from app.features.lab.result_corpus import Corpus
from app.features.lab.result_settings import OWN, LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_measuring import Measuring, best_fillings, two_axes
from app.features.lab.task_model import (
    LENGTH,
    Parts,
    as_python,
    corpus_file,
    make_parts,
    new_model,
)
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.saving import saved_files
from bert_core.errors import InputError
from bert_core.pretraining import PretrainingBatches
from bert_core.reading.gaps import read_signs
from bert_core.small_files import replacing

MOST_POINTS = 400
STATES = 20
_ROWS_SHOWN = 6
_EXAMPLES = 12

Weights = dict[str, NDArray[np.float16]]


class Run:
    """One training of a model from scratch.

    Args:
        settings: of the run.
        text: the visitor's text, for the corpus "own"; it is never written to the disk.
        folder: where the run is saved; None for nowhere. Own texts are never saved.

    Attributes:
        settings: of the run.
        points: how it looked, from the first step on.
        states: step -> weights, to scrub back to.
        private: whether it contains the visitor's own text.
        diverged: why it ended early; "" if it did not.
    """

    named = "lab"  # how the names of its models begin

    def __init__(self, settings: LabSettings, text: str = "", folder: Path | None = None) -> None:
        self.settings = settings
        self.private = settings.corpus == OWN
        self.text = text
        self._folder = None if self.private else folder
        self.points: list[Point] = []
        self.states: dict[int, Weights] = {}
        self.diverged = ""
        self._made: tuple[Corpus, Parts, Measuring, Start] | None = None
        self._since = _Since()

    # -- training --------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Build corpus, vocabulary, rows and model; go on from what is saved, if anything is.

        Raises:
            InputError: the visitor's text is too short.
        """
        if self._made is not None:
            return
        corpus = corpus_of(self.settings, self.text)
        parts = self._parts(corpus)
        measuring = Measuring(parts.tokenizer, corpus, LENGTH)
        start = _start(self.settings, corpus, parts, measuring)
        self._made = corpus, parts, measuring, start
        self._restore()
        self._keep_state()

    def _parts(self, corpus: Corpus) -> Parts:
        """Build what the run is made of."""
        return make_parts(self.settings, corpus)

    @property
    def start(self) -> Start:
        """What the run starts from; it must have been prepared."""
        return self._ready[3]

    @property
    def tokenizer(self) -> BertTokenizer:
        """The tokenizer; the run must have been prepared."""
        return self._ready[1].tokenizer

    @property
    def corpus(self) -> Corpus:
        """What it reads; the run must have been prepared."""
        return self._ready[0]

    @property
    def prepared(self) -> bool:
        """Whether `prepare` has been called."""
        return self._made is not None

    @property
    def step(self) -> int:
        """Number of steps done."""
        return 0 if self._made is None else self._ready[1].trainer.steps_done

    @property
    def done(self) -> bool:
        """Whether nothing is left to train."""
        return bool(self.diverged) or (self.prepared and self._ready[1].trainer.done)

    def advance(self, seconds: float) -> None:
        """Train for about so many seconds, at least one step, on one thread.

        A loss that is no longer a number ends the run; it is a result, not an error.
        """
        torch.set_num_threads(1)  # the matrices are small, and the run can be repeated exactly
        _, parts, _, _ = self._ready
        until = time.monotonic() + seconds
        while not self.done:
            try:
                report = parts.trainer.step()
            except InputError as error:
                self.diverged = str(error)
                return
            self._since.add(report.parts, report.seconds, report.learning_rate)
            self._keep_state()
            if time.monotonic() >= until:
                return

    def look(self) -> None:
        """Measure the model and keep the point; must be called in inference mode.

        If its loss is no longer a number, the run has diverged, and there is nothing to keep.
        """
        torch.set_num_threads(1)
        _, parts, measuring, start = self._ready
        trainer, model = parts.trainer, parts.model
        held_out = measuring.held_out(model)
        if not math.isfinite(held_out):
            self.diverged = self.diverged or (
                f"After step {trainer.steps_done}, the loss is {held_out}; expected a finite "
                "number. Try a smaller learning rate."
            )
            return
        before = self.points[-1] if self.points else None
        seconds = trainer.seconds
        pace = 0.0
        if before is not None and seconds > before.seconds:
            pace = (trainer.steps_done - before.step) / (seconds - before.seconds)
        tokens = parts.batches.batch_size * float(
            parts.batches.rows.attention_mask.sum(1).float().mean()
        )
        words, sentences = self._since.means()
        point = Point(
            step=trainer.steps_done,
            seconds=seconds,
            loss=start.log_v if math.isnan(words) else words,
            next_sentence=sentences if self.settings.next_sentence else None,
            held_out=held_out,
            accuracy=measuring.accuracy(model),
            guesses=measuring.guesses(model),
            attention=measuring.attention(model),
            vectors=two_axes(measuring.vectors(model), None if before is None else before.vectors),
            learning_rate=self._since.rate,
            steps_a_second=pace,
            tokens_a_second=pace * tokens,
            left=(self.settings.steps - trainer.steps_done) / pace if pace else 0.0,
        )
        self._since = _Since()
        self.points = thinned([*self.points, point], MOST_POINTS)

    # -- looking back and taking along -------------------------------------------------------------

    def model_at(self, step: int | None = None) -> BertForPreTraining:
        """Return a copy of the model, as it was at a saved step or as it is now."""
        _, parts, _, _ = self._ready
        model = new_model(self.settings, len(parts.tokenizer.vocab))
        if step is None:
            weights = {name: value.detach() for name, value in parts.model.named_parameters()}
        else:
            weights = {
                name: torch.from_numpy(value).float() for name, value in self.states[step].items()
            }
        with_grad = dict(model.named_parameters())
        for name, value in weights.items():
            with_grad[name].data.copy_(value)
        return model

    def fill(self, text: str, step: int | None = None, best: int = 5) -> tuple[Guess, ...]:
        """Return the best fillings of each gap of a text; to be called in inference mode.

        Args:
            text: at most as long as the model reads; what is longer is cut.
            step: a saved step; None for now.
            best: number of fillings for each mask.

        Raises:
            InputError: the text has no [MASK].
        """
        ids = self.tokenizer.encode(read_signs(text)[0], max_length=LENGTH).input_ids
        places = [at for at, id_ in enumerate(ids) if id_ == self.tokenizer.mask_token_id]
        if not places:
            raise InputError("The text has no [MASK]. Write [MASK] or ___ where a word is missing.")
        model = self._ready[1].model if step is None else self.model_at(step)
        scores = model.scores_at(torch.tensor([ids]), torch.tensor([places]))[0]
        return tuple(best_fillings(each[None], self.tokenizer, best) for each in scores)

    def files(self, step: int | None = None) -> dict[str, bytes]:
        """Return what a visitor takes along, by name: a plain BERT, the texts and the script.

        Shared layers are in it once for each layer, missing positions as zeros.
        """
        corpus, parts, _, _ = self._ready
        vocabulary = "".join(f"{piece}\n" for piece in parts.tokenizer.vocab)
        options = {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": True,
            "model_max_length": LENGTH,
        }
        return {
            **saved_files(self.model_at(step)),
            "vocab.txt": vocabulary.encode(),
            "tokenizer_config.json": (json.dumps(options, indent=2) + "\n").encode(),
            "corpus.txt": corpus_file(corpus).encode(),
            "train.py": self.python().encode(),
        }

    def python(self) -> str:
        """Return the lines of Python that repeat the run."""
        return as_python(self.settings, self._ready[0])

    def result(self) -> LabResult:
        """Return what the API returns."""
        return LabResult(self.start, tuple(self.points), self.diverged, self.python())

    # -- the disk ----------------------------------------------------------------------------------

    def save(self) -> None:
        """Write what is needed to go on after a restart; nothing for a visitor's own text."""
        if self._folder is None or not self.points:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        for step, weights in self.states.items():
            path = self._folder / f"{step}.npz"
            if not path.exists():
                with replacing(path) as draft, draft.open("wb") as file:
                    np.savez(file, **weights)  # type: ignore[arg-type]
        with replacing(self._folder / "points.npz") as draft, draft.open("wb") as file:
            np.savez(file, **plain_points(self.points, self.diverged))  # type: ignore[arg-type]
        self._ready[1].trainer.save(self._folder / "state.pt")

    def release(self) -> None:
        """Keep everything: a run can go on from where it is."""

    def _restore(self) -> None:
        """Go on from the last save, if there is one."""
        state = None if self._folder is None else self._folder / "state.pt"
        if state is None or self._folder is None or not state.is_file():
            return
        trainer = self._ready[1].trainer
        trainer.resume(state)
        points, self.diverged = read_points(self._folder / "points.npz")
        self.points = [each for each in points if each.step <= trainer.steps_done]
        for step in _state_steps(self.settings.steps):
            path = self._folder / f"{step}.npz"
            if step <= trainer.steps_done and path.is_file():
                with np.load(path, allow_pickle=False) as found:
                    self.states[step] = {name: found[name] for name in found.files}

    def _keep_state(self) -> None:
        """Keep the weights of this step if it is one of the twenty."""
        _, parts, _, _ = self._ready
        step = parts.trainer.steps_done
        if step not in self.states and step in _state_steps(self.settings.steps):
            self.states[step] = {
                name: value.detach().numpy().astype(np.float16)
                for name, value in parts.model.named_parameters()
            }

    @property
    def _ready(self) -> tuple[Corpus, Parts, Measuring, Start]:
        assert self._made is not None
        return self._made


class _Since:
    """What the steps since the last point had in common."""

    def __init__(self) -> None:
        self._words: list[float] = []
        self._sentences: list[float] = []
        self.rate = 0.0

    def add(self, parts: Mapping[str, float], seconds: float, rate: float) -> None:
        self._words.append(parts["words"])
        self._sentences.append(parts["sentences"])
        self.rate = rate

    def means(self) -> tuple[float, float]:
        """Return the mean losses; not a number if there was no step."""
        count = len(self._words)
        if not count:
            return math.nan, math.nan
        return sum(self._words) / count, sum(self._sentences) / count


def thinned(points: list[Point], most: int) -> list[Point]:
    """Drop every second point but the first and the last, if there are too many."""
    return points if len(points) <= most else [*points[:-1:2], points[-1]]


def masked_rows(
    batches: PretrainingBatches, tokenizer: BertTokenizer, step: int, count: int
) -> tuple[MaskedRow, ...]:
    """Return the first rows of a step's batch, with what happened to each piece."""
    rows, masked, chosen = batches.masked(step)
    found = []
    for row in range(min(count, len(chosen))):
        before, after = rows.input_ids[row].tolist(), masked.input_ids[row].tolist()
        fates = [
            _fate(old, new, tokenizer.mask_token_id) if label >= 0 else ""
            for old, new, label in zip(before, after, masked.labels[row].tolist(), strict=True)
        ]
        label = None if batches.labels is None else int(batches.labels[chosen[row]])
        found.append(
            MaskedRow(
                pieces=tuple(tokenizer.convert_ids_to_tokens(before)),
                given=tuple(tokenizer.convert_ids_to_tokens(after)),
                fates=tuple(fates),
                segments=tuple(rows.token_type_ids[row].tolist()),
                real=tuple(bool(each) for each in rows.attention_mask[row].tolist()),
                follows=None if label is None else label == 0,
            )
        )
    return tuple(found)


def _fate(old: int, new: int, mask: int) -> str:
    return "masked" if new == mask else "kept" if new == old else "replaced"


def _start(settings: LabSettings, corpus: Corpus, parts: Parts, measuring: Measuring) -> Start:
    rows = parts.batches.rows
    counts = Counter(rows.input_ids[rows.attention_mask.bool()].tolist())
    for special in parts.tokenizer.all_special_ids:
        counts.pop(special, None)
    total = counts.total()
    return Start(
        settings=settings,
        sentences=len(corpus.sentences),
        examples=corpus.sentences[:_EXAMPLES],
        joins=parts.joins,
        vocabulary=len(parts.tokenizer.vocab),
        words=len({word for sentence in corpus.sentences for word in sentence.split()}),
        rows=masked_rows(parts.batches, parts.tokenizer, 0, _ROWS_SHOWN),
        parameters=sum(each.numel() for each in parts.model.parameters()),
        log_v=math.log(len(parts.tokenizer.vocab)),
        unigram=-sum(n / total * math.log(n / total) for n in counts.values()),
        phenomena=tuple(replace(each, probes=()) for each in measuring.phenomena),
        watched=measuring.watched,
        attended=measuring.attended,
        shown=measuring.shown,
    )


def _state_steps(steps: int) -> set[int]:
    """Return the steps whose weights are kept.

    >>> sorted(_state_steps(38))[:4], len(_state_steps(2_000))
    ([0, 2, 4, 6], 20)
    """
    return {round(number * steps / (STATES - 1)) for number in range(STATES)}


_ARRAYS = ("attention", "vectors")


def plain_points(points: Sequence[Point], diverged: str) -> dict[str, NDArray[Any]]:
    """Return points as arrays, one of which is JSON."""
    rest = [
        {name: value for name, value in asdict(point).items() if name not in _ARRAYS}
        for point in points
    ]
    return {
        "rest": np.array(json.dumps({"points": rest, "diverged": diverged})),
        **{name: np.stack([getattr(point, name) for point in points]) for name in _ARRAYS},
    }


def read_points(path: Path) -> tuple[list[Point], str]:
    """Read what `plain_points` returned."""
    with np.load(path, allow_pickle=False) as found:
        rest = json.loads(str(found["rest"]))
        arrays = zip(*(found[name] for name in _ARRAYS), strict=True)
        return [
            Point(
                **{
                    **point,
                    "accuracy": tuple(point["accuracy"]),
                    "guesses": tuple(tuple(map(tuple, gap)) for gap in point["guesses"]),
                },
                attention=attention,
                vectors=vectors,
            )
            for point, (attention, vectors) in zip(rest["points"], arrays, strict=True)
        ], rest["diverged"]
