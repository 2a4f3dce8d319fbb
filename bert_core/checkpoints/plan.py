"""Plan which tensor of a checkpoint fills which parameter of a class, before any model is filled.

    names in the files -> `keys.by_bare_name` -> `match` with a class -> `Plan` -> `filling.fill`

What would give wrong answers is refused. `survey` makes a plan for every class, from headers alone.
"""

import copy
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic

from bert_core.checkpoints.fillable import Fillable, LoadReport, M, without_memory
from bert_core.checkpoints.formats.pickle_file import checked_table
from bert_core.checkpoints.formats.weights import open_weights, weight_files
from bert_core.checkpoints.keys import (
    INSIDE,
    Found,
    Repeat,
    bare_name,
    before_core,
    by_bare_name,
    encoders_in,
    is_core,
    layers_held,
    name_in_file,
)
from bert_core.checkpoints.ownership import PARTS, classifier_class, without_foreign_head
from bert_core.checkpoints.settings import LoadOptions, read_config
from bert_core.checkpoints.unused import check_inside, head_refusal, some
from bert_core.config import BertConfig
from bert_core.errors import CheckpointError, ConfigError
from bert_core.families import FAMILIES

# A head needs a few MB of fresh values. A config that needs more fresh values than this, and more
# than the file fills, states wrong sizes.
_MAX_FRESH = 64 * 1024 * 1024
_ENCODER = (*INSIDE, "pooler.")
_HEADS = (*PARTS, "cls.", "qa_outputs.", "discriminator_predictions.")


@dataclass(frozen=True, slots=True)
class Plan(Generic[M]):
    """The weights that the files provide for one class."""

    model: Annotated[M, "an instance without memory, with its final `config`"]
    stored: Annotated[Mapping[str, Found], "parameter -> its tensor, tied ones once"]
    report: Annotated[LoadReport, "parameters missing from the files, and tensors left over"]
    refusal: Annotated[str, 'why the class cannot be filled, "" if it can; loading raises it'] = ""
    repeats: Annotated[tuple[Repeat, ...], "tied copies in the files"] = ()
    own: Annotated[frozenset[str], "bare names of tensors only for this class"] = frozenset()

    @property
    def parameters(self) -> int:
        """Number of values in the whole model, tied ones counted once."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def own_encoder(self) -> bool:
        """Whether part of the encoder is only for this class."""
        return any(name.startswith(_ENCODER) for name in self.own)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The opened weights of a folder."""

    folder: Annotated[Path, "the root; its `heads/<ClassName>` contains what a class changes"]
    source: Annotated[str, "its name in reports and errors"]
    config: Annotated[BertConfig, "the root's configuration"]
    root: Annotated[Mapping[str, Found], "the root's tensors by bare name"]
    repeats: Annotated[tuple[Repeat, ...], "the root's tied copies"]
    is_given: Annotated[bool, "the caller passed the weights; the folder has the configuration"]

    def plan(
        self, cls: type[M], options: LoadOptions | None = None, *, values: bool = True
    ) -> Plan[M]:
        """Match the files with what a class needs; `values` is as for `open_folder`, of its head.

        Raises:
            ConfigError: no model can be built from the configuration.
            CheckpointError: files are damaged, belong to another configuration, or lack part of
                the embeddings or layers.
        """
        options = options or LoadOptions()
        head = head_folder(self.folder, cls)
        config = options.config or read_config(head or self.folder, options.overrides)
        found, own, repeats = dict(self.root), dict[str, Found](), self.repeats
        others: list[str] = []  # what the folder has for other classes
        if not self.is_given:
            found = without_foreign_head(cls, self.config, found, keep_untold=options.is_chosen)
            others = [each.file_name for bare, each in self.root.items() if bare not in found]
            if head is not None and weight_files(head):
                own, more = by_bare_name(open_weights(head, values=values), self.config)
                repeats = (*(each for each in repeats if each.original not in own), *more)
                found |= own
            check_layers(config, found, self.source)
        if not options.is_chosen:
            config = _with_counted_labels(config, found)
        with without_memory():
            model = cls(config, *options.inputs, **options.arguments)
        plan = match(model, found, self.source, options, others)
        if not self.is_given:
            _check_sizes(plan, {each.name for each in repeats})
        return replace(plan, repeats=repeats, own=frozenset(own))


