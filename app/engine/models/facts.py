"""What a model contains for each page, read from its files without loading it."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from app.engine.models.families import why_without
from app.engine.models.papers import read_or
from app.engine.models.shelf import Kind, Offer, called_by_name, local_folder
from bert_core import BertModel, BertTokenizer, FamilyTokenizer, load_tokenizer
from bert_core.bundled.figures import Figure, read_figures
from bert_core.bundled.trained_on import read_trained_on
from bert_core.checkpoints.plan import Plan, head_folder, survey
from bert_core.checkpoints.settings import read_config
from bert_core.config import HAS_ANSWER, ProblemType
from bert_core.model.kinds import KINDS

Stamp = tuple[tuple[str, int, int, int], ...]
"""Files, each with its time of change, size and place on the disk."""

_BELOW = ("heads",)  # folders with files of a model
_NAMELESS = re.compile(r"LABEL_\d+")
_NUMBER_BYTES = 4  # float32, whatever type the file has
_MEASURED = {  # name of a temperature: the task, as `figures.json` calls it
    "BertForMaskedLM": "masked word",
    "BertForNextSentencePrediction": "next sentence",
    "BertForQuestionAnswering": "best span",
    HAS_ANSWER: "has an answer or not",
    "BertForTokenClassification": "pieces of names",
    "BertForSequenceClassification": "sentiment",
    "BertForMultipleChoice": "multiple choice",
}
_OF_TEXTS = "BertForSequenceClassification"
_ERROR = "calibration error, "


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """What a model contains for one class."""

    missing: Annotated[tuple[str, ...], "parameters that no file supplies; () if all are trained"]
    mismatched: Annotated[tuple[str, ...], "parameters of wrong shape, which keep it from use"]
    labels: Annotated[tuple[str, ...], "names of its outputs; () if the model does not name them"]
    outputs: Annotated[int, "number of labels"]
    own_encoder: Annotated[bool, "whether it uses its own encoder, not that of the other pages"]
    trained_on: Annotated[str, 'what it was trained on, as a phrase; "" if not stored'] = ""
    figures: Annotated[tuple[Figure, ...], "how often it was right; () if not stored"] = ()
    problem: Annotated[ProblemType | Literal[""], "what a text classifier answers"] = ""
    lacks: Annotated[str, 'why there is no such head, in sentences; "" if there may be one'] = ""

    @property
    def trained(self) -> bool:
        """Whether every parameter was learned."""
        return not (self.missing or self.lacks)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model contains, and what it lacks."""

    heads: Annotated[Mapping[str, HeadFacts], "class name -> what the model contains for it"]
    classifier_of: Annotated[str | None, 'whose its `classifier` is; "" unknown; None: it has none']
    left_over: Annotated[tuple[str, ...], "tensors that fit none of the classes"]
    framing: Annotated[tuple[str, str, str], "what are [CLS], [SEP] and [MASK] in BERT"]
    lacking: Annotated[tuple[str, ...], "special tokens that the vocabulary does not contain"]
    entries: Annotated[int, "number of entries in the vocabulary file"]
    rows: Annotated[int, "number of entries that the weights have room for"]
    segments: Annotated[int, "number of its token types"]
    pair_segments: Annotated[int, "how many pairs need: two where the family was trained on pairs"]
    positions: Annotated[int, "longest input in tokens"]
    memory_bytes: Annotated[int, "estimated memory once every page has used the model"]
    file_bytes: Annotated[int, "size of its weight files"]
    began: Annotated[str, 'what its encoder was trained on, as a phrase; "" if not stored'] = ""
    errors: Annotated[
        Mapping[str, tuple[Figure, ...]],
        "name of a temperature -> the calibration errors measured with it",
    ] = field(default_factory=dict)
    untrained: Annotated[bool, "whether all of its weights are random, on purpose"] = False

    @property
    def reads_pairs(self) -> bool:
        """Whether it has the token types that tell two texts of one input apart."""
        return self.segments >= self.pair_segments

    def forgotten(self) -> "ModelFacts":
        """Return the facts of a twin with random weights, of which nothing was measured."""
        heads = {
            name: replace(head, trained_on="", figures=()) for name, head in self.heads.items()
        }
        return replace(self, heads=heads, began="", errors={}, untrained=True)


def read_facts(folder: Path) -> ModelFacts:
    """Read the facts of the model in a folder; cached until its files change.

    Raises:
        BertError: there is no model in the folder, or its files are damaged.
    """
    return _read(folder, stamp(folder))


