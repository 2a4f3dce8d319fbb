"""`verify` and `write_verification`: comparing a model with reference values, and storing them.

A successful verification shows that every file that affects the model's computations is unchanged
since the reference values were written; that the tokenizer still gives the same ids for the stored
texts; and that this computer, with its CPU, its PyTorch and this package, computes the outputs that
double precision gave then.

It does not show where the model comes from: anyone who can change the weights can also write new
reference values. To rule this out, compare the SHA-256 with one published elsewhere. It also does
not show that the model is good (see its card) or that the forward pass agrees with the reference
implementation of BERT (see the tests).
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.loading import load_sharing
from bert_core.checkpoints.plan import Plan, head_folder, survey
from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.model.kinds import ALL_KINDS
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.small_files import file_digest
from bert_core.text.batches import TextTokenizer, padded
from bert_core.text.family import load_tokenizer
from bert_core.verification.report import FileCheck, OutputCheck, TextCheck, VerificationReport
from bert_core.verification.stored import (
    JSON_NAME,
    Item,
    Row,
    Stored,
    deciding_files,
    read_stored,
    write_stored,
)
from bert_core.verification.texts import BATCHES, TEXTS

TOLERANCE = 3e-5
"""Largest difference that counts as equal, as a share of the output's largest stored absolute value
(or of 1, if that value is smaller). The last digits of float32 differ between kinds of CPU. Against
double precision, a model of six layers differed by less than 3e-6 of that value on an AMD EPYC,
with 1, 2 and 4 threads, oneDNN with SSE4.1, AVX2 and AVX-512, MKL instead of oneDNN, and PyTorch's
own kernels with AVX-512, AVX2 and neither. The tolerance is ten times that.
"""

Loaded = Callable[[type[BertPreTrainedModel]], BertPreTrainedModel]


def verify(
    name_or_folder: str | os.PathLike[str], *, loaded: Loaded | None = None
) -> VerificationReport:
    """Compare a model with its stored reference values.

    Args:
        name_or_folder: a bundled name, or a model's folder. Nothing is downloaded.
        loaded: a function from class to an already loaded model, on any device; these models are
            then verified. None loads the files in float32 on the CPU.

    Returns:
        The report. A damaged model gives a report that is not `ok` instead of an exception.

    Raises:
        MissingFileError: there is no such folder or name, or it has no reference values.
        CheckpointError: the reference values are damaged.
    """
    name = os.fspath(name_or_folder)
    folder = Path(name).expanduser() if name else Path(os.devnull)
    if not folder.is_dir():
        if name not in bundled_names():
            names = ", ".join(bundled_names()) or "none in this installation"
            raise MissingFileError(
                f"There is no folder or bundled model {name[:200]!r}. Give a model's folder or the "
                f"name of a bundled model ({names})."
            )
        folder = bundled_folder(name)
    stored = read_stored(folder)
    failures: list[str] = []
    files = _compare_files(folder, stored.files)
    texts = _compare_texts(folder, stored, failures)
    outputs = _compare_outputs(loaded or _loader(folder, torch.float32), stored, failures)
    return VerificationReport(name, files, texts, outputs, " ".join(dict.fromkeys(failures)))


def _compare_files(folder: Path, expected: Mapping[str, str]) -> tuple[FileCheck, ...]:
    """Compare digests; only files found in the folder are opened, never paths from the record."""
    found = {}
    for place, path in deciding_files(folder).items():
        try:
            found[place] = file_digest(path)
        except CheckpointError:  # no longer a regular file, or unreadable
            found[place] = ""
    return tuple(
        FileCheck(place, expected.get(place, ""), found.get(place, ""))
        for place in sorted({*expected, *found}, key=lambda place: (place.count("/"), place))
        if place in expected or found[place]
    )


def _compare_texts(folder: Path, stored: Stored, failures: list[str]) -> tuple[TextCheck, ...]:
    rows: Sequence[Row] = [Row((), ())] * len(stored.rows)
    try:
        longest = max(len(row.ids) for row in stored.rows)
        rows = _read_texts(load_tokenizer(folder), stored.texts, longest, 2)
    except BertError as error:
        failures.append(f"The tokenizer cannot be used: {error}")
    return tuple(
        TextCheck(text, pair, expected.ids, found.ids)
        for (text, pair), expected, found in zip(stored.texts, stored.rows, rows, strict=True)
    )


def _compare_outputs(
    loaded: Loaded, stored: Stored, failures: list[str]
) -> tuple[OutputCheck, ...]:
    checks = []
    for item in stored.items:
        expected = stored.outputs[item.tensor]
        largest, difference = float(expected.abs().max()), None
        try:
            found = _compute(loaded(ALL_KINDS[item.class_name].cls), item, stored.rows)
            difference = math.inf
            if found.shape == expected.shape and found.isfinite().all():
                difference = float((found.double() - expected.double()).abs().max())
        except BertError as error:
            failures.append(f"{item.class_name} cannot be computed: {error}")
        sizes = expected.numel(), largest, TOLERANCE * max(largest, 1.0)
        checks.append(OutputCheck(item.class_name, item.output, item.texts, *sizes, difference))
    return tuple(checks)


# -- computing ------------------------------------------------------------------------------------


def _loader(folder: Path, dtype: torch.dtype) -> Loaded:
    """Return a function that loads each class from a folder, sharing one encoder on the CPU."""
    models: dict[type[BertPreTrainedModel], BertPreTrainedModel] = {}

    def load(cls: type[BertPreTrainedModel]) -> BertPreTrainedModel:
        if not models:
            base = BertForPreTraining.from_pretrained(folder, dtype=dtype)
            models[BertForPreTraining] = base
        if cls not in models:
            models[cls] = load_sharing(cls, models[BertForPreTraining], folder)
        return models[cls]

    return load


@torch.inference_mode()
def _compute(model: BertPreTrainedModel, item: Item, texts: Sequence[Row]) -> Tensor:
    """Compute one output: (N,) on the CPU, in the model's dtype.

    The values of each text follow each other, without padding; within a text, they are ordered by
    token, or by layer for attentions.
    """
    rows = [texts[number] for number in item.texts]
    lengths = [len(row.ids) for row in rows]
    tables = [
        padded([row.ids for row in rows], model.config.pad_token_id or 0),
        padded([row.types for row in rows], 0),
        padded([(1,) * length for length in lengths], 0),
    ]
    ids, types, mask = (table.to(model.device) for table in tables)  # (B, T)
    places = [list(each) for each in item.places or map(range, lengths)]
    axes = ALL_KINDS[item.class_name].outputs[item.output]
    if "V" in axes:  # at these positions only
        assert isinstance(model, BertForMaskedLM | BertForPreTraining)
        parts = []
        for n, at in enumerate(places):
            positions = torch.tensor([at], device=ids.device)
            one = ids[n : n + 1], positions, types[n : n + 1], mask[n : n + 1]
            parts.append(model.scores_at(*one))
    else:
        given = [table[None] if "N" in axes else table for table in (ids, types, mask)]
        asked = item.output == "attentions"
        found = getattr(model.run(*given, attentions=asked, hidden_states=False), item.output)
        if found is None:
            raise InputError(f"{item.class_name} of this family gives no {item.output}.")
        parts = [found]
        if asked:
            parts = [layer[row, :, :n, :n] for row, n in enumerate(lengths) for layer in found]
        elif "T" in axes:
            parts = [found[row, at] for row, at in enumerate(places)]
    return torch.cat([part.flatten() for part in parts]).cpu()


# -- writing --------------------------------------------------------------------------------------


def write_verification(folder: str | os.PathLike[str]) -> Path:
    """Write reference values to a model's folder, replacing existing ones.

    They are computed in double precision, so they are exact to the last digit of float32 and do
    not depend on the CPU. All complete classes are stored; BertForPreTraining only if it has a
    folder of its own, because its two heads are those of two other classes.

    Returns:
        The path of `verification.json`.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    found = survey(place, [kind.cls for kind in ALL_KINDS.values()])
    tokenizer = load_tokenizer(place)
    rows = _read_texts(tokenizer, TEXTS, found.config.max_length, found.config.type_vocab_size)
    mask = tokenizer.vocab.get(tokenizer.mask_token)
    items = [
        item for name, plan in found.classes.items() for item in _items(name, plan, rows, mask)
    ]
    if head_folder(place, BertForPreTraining) is None:
        items = [item for item in items if item.class_name != BertForPreTraining.__name__]
    load = _loader(place, torch.float64)
    outputs = {
        item.tensor: _compute(load(ALL_KINDS[item.class_name].cls), item, rows).float()
        for item in items
    }
    files = {name: file_digest(path) for name, path in deciding_files(place).items()}
    write_stored(place, Stored(files, TEXTS, rows, tuple(items), outputs))
    return place / JSON_NAME


