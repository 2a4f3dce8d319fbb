"""`verify` and `write_verification`: comparing a model with reference values, and storing them.

Success shows that no file that affects the computations has changed, that the tokenizer gives the
same ids, and that this computer computes what double precision gave. It does not show where the
model comes from: anyone who can change weights can also write new values.
"""

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.loading import load_sharing
from bert_core.checkpoints.plan import Plan, head_folder, survey
from bert_core.errors import BertError, InputError, MissingFileError
from bert_core.model.heads import BertForPreTraining
from bert_core.model.kinds import ALL_KINDS
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.batches import TextTokenizer, padded
from bert_core.text.encoding import Encoding
from bert_core.text.family import load_tokenizer
from bert_core.verification.report import FileCheck, OutputCheck, TextCheck, VerificationReport
from bert_core.verification.stored import (
    JSON_NAME,
    Item,
    Row,
    Stored,
    digests_of_files,
    read_stored,
    write_stored,
)
from bert_core.verification.texts import BATCHES, TEXTS

TOLERANCE = 3e-5
"""Largest difference that counts as equal, as a share of the output's largest stored absolute value
(or of 1, if that value is smaller). The last digits of float32 differ between kinds of CPU: a model
of six layers differed from double precision by less than a tenth of this, with MKL, oneDNN and
PyTorch's own kernels, from SSE4.1 to AVX-512.
"""


def verify(name_or_folder: str | os.PathLike[str]) -> VerificationReport:
    """Compare a model with its stored reference values, in float32 on the CPU.

    Returns:
        The report. A damaged model gives a report that is not `ok` instead of an exception.

    Raises:
        MissingFileError: there is no such folder or name, or it has no reference values.
        CheckpointError: the reference values are damaged, or a file cannot be read.
    """
    name = os.fspath(name_or_folder)
    folder = Path(name).expanduser() if name else Path(os.devnull)
    if not folder.is_dir():
        if name not in bundled_names():
            names = ", ".join(bundled_names()) or "none in this installation"
            raise MissingFileError(
                f"There is no folder or bundled model {name[:200]!r}; bundled are {names}."
            )
        folder = bundled_folder(name)
    stored = read_stored(folder)
    digests = digests_of_files(folder)
    places = sorted({*stored.files, *digests}, key=lambda place: (place.count("/"), place))
    files = (FileCheck(at, stored.files.get(at, ""), digests.get(at, "")) for at in places)
    failures: dict[str, None] = {}  # each once, in order
    ids: list[Sequence[int]] = [()] * len(stored.rows)
    try:
        longest = max(len(row.ids) for row in stored.rows)
        ids = [each.input_ids for each in _encoded(load_tokenizer(folder), stored.texts, longest)]
    except BertError as error:
        failures[f"The tokenizer cannot be used: {error}"] = None
    texts = (
        TextCheck(*text, row.ids, tuple(own))
        for text, row, own in zip(stored.texts, stored.rows, ids, strict=True)
    )
    load = _loader(folder, torch.float32)
    outputs = []
    for item in stored.items:
        expected, difference = stored.outputs[item.tensor], None
        try:
            values = _compute(load(item.class_name), item, stored.rows)
            fits = values.shape == expected.shape and bool(values.isfinite().all())
            difference = float((values - expected).abs().max()) if fits else math.inf
        except BertError as error:
            failures[f"{item.class_name} cannot be computed: {error}"] = None
        largest = float(expected.abs().max())
        sizes = expected.numel(), largest, TOLERANCE * max(largest, 1.0)
        outputs.append(OutputCheck(item.class_name, item.output, item.texts, *sizes, difference))
    return VerificationReport(name, tuple(files), tuple(texts), tuple(outputs), " ".join(failures))


