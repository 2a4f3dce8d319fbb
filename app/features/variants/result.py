"""What the page of the variants shows: six published models, and one that can be edited."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from bert_core.model.sizes import Architecture, Memory, Split


@dataclass(frozen=True, slots=True)
class About:
    """What the paper of a model says."""

    year: Annotated[int, "of the paper"]
    idea: Annotated[str, "what was new"]
    objective: Annotated[str, "what it was trained to do"]
    data: Annotated[str, "what it was trained on"]
    sees: Annotated[str, "what a token may see"]
    published: Annotated[int, "parameters in millions as the authors state them, rounded by them"]
    stated: Annotated[str, "where they state it"]
    paper: Annotated[str, "address of the paper"]
    source: Annotated[str, "address of the configuration"]
    lab: Annotated[
        Mapping[str, str] | None,
        "settings of the lab that show the idea, as in its address; null if there are none",
    ]
    shows: Annotated[str, "what these settings do"]


@dataclass(frozen=True, slots=True)
class Counted:
    """What follows from a configuration."""

    slug: Annotated[str, "names it in links"]
    name: Annotated[str, "on the screen"]
    architecture: Annotated[Architecture, "its sizes"]
    parameters: Annotated[Split, "of the encoder, by part"]
    flops: Annotated[
        Split,
        "operations for one token of a text of `tokens`, by part; a multiplication and an addition"
        " count as one each",
    ]
    memory: Annotated[Memory, "bytes"]
    tokens: Annotated[
        int, "length of the text: the one asked for, or the most that this model reads"
    ]
    about: Annotated[About | None, "what its paper says; null for an edited configuration"]


@dataclass(frozen=True, slots=True)
class Sees:
    """Which words the guess at each position of a text sees."""

    model: Annotated[str, "its name"]
    words: Annotated[tuple[str, ...], "of the text"]
    says: Annotated[str, "the same in words"]
    readers: Annotated[
        tuple[tuple[tuple[bool, ...], ...], ...],
        "for each of its readers whether the guess at a position (row) sees a word (column)",
    ]


@dataclass(frozen=True, slots=True)
class VariantsResult:
    """Six published models and one of your own, from their configurations alone."""

    length: Annotated[int, "tokens of the text that is computed"]
    family: Annotated[tuple[Counted, ...], "the published models, by year"]
    base: Annotated[
        str, 'slug of the model that yours was made from; "model" for the one that is chosen'
    ]
    own: Annotated[Counted, "yours"]
    changed: Annotated[tuple[str, ...], "names of the sizes in which yours differs from its base"]
    sees: Annotated[tuple[Sees, ...], "what each position sees in BERT, GPT and ELMo"]

    @property
    def rows(self) -> tuple[Counted, ...]:
        """All of them, yours last."""
        return *self.family, self.own
