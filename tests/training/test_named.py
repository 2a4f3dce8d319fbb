"""Tagged names as training reads them, in the words the model labels."""

import pytest

from bert_core.finetuning import TaggedWords
from training.named import as_read
from training.rows import TAGS


def read(text: str) -> str:
    """Read words and tags like "Ada/B-PER"; words without a tag are O."""
    pairs = [pair.partition("/") for pair in text.split()]
    words = tuple(word for word, _, _ in pairs)
    found = as_read(TaggedWords(words, tuple(TAGS.index(tag or "O") for _, _, tag in pairs)))
    return " ".join(
        f"{word}/{TAGS[tag]}" if tag else word
        for word, tag in zip(found.words, found.tags, strict=True)
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("U.K./B-LOC", "U/B-LOC ./I-LOC K/I-LOC ./I-LOC"),
        ("Coca-Cola/B-ORG sells", "Coca/B-ORG -/I-ORG Cola/I-ORG sells"),
        ("in Rome,/B-LOC not", "in Rome/B-LOC , not"),
        ("in Rome./B-LOC", "in Rome/B-LOC ."),
        ('"Rome"/B-LOC', '" Rome/B-LOC "'),
        ("Guns/B-ORG N'/I-ORG Roses/I-ORG", "Guns/B-ORG N/I-ORG '/I-ORG Roses/I-ORG"),
        ("Google's/B-ORG cars", "Google/B-ORG ' s cars"),
        ("#Rome,/B-LOC", "#/B-LOC Rome/I-LOC ,"),
        ("@/B-ORG MAS/B-ORG says", "@/B-ORG MAS/I-ORG says"),
        ("the United States/B-LOC", "the United/B-LOC States/I-LOC"),
        ("it's fine", "it ' s fine"),
    ],
)
def test_every_word_that_the_model_reads_has_a_tag_of_its_own(row: str, expected: str) -> None:
    assert read(row) == expected