def write_verification(folder: str | os.PathLike[str]) -> Path:
    """Write reference values to a model's folder, and return the path of `verification.json`.

    They are computed in double precision, so they do not depend on the CPU. All complete classes
    are stored; BertForPreTraining only if it has a folder of its own.

    Raises:
        BertError: the folder contains no model, or it cannot be read.
    """
    place = Path(folder)
    found = survey(place, [kind.cls for kind in ALL_KINDS.values()])
    plans, last_type = dict(found.classes), found.config.type_vocab_size - 1
    if head_folder(place, BertForPreTraining) is None:
        plans.pop(BertForPreTraining.__name__, None)
    tokenizer = load_tokenizer(place)
    rows = tuple(
        Row(tuple(each.input_ids), tuple(min(kind, last_type) for kind in each.token_type_ids))
        for each in _encoded(tokenizer, TEXTS, found.config.max_length)
    )
    mask = tokenizer.vocab.get(tokenizer.mask_token)
    items = tuple(item for name, plan in plans.items() for item in _items(name, plan, rows, mask))
    load = _loader(place, torch.float64)
    outputs = {item.tensor: _compute(load(item.class_name), item, rows).float() for item in items}
    write_stored(place, Stored(digests_of_files(place), TEXTS, rows, items, outputs))
    return place / JSON_NAME


def _encoded(
    tokenizer: TextTokenizer, texts: Sequence[tuple[str, str | None]], longest: int
) -> list[Encoding]:
    return [
        tokenizer.encode(text.replace("[MASK]", tokenizer.mask_token), pair, max_length=longest)
        for text, pair in texts
    ]


def _items(name: str, found: Plan[Any], rows: Sequence[Row], mask: int | None) -> list[Item]:
    """Describe what is stored of a class: nothing if it lacks weights other than the pooler's."""
    missing = found.report.missing
    if found.report.mismatched or any(
        name != "BertModel" or not each.startswith("pooler.") for each in missing
    ):
        return []
    has_pooler = found.model.encoder_model.pooler is not None and not missing
    items = []
    for number, stored in enumerate(ALL_KINDS[name].stored):
        texts = BATCHES[stored.texts]
        ids = [rows[text].ids for text in texts]
        places: tuple[tuple[int, ...], ...] | None = None
        if stored.at == "last":
            places = tuple((len(row) - 1,) for row in ids)
        elif stored.at == "masks":  # without any, the first token of the text
            places = tuple(
                tuple(at for at, id_ in enumerate(row) if id_ == mask) or (1,) for row in ids
            )
        if stored.output != "pooler_output" or has_pooler:
            tensor = f"{name}.{stored.output}.{number}"
            items.append(Item(name, stored.output, texts, places, tensor))
    return items


def _loader(folder: Path, dtype: torch.dtype) -> Callable[[str], BertPreTrainedModel]:
    base = BertForPreTraining.__name__

    @cache
    def load(name: str) -> BertPreTrainedModel:
        if name == base:
            return BertForPreTraining.from_pretrained(folder, dtype=dtype)
        return load_sharing(ALL_KINDS[name].cls, load(base), folder)

    return load


@torch.inference_mode()
def _compute(model: BertPreTrainedModel, item: Item, texts: Sequence[Row]) -> Tensor:
    """Compute one output, (N,): text after text without padding, by token or by layer."""
    rows = [texts[number] for number in item.texts]
    lengths = [len(row.ids) for row in rows]
    tables = (
        padded([row.ids for row in rows], model.config.pad_token_id or 0),
        padded([row.types for row in rows], 0),
        padded([(1,) * length for length in lengths], 0),
    )
    axes = ALL_KINDS[item.class_name].outputs[item.output]
    given = [table[None] if "N" in axes else table for table in tables]
    asked = item.output == "attentions"
    found = getattr(model.run(*given, attentions=asked, hidden_states=False), item.output)
    if found is None:
        raise InputError(f"{item.class_name} of this family gives no {item.output}.")
    parts = [found]
    if asked:
        parts = [layer[row, :, :n, :n] for row, n in enumerate(lengths) for layer in found]
    elif "T" in axes:
        places = item.places or [range(n) for n in lengths]
        parts = [found[row, list(at)] for row, at in enumerate(places)]
    return torch.cat([part.flatten() for part in parts])
