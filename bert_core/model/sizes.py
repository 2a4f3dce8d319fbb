"""How large an encoder is and how much it computes, from its configuration alone.

`Architecture` reads the `config.json` of BERT, RoBERTa, ALBERT, DistilBERT, ELECTRA and ModernBERT.
A multiplication and an addition count as one operation each. Normalisations, activation functions,
the softmax and the addition of biases are left out; they are well below 1 % of the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, Any

from bert_core.config import BertConfig
from bert_core.errors import InputError

EMBEDDING, ATTENTION, FEED_FORWARD, REST = "embedding", "attention", "feed-forward", "rest"
PARTS = (EMBEDDING, ATTENTION, FEED_FORWARD, REST)

MODERN = "modernbert"  # counted here, not computed

_FLOAT = 4  # bytes of a number in float32
_TRAINED = 4  # numbers for each parameter in training: itself, its gradient, two of AdamW
_MOST = 10**7  # of any size


@dataclass(frozen=True, slots=True)
class Tensors:
    """Tensors of one shape that do the same."""

    part: Annotated[str, "one of `PARTS`"]
    name: Annotated[str, "what they are"]
    shape: Annotated[tuple[int, ...], "of each"]
    stored: Annotated[int, "how many there are"]
    used: Annotated[int, "how many are multiplied with the vector of a token; tables are read"] = 0

    @property
    def parameters(self) -> int:
        """Numbers in all of them."""
        return self.stored * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Split:
    """A number, split by the parts of the model."""

    embedding: Annotated[int, "word, position and segment vectors"]
    attention: Annotated[int, "queries, keys, values and the output projection"]
    feed_forward: Annotated[int, "both matrices, and the gate"]
    rest: Annotated[int, "normalisations, and the pooler"]

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(self.parts)

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """The four numbers in the order of `PARTS`."""
        return self.embedding, self.attention, self.feed_forward, self.rest


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes."""

    float32: Annotated[int, "the weights with four bytes for each parameter"]
    float16: Annotated[int, "the same with two"]
    training: Annotated[int, "weights, gradients and the two averages of AdamW, in float32"]
    attention: Annotated[int, "the attentions of one text in float32, if they are kept"]


