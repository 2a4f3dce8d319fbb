"""The text that is timed: many different lines, the same ones every time."""

from collections import Counter
from pathlib import Path

import pytest
from tokenizers import BertWordPieceTokenizer

from benchmarks import tokenizer as benchmark
from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from bert_core.text.tokenizer import BertTokenizer

WORDS = [f"{first}{second}" for first in "bcdfghjklm" for second in ("at", "in", "ore", "ust")] * 10
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS), "##at", "##in", "."]


def test_lines_are_different_and_the_same_for_the_same_seed() -> None:
    for lines, again, other in (
        (mixed_lines(100), mixed_lines(100), mixed_lines(100, seed=1)),
        (english_lines(WORDS, 60), english_lines(WORDS, 60), english_lines(WORDS, 60, seed=1)),
    ):
        assert lines == again
        assert lines != other
        assert len(set(lines)) == len(lines)
    assert len(mixed_lines(100)) == 100


def test_some_words_come_often_and_most_seldom() -> None:
    counts = Counter(" ".join(english_lines(WORDS, 200)).split())
    often = [count for _, count in counts.most_common(10)]
    assert sum(often) > sum(counts.values()) / 4
    assert sorted(counts.values())[len(counts) // 2] < often[0] / 10


def test_there_are_more_than_ten_scripts_and_every_line_is_read_in_full() -> None:
    assert len(SENTENCES) > 10
    lines = mixed_lines(len(SENTENCES))
    for line, sentences in zip(lines, SENTENCES.values(), strict=True):
        assert set(line) <= {" ", *"".join(sentences)}


@pytest.fixture
def vocab_file(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES), encoding="utf-8")
    return path


def test_unequal_sides_are_not_timed(vocab_file: Path) -> None:
    ours, peer = BertTokenizer(vocab_file), BertWordPieceTokenizer(str(vocab_file))
    benchmark.check(ours, peer, ["bat bin.", "core"])
    with pytest.raises(AssertionError, match="Bat"):
        benchmark.check(BertTokenizer(vocab_file, do_lower_case=False), peer, ["bat", "Bat"])