def open_folder(
    folder: Path,
    source: str = "",
    *,
    config: BertConfig | None = None,
    from_tf: bool = False,
    state_dict: Mapping[str, Any] | None = None,
    values: bool = True,
) -> Checkpoint:
    """Open the weights of a folder.

    `config` and `state_dict` replace those of the folder; the weights in `state_dict` are taken as
    those of the class that is planned. `source` is the folder's name in reports and errors. Plans
    without `values` cannot be filled; of safetensors files only the headers are read for them.

    Raises:
        ConfigError: the configuration is invalid, or of another architecture.
        CheckpointError: the weights are damaged or malicious. MissingFileError if the weights or
            the configuration are missing.
    """
    config, is_given = config or read_config(folder, {}), state_dict is not None
    if state_dict is None:
        tensors = open_weights(folder, from_tf=from_tf, values=values)
    else:
        tensors = checked_table(dict(state_dict), "state_dict")
    root, repeats = by_bare_name(tensors, config, given=is_given)
    return Checkpoint(folder, source or folder.name, config, root, repeats, is_given)


def head_folder(folder: Path, cls: type[Any]) -> Path | None:
    """Return `heads/<ClassName>`, which contains this class's changes to the root."""
    head = folder / "heads" / cls.__name__
    return head if os.path.isfile(head / "config.json") else None


@dataclass(frozen=True, slots=True)
class Survey:
    """The contents of a folder."""

    config: Annotated[BertConfig, "the root's configuration"]
    classes: Annotated[Mapping[str, Plan[Any]], "class name -> its plan, of heads the family has"]
    classifier_of: Annotated[
        str | None, 'class of the root\'s `classifier`; "": unknown; None: none'
    ]
    file_bytes: Annotated[int, "size of all weight files, including those of heads"]


def survey(folder: Path, classes: Iterable[type[Fillable]]) -> Survey:
    """Compare the names and shapes in a folder with what each class needs; nothing is loaded.

    Raises:
        BertError: the folder is not a model, or its files are damaged.
    """
    files = open_folder(folder, values=False)
    has, options = files.config.family.has, LoadOptions(ignore_mismatched_sizes=True)
    plans = {
        cls.__name__: files.plan(cls, options, values=False) for cls in classes if has(cls.__name__)
    }
    folders = [folder, *(each for each in folder.glob("heads/*") if each.is_dir())]
    size = sum(path.stat().st_size for each in folders for path in weight_files(each))
    return Survey(files.config, plans, classifier_class(files.config, files.root), size)


# -- matching -------------------------------------------------------------------------------------


def match(
    model: M,
    found: Mapping[str, Found],
    source: str,
    options: LoadOptions,
    others: Iterable[str] = (),
) -> Plan[M]:
    """Match the parameters of a model with the tensors of a checkpoint by bare name.

    Where the caller chose the class, `ignore_mismatched_sizes` holds for heads alone. `others` are
    names of what the class does not use, besides tensors that are left over.

    Raises:
        CheckpointError: a tensor has another shape (unless ignored) or an integer type, is part of
            the layers and not used, or part of the embeddings or layers is missing.
    """
    tied = set(model.tied_keys())
    stored: dict[str, Found] = {}
    missing, complaints = [], dict[str, str]()
    left = dict(found)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if name in tied:
            continue
        entry = left.pop(bare_name(name), None)
        if entry is None:
            missing.append(name)
        elif not entry.tensor.dtype.is_floating_point:
            raise CheckpointError(
                f"{entry.file_name} is {entry.tensor.dtype}; expected floating-point weights. "
                "Quantised checkpoints cannot be loaded."
            )
        elif entry.tensor.shape != parameter.shape:
            missing.append(name)
            complaints[name] = (
                f"{name} has the shape {tuple(entry.tensor.shape)} in the checkpoint and "
                f"{tuple(parameter.shape)} in {type(model).__name__}"
            )
        else:
            stored[name] = entry
    refused = options.is_chosen and any(map(is_core, complaints))
    if complaints and (refused or not options.ignore_mismatched_sizes):
        advice = "The config and the weights do not belong together."
        if all(name.startswith(_HEADS) for name in complaints):
            advice = (
                "Give the number of labels that the checkpoint was trained with, or "
                "ignore_mismatched_sizes=True to start with a new head."
            )
        raise CheckpointError(f"{some(complaints.values(), '; ')}. {advice}")
    unused = (*(entry.file_name for entry in left.values()), *others)
    report = LoadReport(tuple(missing), unused, tuple(complaints), source)
    _check_encoders(model, found, report)
    check_inside(model, left, source, layers_chosen=options.chooses_layers)
    if lacking := [name for name in missing if is_core(name) and name not in complaints]:
        raise CheckpointError(
            f"The weights of {source} lack {some(lacking)}. Expected all tensors of BERT's "
            "embeddings and layers; only a pooler or head may be missing. Get a complete copy."
        )
    anew = options.is_chosen and options.ignore_mismatched_sizes  # the caller wants a new head
    return Plan(model, stored, report, "" if anew else head_refusal(model, left, stored))


