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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.plan import Plan, head_folder, survey
from bert_core.errors import BertError, CheckpointError, MissingFileError
from bert_core.model.kinds import ALL_KINDS
from bert_core.small_files import file_digest
from bert_core.text.batches import TextTokenizer
from bert_core.text.family import load_tokenizer
from bert_core.verification.computing import Loaded, compute, loader
from bert_core.verification.report import FileCheck, OutputCheck, TextCheck, VerificationReport
from bert_core.verification.stored import (
    JSON_NAME,
    Stored,
    deciding_files,
    read_stored,
    write_stored,
)
from bert_core.verification.texts import BATCHES, TEXTS, Item, Row

TOLERANCE = 3e-5
"""Largest difference that counts as equal, as a share of the output's largest stored absolute value
(or of 1, if that value is smaller). The last digits of float32 differ between kinds of CPU. Against
double precision, a model of six layers differed by less than 3e-6 of that value on an AMD EPYC,
with 1, 2 and 4 threads, oneDNN with SSE4.1, AVX2 and AVX-512, MKL instead of oneDNN, and PyTorch's
own kernels with AVX-512, AVX2 and neither. The tolerance is ten times that.
"""


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
    folder = _folder(name_or_folder)
    stored = read_stored(folder)
    failures: list[str] = []
    files = _compare_files(folder, stored.files)
    texts = _compare_texts(folder, stored, failures)
    outputs = _compare_outputs(loaded or loader(folder, torch.float32), stored, failures)
    return VerificationReport(
        os.fspath(name_or_folder), files, texts, outputs, " ".join(dict.fromkeys(failures))
    )


def _folder(name_or_folder: str | os.PathLike[str]) -> Path:
    text = os.fspath(name_or_folder)
    if os.path.isdir(os.path.expanduser(text)):
        return Path(os.path.expanduser(text))
    if text in bundled_names():
        return bundled_folder(text)
    names = ", ".join(bundled_names()) or "none in this installation"
    raise MissingFileError(
        f"There is no folder or bundled model {text[:200]!r}. Give a model's folder or the name of "
        f"a bundled model ({names})."
    )


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
    rows: tuple[Row, ...] = ()
    try:
        longest = max(len(row.ids) for row in stored.rows)
        rows = _read_texts(load_tokenizer(folder), stored.texts, longest, 2)
    except BertError as error:
        failures.append(f"The tokenizer cannot be used: {error}")
    return tuple(
        TextCheck(text, pair, row.ids, rows[number].ids if rows else ())
        for number, ((text, pair), row) in enumerate(zip(stored.texts, stored.rows, strict=True))
    )


def _compare_outputs(
    loaded: Loaded, stored: Stored, failures: list[str]
) -> tuple[OutputCheck, ...]:
    checks = []
    for item in stored.items:
        expected = stored.outputs[item.tensor]
        largest = float(expected.abs().max())
        difference: float | None = None
        try:
            found = compute(loaded(ALL_KINDS[item.class_name].cls), item, stored.rows)
            difference = _difference(found, expected)
        except BertError as error:
            failures.append(f"{item.class_name} cannot be computed: {error}")
        checks.append(
            OutputCheck(
                item.class_name,
                item.output,
                item.texts,
                expected.numel(),
                largest,
                TOLERANCE * max(largest, 1.0),
                difference,
            )
        )
    return tuple(checks)


def _difference(found: Tensor, expected: Tensor) -> float:
    """Return the largest absolute difference; infinite if shapes differ or it is not finite."""
    if found.shape != expected.shape:
        return math.inf
    difference = float((found.double() - expected.double()).abs().max())
    return difference if math.isfinite(difference) else math.inf


# -- writing ------------------------------------------------------------------------------------


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
    config = found.config
    tokenizer = load_tokenizer(place)
    rows = _read_texts(tokenizer, TEXTS, config.max_length, config.type_vocab_size)
    mask = tokenizer.vocab.get(tokenizer.mask_token)
    names = [name for name, plan in found.classes.items() if _is_stored(name, plan, place)]
    items = [item for name in names for item in _items(name, found.classes[name], rows, mask)]
    load = loader(place, torch.float64)
    outputs = {
        item.tensor: compute(load(ALL_KINDS[item.class_name].cls), item, rows).float()
        for item in items
    }
    files = {name: file_digest(path) for name, path in deciding_files(place).items()}
    write_stored(place, Stored(files, TEXTS, rows, tuple(items), outputs))
    return place / JSON_NAME


def _read_texts(
    tokenizer: TextTokenizer,
    texts: tuple[tuple[str, str | None], ...],
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


def _is_stored(name: str, found: Plan[Any], folder: Path) -> bool:
    if name == "BertForPreTraining" and head_folder(folder, ALL_KINDS[name].cls) is None:
        return False
    missing = [each for each in found.report.missing if not _is_pooler(name, each)]
    return not missing and not found.report.mismatched


def _is_pooler(name: str, parameter: str) -> bool:
    """Return whether a parameter is an encoder's pooler, which many checkpoints do not have."""
    return name == "BertModel" and parameter.startswith("pooler.")


def _items(name: str, found: Plan[Any], rows: tuple[Row, ...], mask: int | None) -> list[Item]:
    items = []
    for number, stored in enumerate(ALL_KINDS[name].stored):
        has_pooler = found.model.encoder_model.pooler is not None and not found.report.missing
        if stored.output == "pooler_output" and not has_pooler:
            continue
        texts = BATCHES[stored.texts]
        places: tuple[tuple[int, ...], ...] | None = None
        if stored.at == "last":
            places = tuple((len(rows[text].ids) - 1,) for text in texts)
        elif stored.at == "masks":
            places = tuple(_places(rows[text].ids, mask) for text in texts)
        tensor = f"{name}.{stored.output}.{number}"
        items.append(Item(name, stored.output, texts, places, tensor))
    return items


def _places(ids: tuple[int, ...], mask: int | None) -> tuple[int, ...]:
    """Return the positions of [MASK]; if there is none, the position of the first text token."""
    return tuple(place for place, number in enumerate(ids) if number == mask) or (1,)
