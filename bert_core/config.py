"""`BertConfig`: sizes, dropout rates and label names of a model, and reading and writing them.

Fields have BERT's names for every family (`bert_core.families`); files have the family's own.
The fields and their defaults come from Devlin et al. 2019, "BERT: Pre-training of Deep
Bidirectional Transformers", and the `bert_config.json` files published with it.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

from torch import Tensor

from bert_core.errors import ConfigError
from bert_core.families import BERT, Family, Step, family_called
from bert_core.labels import read_labels
from bert_core.small_files import parse_json, read_small, shown

Activation = str | Callable[[Tensor], Tensor]
ProblemType = Literal["regression", "single_label_classification", "multi_label_classification"]

HAS_ANSWER = "BertForQuestionAnswering.has_answer"
"""Key of the temperature that calibrates "the passage has an answer" against "no answer"."""

TEMPERATURES_FITTED_ON = "temperatures_fitted_on"
"""Config key next to `temperatures`: class name -> short description of the data used to fit it."""

_MAX_JSON_BYTES = 2 * 1024 * 1024  # a real config has a few kB, a long label list a few hundred
_LABELS = ("id2label", "label2id", "num_labels", "_num_labels")
# Larger sizes are a mistake or an attack: the largest published vocabulary has 250,000 pieces.
_MAX_SIZE = 10_000_000
_MAX_LAYERS = 1_000
# Trained classifiers need about 1 to 3 (Guo et al. 2017, table 1). Far outside that range a softmax
# is one-hot or uniform, and dividing logits by almost 0 overflows.
_COLDEST, _HOTTEST = 0.01, 100


class BertConfig:
    """Sizes and settings of one BERT model.

    Args:
        vocab_size_or_config_json_file: V, the vocabulary size; or the path of a config JSON.
        hidden_size: D; the other arguments are the fields below.
        **extra: any other key of a config file. `layer_norm_eps`, `pad_token_id`, `id2label`,
            `label2id`, `num_labels`, `temperatures`, `model_type` (the family; "bert" if absent)
            and what only that family has take effect; all others are only kept and written back.
            Left out, they have the family's defaults; the arguments above keep BERT's, while
            `from_dict` and files get the family's for all of them.

    Raises:
        ConfigError: a size is not a positive integer, a rate is outside 0..1, or a key asks for
            something that is not implemented. Also a ValueError.
        MissingFileError: the JSON file does not exist. Also a FileNotFoundError.

    >>> BertConfig(99, hidden_size=32, num_attention_heads=4).hidden_size
    32
    """

    vocab_size: int  # V
    hidden_size: int  # D, width of every hidden state
    num_hidden_layers: int  # L
    num_attention_heads: int  # H; must divide D when a model is built
    intermediate_size: int  # F, width inside the feed-forward block
    max_position_embeddings: int  # rows of the table of positions; `max_length` may be smaller
    type_vocab_size: int  # number of token types (segments)
    hidden_act: Activation  # a name in `bert_core.model.activations`, or a callable
    hidden_dropout_prob: float  # dropout of hidden states, 0 to 1
    attention_probs_dropout_prob: float  # dropout of attention weights, 0 to 1
    initializer_range: float  # standard deviation of newly initialised weights
    layer_norm_eps: float = 1e-12  # BERT's own value, and that of most families
    pad_token_id: int | None = 0

    def __init__(
        self,
        vocab_size_or_config_json_file: int | str | None = None,
        hidden_size: int = 768,
        num_hidden_layers: int = 12,
        num_attention_heads: int = 12,
        intermediate_size: int = 3072,
        hidden_act: Activation = "gelu",
        hidden_dropout_prob: float = 0.1,
        attention_probs_dropout_prob: float = 0.1,
        max_position_embeddings: int = 512,
        type_vocab_size: int = 2,
        initializer_range: float = 0.02,
        **extra: Any,
    ) -> None:
        arguments = locals()  # fields are called as the arguments are
        first, other = vocab_size_or_config_json_file, extra.pop("vocab_size", None)
        if first is not None and other is not None:
            raise ConfigError("The vocabulary size was given twice; expected it once.")
        first = other if first is None else first
        self.id2label: dict[int, str] = {}
        self._declared_labels: int | None = None
        self._label_fault = ""
        self._unusable: dict[str, Any] = {}  # labels of a file, written back as they were
        self.temperatures: dict[str, float] = {}
        self.extra: dict[str, Any] = {}
        self._take({name: arguments[name] for name in _FIELDS if name in arguments})
        if isinstance(first, str | Path):
            values = _read_json(Path(first))
            self._take_file(values, _family_in(values))
        else:
            expected = "a vocabulary size (int) or the path of a config JSON (str)"
            _need(_is_whole(first), "The first argument of BertConfig", first, expected)
            defaults = {**_family_in(extra).defaults, "vocab_size": first}
            self._take({key: each for key, each in defaults.items() if key not in _ARGUMENTS})
        self._take(extra)
        self._check()

    # -- building ---------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, json_object: Mapping[str, Any]) -> "BertConfig":
        """Build a config from the keys of a config file; unknown keys are kept."""
        family = _family_in(json_object)
        values = {**family.defaults, **json_object}
        if "vocab_size" not in values:
            raise ConfigError(
                "The configuration has no vocab_size. Expected the keys of a BERT config.json; "
                f"found {sorted(map(str, json_object))[:12]}."
            )
        _need(_is_whole(values["vocab_size"]), "vocab_size", values["vocab_size"], "a whole number")
        config = cls(values["vocab_size"])
        config._take_file(json_object, family)
        config._check()
        return config

    def changed(self, changes: Mapping[str, Any]) -> "BertConfig":
        """Return a copy with other values, under BERT's names."""
        config = copy.deepcopy(self)
        config._take(changes)
        config._check()
        return config

    @classmethod
    def from_json_file(cls, json_file: str | Path) -> "BertConfig":
        """Read `config.json` or `bert_config.json`."""
        return cls.from_dict(_read_json(Path(json_file)))

    def _take_file(self, values: Mapping[str, Any], family: Family) -> None:
        """Set the family's defaults, then the values of a file, under the family's names."""
        ours = {key: name for name, key in family.keys.items() if key}
        fixed = {name for name, key in family.keys.items() if not key}
        self._take(family.defaults)
        labels = {key: each for key, each in values.items() if key in _LABELS}
        try:
            self._take_labels(labels)
        except ConfigError as error:
            self._label_fault, self._unusable = str(error), copy.deepcopy(labels)
        taken = (*ours, *fixed, *labels)
        self._take({key: each for key, each in values.items() if key not in taken})
        self._take({ours[key]: each for key, each in values.items() if key in ours})
        self.extra.update({key: copy.deepcopy(values[key]) for key in fixed if key in values})

    def _take(self, values: Mapping[str, Any]) -> None:
        self._take_labels(values)
        for key, value in values.items():
            if key == "temperatures":
                self.temperatures = _read_temperatures(value)
            elif key in _FIELDS:
                setattr(self, key, value)
            elif key not in _LABELS:
                self.extra[key] = copy.deepcopy(value)

    def _take_labels(self, values: Mapping[str, Any]) -> None:
        count = values.get("num_labels", values.get("_num_labels"))
        names = read_labels(values.get("id2label"), values.get("label2id"))
        if names or "id2label" in values:
            self.id2label = names
        if count is not None and not names:  # names say more than a number
            self._declared_labels = _read_count("num_labels", count)

    def _check(self) -> None:
        """Reject values that cannot be, and keys that ask for what is not implemented."""
        for name in _SIZES:
            value: Any = getattr(self, name, None)
            limit = _MAX_LAYERS if name == "num_hidden_layers" else _MAX_SIZE
            fits = _is_whole(value) and 1 <= value <= limit
            _need(fits, name, value, f"a whole number of at least 1 and at most {limit:,}")
        rates = {name: getattr(self, name) for name in _FIELDS if name.endswith("_prob")}
        if (rate := self.extra.get(self.family.dropout)) is not None:
            rates[self.family.dropout] = rate
        for name, value in rates.items():
            _need(_is_number(value) and 0 <= value <= 1, name, value, "a number from 0 to 1")
        pad = self.pad_token_id
        _need(pad is None or _is_whole(pad), "pad_token_id", pad, "null or a whole number")
        for name in ("layer_norm_eps", "initializer_range"):
            value = getattr(self, name)
            _need(_is_number(value) and 0 <= value < 1e3, name, value, "a small positive number")
        act = self.hidden_act
        _need(callable(act) or isinstance(act, str), "hidden_act", act, "a name or a callable")
        positions = self.extra.get("position_embedding_type", "absolute")
        expected = "'absolute'; this checkpoint needs other positions and cannot be used"
        _need(positions == "absolute", "position_embedding_type", positions, expected)
        for key in ("is_decoder", "add_cross_attention"):
            _need(not self.extra.get(key), key, True, "false: only BERT's encoder is implemented")
        self._check_family()

    def _check_family(self) -> None:
        family, extra = self.family, self.extra
        if family.counts_after_padding:
            pad, rows = self.pad_token_id, self.max_position_embeddings
            expected = f"0 to {rows - 2:,}: {family.title} counts positions from there"
            _need(pad is not None and 0 <= pad < rows - 1, "pad_token_id", pad, expected)
        if family.projects:
            size = self.embedding_size
            fits = _is_whole(size) and 1 <= size <= _MAX_SIZE
            _need(fits, "embedding_size", size, "a whole number of at least 1")
        if family.shares_layers:
            groups, inner = extra.get("num_hidden_groups", 1), extra.get("inner_group_num", 1)
            fits = _is_whole(groups) and 1 <= groups <= self.num_hidden_layers
            expected = f"1 to {self.num_hidden_layers}, the number of layers"
            _need(fits, "num_hidden_groups", groups, expected)
            _need(inner == 1, "inner_group_num", inner, "1; other models cannot be computed")

    # -- the family ---------------------------------------------------------------------------

    @property
    def model_type(self) -> str:
        """The name of the family in files; "bert" if they name none."""
        return self.family.model_type

    @property
    def family(self) -> Family:
        """What is different about this family of models."""
        return _family_in(self.extra)

    @property
    def max_length(self) -> int:
        """The most tokens of an input, added ones included."""
        unused = (self.pad_token_id or 0) + 1 if self.family.counts_after_padding else 0
        return self.max_position_embeddings - unused

    @property
    def embedding_size(self) -> int:
        """E, width of the word vectors; D unless the family projects them."""
        if not self.family.projects:
            return self.hidden_size
        size: int = self.extra.get("embedding_size", self.family.defaults["embedding_size"])
        return size

    @property
    def projects_words(self) -> bool:
        """Whether word vectors (E) pass through a matrix before the first layer (D)."""
        differs = self.embedding_size != self.hidden_size
        return self.family.projects and (self.family.always_projects or differs)

    @property
    def head_size(self) -> int:
        """K, width of one head (ConfigError: the heads do not divide the hidden size)."""
        size, heads = self.hidden_size, self.num_attention_heads
        expected = f"a multiple of num_attention_heads, which is {heads}"
        _need(size % heads == 0, "hidden_size", size, expected)
        return size // heads

    @property
    def choice_step(self) -> Step | None:
        """What multiple choice has before its classifier; ELECTRA's config describes it.

        Raises:
            ConfigError: it describes another one than the published models have.
        """
        step, extra = self.family.choice_step, self.extra
        if step is None or step.name != "summary":
            return step
        for key, published in _SUMMARY.items():
            value = extra.get(key, published)
            expected = f"{published}: multiple choice is computed as in the published models only"
            _need(value == published, key, value, expected)
        return replace(step, activation=extra.get("summary_activation", "gelu") or "linear")

    @property
    def padding_row(self) -> int | None:
        """The row of padding in the word vectors, which gets no gradient; None without one."""
        pad = self.pad_token_id
        return pad if pad is not None and 0 <= pad < self.vocab_size else None

    @property
    def pruned_heads(self) -> dict[int, list[int]]:
        """Layer -> heads that the model no longer has.

        Raises:
            ConfigError: the model has no such layer or head.
        """
        record = self.extra.get("pruned_heads") or {}  # in JSON the keys are strings
        layers, heads = range(self.num_hidden_layers), range(self.num_attention_heads)
        try:
            pruned = {int(layer): list(gone) for layer, gone in record.items()}
        except (AttributeError, TypeError, ValueError):
            pruned = {-1: []}
        fits = all(
            layer in layers and all(_is_whole(head) and head in heads for head in gone)
            for layer, gone in pruned.items()
        )
        expected = f"layers 0 to {layers[-1]}, each with a list of heads 0 to {heads[-1]}"
        _need(fits, "pruned_heads", record, expected)
        return pruned

    @property
    def weights_of(self) -> tuple[int, ...]:
        """For each layer, the first layer with the same weights: itself, unless they are shared.

        >>> BertConfig(9, 64, 4, model_type="albert", num_hidden_groups=2).weights_of
        (0, 0, 2, 2)
        """
        layers = range(self.num_hidden_layers)
        if not self.family.shares_layers:
            return tuple(layers)
        size = self.num_hidden_layers / int(self.extra.get("num_hidden_groups", 1))
        groups = [int(layer / size) for layer in layers]  # as in ALBERT's code
        return tuple(groups.index(group) for group in groups)

    @property
    def architectures(self) -> tuple[str, ...]:
        """The names of classes that the config file says it is of; () if it names none."""
        listed = self.extra.get("architectures")
        names = listed if isinstance(listed, list | tuple) else ()
        return tuple(name for name in names if isinstance(name, str))

    # -- labels -----------------------------------------------------------------------------

    @property
    def num_labels(self) -> int:
        """C, the number of labels: from id2label, else the declared number, else 2.

        Raises:
            ConfigError: the labels of the file cannot be used; see `label_fault`.
        """
        if self.label_fault:
            raise ConfigError(self.label_fault)
        return len(self.id2label) or self._declared_labels or 2

    @num_labels.setter
    def num_labels(self, value: int) -> None:
        self._declared_labels = _read_count("num_labels", value)
        self._label_fault = ""
        if len(self.id2label) != value:
            self.id2label = {}

    @property
    def has_declared_labels(self) -> bool:
        """Whether the config file or the caller gave the number of labels."""
        named = self.id2label or self.label_fault
        return bool(named) or self._declared_labels is not None

    @property
    def label_fault(self) -> str:
        """Why the labels of the config file cannot be used; "" if they can.

        Only classes with labels refuse such a file. Setting `num_labels` or `id2label` mends it.
        """
        return "" if self.id2label else self._label_fault

    @property
    def problem_type(self) -> ProblemType:
        """What the outputs of a text classifier are: as the file says, else by their number.

        "regression": numbers; "single_label_classification": labels of which one is true;
        "multi_label_classification": labels of which any number is true.
        """
        stated = self.extra.get("problem_type")
        if stated == "multi_label_classification":
            return "multi_label_classification"
        if stated == "regression" or self.num_labels == 1:
            return "regression"
        return "single_label_classification"

    @problem_type.setter
    def problem_type(self, value: ProblemType | None) -> None:
        self.extra.pop("problem_type", None)
        if value is not None:
            self.extra["problem_type"] = value

    @property
    def label2id(self) -> dict[str, int]:
        """Label -> index, the inverse of id2label."""
        return {label: index for index, label in self.id2label.items()}

    def label_name(self, index: int) -> str:
        """Return the name of a label; "LABEL_3" if the checkpoint has no name for it."""
        return self.id2label.get(index, f"LABEL_{index}")

    # -- calibration ------------------------------------------------------------------------

    def temperature(self, class_name: str) -> float:
        """Return the temperature T of a class; calibrated probabilities are softmax(logits / T).

        Temperature scaling (Guo et al. 2017, section 4.2) changes no ranking; models return
        undivided logits. `HAS_ANSWER` is about the best span's score minus that of "no answer"; if
        left out, it has that of its class. 1.0 if the config names none.
        """
        return self.temperatures.get(self.temperature_key(class_name), 1.0)

    def temperature_key(self, class_name: str) -> str:
        """Return the key that `temperature` looks up: the given one, else that of its class."""
        return class_name if class_name in self.temperatures else class_name.partition(".")[0]

    def without_temperatures(self) -> "BertConfig":
        """Return a copy without temperatures, for use after the weights have changed."""
        config = copy.deepcopy(self)
        config.temperatures = {}
        config.extra.pop(TEMPERATURES_FITTED_ON, None)
        return config

    # -- writing ----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return every field and extra key under the family's names, a callable as its name."""
        result = copy.deepcopy(self.extra)
        act: Any = self.hidden_act
        for name in _FIELDS:
            if key := self.family.keys.get(name, name):
                result[key] = getattr(self, name)
                if name == "hidden_act" and callable(act):
                    result[key] = getattr(act, "__name__", repr(act))
        if self.id2label:
            result["id2label"] = dict(self.id2label)
            result["label2id"] = self.label2id
        elif self._declared_labels is not None:
            result["num_labels"] = self._declared_labels
        elif self.label_fault:
            result.update(copy.deepcopy(self._unusable))
        if self.temperatures:
            result["temperatures"] = dict(self.temperatures)
        return result

    def to_json_string(self) -> str:
        """Return the configuration as indented JSON with sorted keys and a final newline."""
        values = self.to_dict()
        if self.id2label:
            values["id2label"] = {str(index): label for index, label in self.id2label.items()}
        return json.dumps(values, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    def to_json_file(self, json_file_path: str | Path) -> None:
        """Write the configuration as a JSON file."""
        Path(json_file_path).write_text(self.to_json_string(), encoding="utf-8")

    def __repr__(self) -> str:
        return f"BertConfig {self.to_json_string()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BertConfig) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # mutable, compared by value


_FIELDS = tuple(BertConfig.__annotations__)
_SIZES = tuple(name for name in _FIELDS if BertConfig.__annotations__[name] is int)
# These keep BERT's defaults in the constructor; files have the family's.
_ARGUMENTS = {*_FIELDS} - {"vocab_size", "type_vocab_size", "layer_norm_eps", "pad_token_id"}
# Of ELECTRA for multiple choice.
_SUMMARY = {"summary_type": "first", "summary_use_proj": True, "summary_proj_to_labels": False}


def _family_in(values: Mapping[str, Any]) -> Family:
    model_type = values.get("model_type")
    return BERT if model_type is None else family_called(model_type)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _need(fits: bool, name: str, value: object, expected: str) -> None:
    if not fits:
        raise ConfigError(f"{name} is {shown(value)}; expected {expected}.")


def _read_count(key: str, value: Any) -> int:
    fits = _is_whole(value) and 1 <= value <= _MAX_SIZE
    _need(fits, key, value, "a whole number of at least 1")
    return int(value)


def _read_temperatures(table: object) -> dict[str, float]:
    table = {} if table is None else table
    expected = 'a mapping from class names to numbers, such as {"BertForMaskedLM": 1.1}'
    _need(isinstance(table, Mapping), "temperatures", table, expected)
    assert isinstance(table, Mapping)
    for name, number in table.items():
        # A typo after the dot would otherwise be ignored silently.
        is_class = isinstance(name, str) and ("." not in name or name == HAS_ANSWER)
        _need(is_class, "A key of temperatures", name, f"a class name, or {HAS_ANSWER}")
        fits = _is_number(number) and _COLDEST <= number <= _HOTTEST
        expected = f"a number from {_COLDEST} to {_HOTTEST}"
        _need(fits, f"The temperature of {shown(name)}", number, expected)
    return {name: float(number) for name, number in table.items()}


def _read_json(path: Path) -> dict[str, Any]:
    text = read_small(path, _MAX_JSON_BYTES, error=ConfigError)
    values: dict[str, Any] = parse_json(text, path.name, error=ConfigError)
    _need(isinstance(values, dict), f"The content of {path.name}", values, "a JSON object")
    return values