def offered_facts(offer: Offer) -> ModelFacts:
    """Read the facts of a model on offer.

    Raises:
        BertError: as in `read_facts`, but with the model's name in place of its folder.
    """
    with called_by_name(offer):
        found = read_facts(local_folder(offer.source))
    return found.forgotten() if offer.kind is Kind.UNTRAINED else found


def stamp_of(offer: Offer) -> object:
    """Return a value that changes whenever a file of a model on offer changes."""
    return stamp(Path(offer.source).expanduser())


def stamp(place: Path) -> Stamp:
    """Return a value that changes whenever a file of a model (folder or archive) changes.

    Hidden files are left out.
    """
    found = []
    for path in sorted(_files(str(place), _BELOW) if place.is_dir() else [str(place)]):
        with suppress(OSError):  # a link to nothing, or a file that is just being replaced
            stat = os.stat(path)
            found.append((path, stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(found)


def _files(folder: str, below: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of files in a folder, and in those below it whose names begin like these."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not entry.is_dir():
                yield entry.path
            elif entry.name.startswith(below):
                yield from _files(entry.path, ("Bert",))


@lru_cache(maxsize=1)
def tokenizer_in(folder: Path, stamp: Stamp) -> BertTokenizer | FamilyTokenizer:
    """Read the tokenizer in a folder, once for the facts and the engine that is opened next."""
    return load_tokenizer(str(folder))


@lru_cache(maxsize=64)
def _read(folder: Path, stamp: Stamp) -> ModelFacts:
    config = read_config(folder, {})
    lacks = {
        name: why_without(read_config(head_folder(folder, each.cls) or folder, {}), name)
        for name, each in KINDS.items()
    }
    found = survey(
        folder,
        [each.cls for each in KINDS.values() if each.cls is not BertModel and not lacks[each.name]],
    )
    tokenizer = tokenizer_in(folder, stamp)
    framing = (tokenizer.cls_token, tokenizer.sep_token, tokenizer.mask_token)
    needed = (*framing, tokenizer.pad_token, tokenizer.unk_token)
    unused = [set(each.report.unexpected) for each in found.classes.values()]
    base = found.classes["BertForPreTraining"].parameters
    own = sum(each.parameters for each in found.classes.values() if each.own_encoder)
    # The page “Model card” says if one of these is damaged.
    told: Mapping[str, str] = read_or(lambda: read_trained_on(folder), {}, [])
    figures: tuple[Figure, ...] = read_or(lambda: read_figures(folder), (), [])
    right = {name: _of_task(figures, task) for name, task in _MEASURED.items()}
    heads = {
        name: _head(name, each, told.get(name, ""), right.get(name, ()))
        for name, each in found.classes.items()
    }
    none = {name: HeadFacts((), (), (), 0, False, lacks=says) for name, says in lacks.items()
            if says}  # fmt: skip
    return ModelFacts(
        heads=heads | none,
        classifier_of=found.classifier_of,
        left_over=tuple(sorted(set.intersection(*unused))),
        framing=framing,
        lacking=tuple(token for token in needed if token not in tokenizer.vocab),
        entries=len(tokenizer.vocab),
        rows=found.config.vocab_size,
        segments=config.type_vocab_size,
        pair_segments=2 if config.family.sentence_head else 1,
        positions=config.max_length,
        memory_bytes=_NUMBER_BYTES * (base + own),
        file_bytes=found.file_bytes,
        began=told.get(BertModel.__name__, ""),
        errors={name: _of_task(figures, _ERROR + task) for name, task in _MEASURED.items()},
    )


def _of_task(figures: Sequence[Figure], task: str) -> tuple[Figure, ...]:
    """Return the figures of a task and of its parts, which are named after a comma."""
    return tuple(each for each in figures if each.task == task or each.task.startswith(f"{task},"))


def _head(name: str, found: Plan[Any], trained_on: str, figures: tuple[Figure, ...]) -> HeadFacts:
    labelled = KINDS[name].has_axis("C")
    labels = tuple(found.model.config.id2label.values()) if labelled else ()
    return HeadFacts(
        missing=found.report.missing,
        mismatched=found.report.mismatched,
        labels=() if all(map(_NAMELESS.fullmatch, labels)) else labels,
        outputs=found.model.config.num_labels if labelled else 0,
        own_encoder=found.own_encoder,
        trained_on=trained_on,
        figures=figures,
        problem=found.model.config.problem_type if name == _OF_TEXTS else "",
        lacks=found.refusal,
    )
