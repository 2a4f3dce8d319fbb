"""What is measured is in no text and no row of the training."""

from pathlib import Path

import numpy as np

from bert_core.text.tokenizer import BertTokenizer
from tests.training.conftest import write_text
from training.corpus import EncodedText, load_corpus, plain_ids
from training.tasks import TaskRows
from training.unseen import (
    OPEN_OCCUPATION,
    OPEN_PRONOUN,
    evaluated,
    evaluation_sentences,
    gaps,
    is_near,
    kept_back,
    negations,
    without_near,
)


def test_what_is_measured_on_is_left_out(data: Path, tokenizer: BertTokenizer) -> None:
    gap = gaps()[0].sentence.replace("[MASK]", sorted(gaps()[0].good)[0])
    write_text(data / "text" / "masc-written.txt", [[gap, "The cat is here."]])
    texts = load_corpus(data, data / "cache", tokenizer)
    every = kept_back(texts)
    assert every == kept_back(texts) and len(every) > 4
    left = without_near(texts, {*every, *plain_tuples(tokenizer, [gap])})
    for text in left:
        for number in range(len(text.sentences) - 1):
            sentence = tuple(text.sentence(number))
            for other in every:
                apart = sum(a != b for a, b in zip(sentence, other, strict=False))
                assert len(sentence) != len(other) or apart > 1
    [masc] = [text for text in left if text.name == "masc-written"]
    assert [masc.sentence(n) for n in range(len(masc.sentences) - 1)] == plain_ids(
        tokenizer, ["The cat is here."]
    )


def plain_tuples(tokenizer: BertTokenizer, texts: list[str]) -> list[tuple[int, ...]]:
    return [tuple(ids) for ids in plain_ids(tokenizer, texts)]


def test_sentences_that_differ_in_one_piece_are_left_out(tokenizer: BertTokenizer) -> None:
    written = sorted(evaluation_sentences(tokenizer))
    assert len(written) > 300
    near = list(written[40])
    near[1] = tokenizer.vocab["."]
    text = EncodedText(
        "other",
        np.array([*near, *near, 7, 7], dtype=np.uint16),
        np.array([0, len(near), 2 * len(near) + 2]),
        np.array([0, 1, 2]),
    )
    [left] = without_near([text], written)
    assert left.ids.tolist() == [*near, 7, 7]


def test_no_row_comes_near_an_evaluation_of_our_own(task_data: Path) -> None:
    text = negations()[0].text
    near = text.replace(text.split()[2], "nowhere", 1).upper()
    assert is_near(near)
    lines = [f"{near}\t1\tshop", *[f"Number {n} is good.\t1\tshop" for n in range(40)]]
    path = task_data / "sentiment" / "train.tsv"
    path.write_text("\n".join(["sentence\tlabel\tsource", *lines]) + "\n", encoding="utf-8")
    rows = TaskRows.read(task_data, 1)
    assert len(rows.reviews) > 30
    assert not any(row.typed.text == near for row in rows.reviews)


def test_the_sentences_of_our_own_are_what_they_have_to_be() -> None:
    assert all(gap.sentence.count("[MASK]") == 1 for gap in gaps())
    assert all(word == word.lower() for gap in gaps() for word in gap.good)
    assert len({gap.sentence for gap in gaps()}) == len(gaps()) == 100
    assert len(negations()) == 40 and {row.label for row in negations()} == {0, 1}
    assert "[MASK]" not in "".join(evaluated())
    for template in OPEN_PRONOUN + OPEN_OCCUPATION:
        assert template.count("{occupation}") == template.count("{word}") == 1