def check_layers(config: BertConfig, found: Mapping[str, Found], source: str) -> None:
    """Reject a file without an encoder, or with fewer layers than the config states."""
    family, needed = config.family, set(config.weights_of)
    names = [entry.file_name for entry in found.values()]
    under = {*encoders_in(names)} - {"", *(each.prefix for each in FAMILIES.values())}
    held = len(layers_held(found) & needed)
    if not any(name.startswith(_ENCODER) for name in found) or (under and not held):
        tops = {name.partition(".")[0] + "." for name in names}
        other = next((each for each in FAMILIES.values() if each.prefix in tops), family)
        whose = f", names of {other.title}" if other is not family else ""
        example = name_in_file("bert.encoder.layer.0.output.dense.weight", config, ())
        there = " or ".join(map(repr, sorted(under)))
        advice = f" An encoder's names begin with {there}: save that module alone." if under else ""
        raise CheckpointError(
            f"The weights of {source} contain no part of {family.title}'s encoder under its own "
            f"name. Found: {some(names) or 'nothing'}{whose}. Expected names such as "
            f"{example}.{advice}"
        )
    if held < len(needed):
        layers = config.num_hidden_layers
        shared = "" if len(needed) == layers else f" with {len(needed)} sets of weights"
        raise CheckpointError(
            f"The config of {source} states {layers} layers{shared}; the weights contain {held} "
            "of them. They do not belong together."
        )


def _check_encoders(model: Fillable, found: Mapping[str, Found], report: LoadReport) -> None:
    """Reject a class with an encoder under another name than `bert`: nothing fills it."""
    if looked_for := {before_core(bare_name(name)) for name in report.missing} - {""}:
        there = {before_core(each.file_name) for each in found.values() if is_core(each.file_name)}
        raise CheckpointError(
            f"{type(model).__name__} looks for an encoder whose names begin with "
            f"{' and '.join(map(repr, sorted(looked_for)))}. Found in the weights of "
            f"{report.source}: {' and '.join(map(repr, sorted(there)))}. Expected 'bert.' or "
            "nothing: call the attribute that holds the BertModel self.bert."
        )


def _check_sizes(plan: Plan[Any], repeats: set[str]) -> None:
    untied = plan.model.config.extra.get("tie_word_embeddings", True) is False
    words = "cls.predictions.transform.dense.weight" in plan.stored
    if untied and words and "cls.predictions.decoder.weight" not in repeats:
        raise CheckpointError(
            "tie_word_embeddings is false in the config, and the weights have no decoder; expected "
            "one that is tied to the word embeddings. Get a complete copy."
        )
    filled = sum(found.tensor.numel() for found in plan.stored.values())
    fresh = plan.parameters - filled
    if fresh > max(filled, _MAX_FRESH):
        raise ConfigError(
            f"The config describes {fresh:,} numbers that the weights do not contain, besides "
            f"{filled:,} that they do. Its sizes cannot be right."
        )


def _with_counted_labels(config: BertConfig, found: Mapping[str, Found]) -> BertConfig:
    """Take the number of labels from the classifier's shape if the config has none."""
    head = found.get("classifier.weight")
    if head is None or config.has_declared_labels or head.tensor.dim() != 2:
        return config
    config = copy.deepcopy(config)
    config.num_labels = head.tensor.shape[0]
    return config
