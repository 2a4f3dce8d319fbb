"""The texts that models are verified on (written for this package), and their batches.

The texts are stored with the expected outputs, so models remain verifiable if this list changes.
"""

_PASSAGE = (
    "In 1887 an engineer called Rosa Lindqvist drew a bridge that nobody wanted to pay for. She "
    "measured the river in every season, 412 times in all, and wrote the depths into a green "
    "notebook. When the mayor finally asked how long such a bridge would stand, she answered: "
    '"Longer than the two of us, and longer than your question." It was opened on a rainy '
    "[MASK], without music, and has carried trams, sheep, soldiers and schoolchildren since. "
)
_DINNER = "Paul forgot that guests were coming, and the fridge was empty."

TEXTS: tuple[tuple[str, str | None], ...] = (
    ("The cat slept on the warm stones.", None),
    ("Every morning she drinks a cup of [MASK] before work.", None),
    ("The train to Lisbon was late again.", "So we bought two coffees and waited."),
    ("What did the engineer write into her notebook?", _PASSAGE.strip()),
    ("Zoë Müller flew from São Paulo to Kraków – naïve, 海, №5, don't; e-mail: a@b.cd 😀!", None),
    (_PASSAGE * 2, None),
    (_PASSAGE * 24, None),
    (_DINNER, "He ordered pizza for everybody."),
    (_DINNER, "He watered the moon with a ladder."),
    (_DINNER, "The guests had never been to Norway."),
)
"""In order: a short text; one with [MASK]; a pair; a question and its passage; accents, other
scripts and symbols; about 200 tokens with [MASK]; a text longer than any model's limit, so that
every position is used; and one beginning with three different endings."""

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
"""Name of a batch, as used in `bert_core.model.kinds` -> indices of its texts."""