@dataclass(frozen=True, slots=True)
class Architecture:
    """What decides the size of an encoder.

    Raises:
        InputError: a size is not a positive number, or `heads` does not divide `width`.
    """

    kind: Annotated[str, "`model_type` of the configuration"]
    vocabulary: Annotated[int, "V, number of pieces"]
    width: Annotated[int, "D, of the vectors between the layers"]
    layers: Annotated[int, "L"]
    heads: Annotated[int, "H, in each layer"]
    inner: Annotated[int, "F, width inside the feed-forward network"]
    length: Annotated[int, "most tokens of a text"]
    embedding: Annotated[int, "E, width of the word vectors; D unless they are projected to it"]
    positions: Annotated[int, "rows of the table of positions; 0 if positions are rotations"]
    segments: Annotated[int, "rows of the table of segments; 0 for none"] = 0
    projected: Annotated[bool, "whether word vectors pass through a matrix (E, D)"] = False
    shared: Annotated[bool, "whether all layers have the same weights"] = False
    gated: Annotated[bool, "whether feed-forward has a second matrix (D, F) as its gate"] = False
    biases: Annotated[bool, "whether matrices and normalisations have biases"] = True
    pooler: Annotated[bool, "whether a last matrix (D, D) prepares the vector of [CLS]"] = False
    window: Annotated[int, "tokens on each side that a local layer sees; 0: none is local"] = 0
    every: Annotated[int, "of so many layers, the first sees the whole text"] = 1

    def __post_init__(self) -> None:
        for name in ("vocabulary", "width", "layers", "heads", "inner", "length"):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= _MOST:
                raise InputError(f"{name} is {value!r}; expected a whole number from 1 on.")
        if self.width % self.heads:
            raise InputError(
                f"The width {self.width:,} cannot be divided among {self.heads:,} heads."
            )

    @classmethod
    def from_config(cls, values: Mapping[str, Any]) -> "Architecture":
        """Read the keys of a `config.json`; keys left out have the family's defaults.

        Raises:
            ConfigError: another type of model, or a value that cannot be.
            InputError: the sizes do not fit together.
        """
        modern = values.get("model_type") == MODERN
        config = BertConfig.from_dict({**values, "model_type": "bert"} if modern else values)
        family = config.family
        return cls(
            kind=MODERN if modern else config.model_type,
            vocabulary=config.vocab_size,
            width=config.hidden_size,
            layers=config.num_hidden_layers,
            heads=config.num_attention_heads,
            inner=config.intermediate_size,
            length=config.max_length,
            embedding=config.embedding_size,
            positions=0 if modern else config.max_position_embeddings,
            segments=config.type_vocab_size if family.token_types and not modern else 0,
            projected=config.projects_words,
            shared=family.shares_layers,
            gated=modern,
            biases=not modern,
            pooler=family.pooler and not modern,
            window=values["local_attention"] // 2 if modern else 0,
            every=values["global_attn_every_n_layers"] if modern else 1,
        )

    def edited(self, **sizes: int) -> "Architecture":
        """Change `layers`, `width`, `heads` and others; inner width and tables follow."""
        width, length = sizes.get("width", self.width), sizes.get("length", self.length)
        changes: dict[str, Any] = {
            **sizes,
            "inner": round(self.inner * width / self.width),
            "embedding": self.embedding if self.projected else width,
            "positions": length + self.positions - self.length if self.positions else 0,
        }
        return replace(self, **changes)

    def tensors(self) -> tuple[Tensors, ...]:
        """Return everything that is trained, in the order of the forward pass."""
        wide, narrow, inner, layers = self.width, self.embedding, self.inner, self.layers
        deep = 1 if self.shared else layers
        bias, norm, into = int(self.biases), 1 + self.biases, 1 + self.gated
        projected, pooler = int(self.projected), int(self.pooler)
        rows = (
            Tensors(EMBEDDING, "word vectors", (self.vocabulary, narrow), 1),
            Tensors(EMBEDDING, "positions", (self.positions, narrow), 1),
            Tensors(EMBEDDING, "segments", (self.segments, narrow), 1),
            Tensors(REST, "first normalisation", (narrow,), norm),
            Tensors(EMBEDDING, "projection to the width", (narrow, wide), projected, projected),
            Tensors(EMBEDDING, "its bias", (wide,), projected),
            Tensors(ATTENTION, "query, key, value, output", (wide, wide), 4 * deep, 4 * layers),
            Tensors(ATTENTION, "their biases", (wide,), 4 * deep * bias),
            Tensors(FEED_FORWARD, "in and gate" if self.gated else "in", (wide, inner),
                    into * deep, into * layers),
            Tensors(FEED_FORWARD, "out", (inner, wide), deep, layers),
            Tensors(FEED_FORWARD, "biases in", (inner,), deep * bias),
            Tensors(FEED_FORWARD, "biases out", (wide,), deep * bias),
            Tensors(REST, "normalisations of the layers", (wide,), 2 * norm * deep),
            Tensors(REST, "pooler", (wide, wide), pooler),
            Tensors(REST, "its bias", (wide,), pooler),
        )  # fmt: skip
        return tuple(each for each in rows if each.parameters)

    def parameters(self) -> Split:
        """Count the parameters of the encoder, without heads for any task."""
        return _split(lambda each: each.parameters, self.tensors())

    def flops(self, length: int) -> Split:
        """Count the operations for one token of a text; the pooler runs once a text."""
        products = _split(lambda each: 2 * each.used * prod(each.shape), self.tensors())
        # Every head compares its query with the keys in reach, then adds up their values.
        mixing = sum(4 * self.width * reach for reach in self.reaches(length))
        return replace(products, attention=products.attention + mixing)

    def reaches(self, length: int) -> tuple[int, ...]:
        """Return for each layer how many tokens of a text a token in its middle sees.

        Raises:
            InputError: the text is longer than the model reads.
        """
        if not 1 <= length <= self.length:
            raise InputError(
                f"The text has {length:,} tokens; this model reads 1 to {self.length:,}."
            )
        local = min(length, 2 * self.window + 1)
        return tuple(
            length if not self.window or layer % self.every == 0 else local
            for layer in range(self.layers)
        )

    def memory(self, length: int) -> Memory:
        """Return what the model takes, and the attentions of one text of `length` tokens."""
        total = self.parameters().total
        return Memory(
            float32=_FLOAT * total,
            float16=_FLOAT * total // 2,
            training=_FLOAT * _TRAINED * total,
            attention=_FLOAT * self.heads * length * sum(self.reaches(length)),
        )


def _split(value: Callable[[Tensors], int], tensors: tuple[Tensors, ...]) -> Split:
    return Split(*(sum(value(each) for each in tensors if each.part == part) for part in PARTS))
