"""What the page of the variants shows: six published models, and one that can be edited."""

from collections.abc import Mapping
from dataclasses import dataclass

from bert_core.model.sizes import Architecture, Memory, Split


@dataclass(frozen=True, slots=True)
class Told:
    """What the paper of a model says.

    Attributes:
        year: of the paper.
        idea: what was new.
        objective: what it was trained to do.
        data: what it was trained on.
        sees: what a token may see.
        published: parameters in millions as the authors state them, rounded by them.
        said: where they state it.
        paper: address of the paper.
        source: address of the configuration.
        lab: settings of the lab that show the idea, as in its address; null if there are none.
        shows: what these settings do.
    """

    year: int
    idea: str
    objective: str
    data: str
    sees: str
    published: int
    said: str
    paper: str
    source: str
    lab: Mapping[str, str] | None
    shows: str


@dataclass(frozen=True, slots=True)
class Counted:
    """What follows from a configuration.

    Attributes:
        slug: names it in links.
        name: on the screen.
        architecture: its sizes.
        parameters: of the encoder, by part.
        flops: operations for one token of a text of `tokens`, by part; a multiplication and an
            addition count as one each.
        memory: bytes.
        tokens: length of the text: the one asked for, or the most that this model reads.
        told: what its paper says; null for an edited configuration.
    """

    slug: str
    name: str
    architecture: Architecture
    parameters: Split
    flops: Split
    memory: Memory
    tokens: int
    told: Told | None


@dataclass(frozen=True, slots=True)
class VariantsResult:
    """Six published models and one of your own, from their configurations alone.

    Attributes:
        length: tokens of the text that is computed.
        family: the published models, by year.
        base: slug of the model that yours was made from; "model" for the one that is chosen.
        own: yours.
        changed: names of the sizes in which yours differs from its base.
    """

    length: int
    family: tuple[Counted, ...]
    base: str
    own: Counted
    changed: tuple[str, ...]

    @property
    def rows(self) -> tuple[Counted, ...]:
        """All of them, yours last."""
        return *self.family, self.own