def _read_texts(
    tokenizer: TextTokenizer,
    texts: Sequence[tuple[str, str | None]],
    longest: int,
    segments: int,
) -> tuple[Row, ...]:
    encodings = [
        tokenizer.encode(text.replace("[MASK]", tokenizer.mask_token), pair, max_length=longest)
        for text, pair in texts
    ]
    return tuple(
        Row(tuple(each.input_ids), tuple(min(kind, segments - 1) for kind in each.token_type_ids))
        for each in encodings
    )


def _items(name: str, found: Plan[Any], rows: Sequence[Row], mask: int | None) -> list[Item]:
    """Describe what is stored of a class: nothing if it lacks weights other than the pooler's."""
    missing = found.report.missing
    if found.report.mismatched or any(
        name != "BertModel" or not each.startswith("pooler.") for each in missing
    ):
        return []
    items = []
    for number, stored in enumerate(ALL_KINDS[name].stored):
        has_pooler = found.model.encoder_model.pooler is not None and not missing
        if stored.output == "pooler_output" and not has_pooler:
            continue
        texts = BATCHES[stored.texts]
        places: tuple[tuple[int, ...], ...] | None = None
        if stored.at == "last":
            places = tuple((len(rows[text].ids) - 1,) for text in texts)
        elif stored.at == "masks":  # without any, the first token of the text
            ids = [rows[text].ids for text in texts]
            places = tuple(
                tuple(at for at, id_ in enumerate(row) if id_ == mask) or (1,) for row in ids
            )
        items.append(Item(name, stored.output, texts, places, f"{name}.{stored.output}.{number}"))
    return items
