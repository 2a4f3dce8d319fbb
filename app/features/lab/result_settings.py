"""What can be set in a run of the lab; all of it fits into a link."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from bert_core.errors import InputError

GRAMMAR, FACTS, OWN = "grammar", "facts", "own"
CHOICES: dict[str, tuple[Any, ...]] = {
    "corpus": (GRAMMAR, FACTS, OWN),
    "mask_rate": (15, 30, 40, 80),
    "layers": (1, 2, 3, 4),
    "heads": (1, 2, 4, 8),
    "width": (32, 64, 128),
    "learning_rate": (2e-3, 3e-4, 1e-3, 5e-3, 1e-2, 3e-2, 1e-1),
    "sentences": (20_000, 200),
    "pieces": (2_000, 200, 100),
    "seed": tuple(range(10)),
    "steps": (2_000, 500, 1_000, 4_000),
}
"""What each setting that is not on or off can be."""


@dataclass(frozen=True, slots=True)
class LabSettings:
    """One run: text, task, model and training. Equal settings give equal runs.

    Attributes:
        corpus: "grammar", "facts" or "own" (the visitor's text).
        mask_rate: share of the pieces that is hidden, in percent.
        layers: of the model.
        heads: in each layer.
        width: of the model's vectors.
        learning_rate: at its highest.
        positions: whether the model is told the order of the pieces.
        shuffled: whether the words of each sentence are shuffled before training.
        sentences: most sentences to train on.
        next_sentence: whether rows are pairs, and the second task is trained too.
        shared: whether all layers are one and the same (ALBERT).
        whole_words: whether words are hidden whole.
        pieces: most pieces of the vocabulary.
        seed: of the first weights, the order of the rows and the masks.
        steps: of the training.

    Raises:
        InputError: a value is none of its choices.
    """

    corpus: str = GRAMMAR
    mask_rate: int = 15
    layers: int = 2
    heads: int = 4
    width: int = 64
    learning_rate: float = 2e-3
    positions: bool = True
    shuffled: bool = False
    sentences: int = 20_000
    next_sentence: bool = False
    shared: bool = False
    whole_words: bool = False
    pieces: int = 2_000
    seed: int = 0
    steps: int = 2_000

    def __post_init__(self) -> None:
        for each in fields(self):
            value, choices = getattr(self, each.name), CHOICES.get(each.name, (True, False))
            if type(value) is not type(each.default) or value not in choices:
                raise InputError(
                    f"{each.name} is {str(value)[:40]!r}; expected one of "
                    f"{', '.join(map(str, choices))}."
                )

    def link(self) -> dict[str, str]:
        """Return what differs from the default, as the parameters of an address.

        >>> LabSettings(mask_rate=40, positions=False).link()
        {'mask_rate': '40', 'positions': 'False'}
        """
        pairs = ((each, getattr(self, each.name)) for each in fields(self))
        return {each.name: str(value) for each, value in pairs if value != each.default}

    @classmethod
    def from_link(cls, given: Mapping[str, str]) -> "LabSettings":
        """Read the parameters of an address; what is missing takes its default.

        Raises:
            InputError: a value is none of its choices.

        >>> LabSettings.from_link({"mask_rate": "40", "positions": "False"}).link()
        {'mask_rate': '40', 'positions': 'False'}
        """
        found: dict[str, Any] = {}
        for each in fields(cls):
            if each.name in given:
                choices = CHOICES.get(each.name, (True, False))
                known = {str(choice): choice for choice in choices}
                found[each.name] = known.get(given[each.name], given[each.name])
        return cls(**found)
