"""The texts that a model is verified on, in our own words, and what is computed from which.

They are stored with the expected outputs, so a bundle stays verifiable when this list changes.
"""

from dataclasses import dataclass

_HARBOUR = (
    "The harbour woke before the town did. Two men in yellow coats carried crates of herring up "
    "the wet steps, and a boy of about nine counted them aloud because nobody had asked him to. "
    "Behind the cranes the ferry waited with its lights still on. Mrs. Okafor, who had sold tea "
    "from the same stall for thirty-one years, knew every sailor's [MASK] and most of their "
    "debts. She poured a cup for the captain, who drank it standing, as always, and asked what "
    "the weather would do. Nobody could say: the wind had turned twice since midnight, the glass "
    "was falling, and over the island lay a bank of cloud as flat as a table. At seven the bell "
    "rang. The last passenger, a woman with a cello on her back, ran along the quay and waved; "
    "the captain put down his cup, smiled, and held the gangway for her. "
)
_CHAPTER = (
    "In 1887 an engineer called Rosa Lindqvist drew a bridge that nobody wanted to pay for. She "
    "measured the river in every season, 412 times in all, and wrote the depths into a green "
    "notebook. When the mayor finally asked how long such a bridge would stand, she answered: "
    '"Longer than the two of us, and longer than your question." It was opened on a rainy '
    "Thursday, without music, and has carried trams, sheep, soldiers and schoolchildren since. "
)
_QUESTION = "What did the engineer write into her notebook?"
_DINNER = "Paul forgot that guests were coming, and the fridge was empty."

TEXTS: tuple[tuple[str, str | None], ...] = (
    ("The cat slept on the warm stones.", None),
    ("Every morning she drinks a cup of [MASK] before work.", None),
    ("The train to Lisbon was late again.", "So we bought two coffees and waited."),
    (_QUESTION, _CHAPTER.strip()),
    ("Zoë Müller flew from São Paulo to Kraków – naïve, 海, №5, don't; e-mail: a@b.cd 😀!", None),
    (_HARBOUR.strip(), None),
    ((_CHAPTER + _HARBOUR) * 8, None),
    (_DINNER, "He ordered pizza for everybody."),
    (_DINNER, "He watered the moon with a ladder."),
    (_DINNER, "The guests had never been to Norway."),
)
"""Short; with [MASK]; a pair; a question and its passage; other letters and signs; about 200
tokens with [MASK]; longer than any model reads, so that every position is used; and three
endings of one beginning."""

BATCHES: dict[str, tuple[int, ...]] = {
    "short": (0,),
    "masked": (1,),
    "pair": (2,),
    "asked": (3,),
    "long": (5,),
    "full": (6,),
    "padded": (0, 1, 2, 3, 4),
    "choices": (7, 8, 9),
}
"""Numbers of the texts that make one batch, by the names that `bert_core.model.heads` uses."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text as a model reads it.

    Attributes:
        ids: T vocabulary ids, [CLS] and [SEP] included.
        types: T segment numbers.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One output that is stored.

    Attributes:
        class_name: the class that computes it.
        output: its name in `ModelOutputs`.
        texts: numbers of the texts that make the batch.
        places: for each text the tokens at which it is stored; None for all, and for outputs that
            have no tokens.
        tensor: its name in `verification.safetensors`.
    """

    class_name: str
    output: str
    texts: tuple[int, ...]
    places: tuple[tuple[int, ...], ...] | None
    tensor: str
