"""`tokenizer.json`: read as `tokenizers` reads it, or refused in one sentence."""

import json
import os
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import transformers
from tokenizers import BertWordPieceTokenizer, Tokenizer

from bert_core import BertTokenizer
from bert_core.errors import BertError, CheckpointError
from tests.bert_core.text.conftest import (
    GONE,
    Changes,
    edited,
    lists_of,
    peer_lists_of,
)
from tests.bert_core.text.test_tokenizer_parity import NASTY

LINES = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\n"
WORDS = LINES.split()


def document(path: Path, pieces: Sequence[str] = WORDS, **options: Any) -> dict[str, Any]:
    """Write what the reference writes for a vocabulary, and return it."""
    (path.parent / "words").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    rust: Any = BertWordPieceTokenizer(str(path.parent / "words"), **options)
    (path.parent / "words").unlink()
    rust.save(str(path))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def changed(path: Path, changes: Changes = MappingProxyType({})) -> Path:
    """Write a small `tokenizer.json` with these changes."""
    path.write_text(json.dumps(edited(document(path), changes)), encoding="utf-8")
    return path


def differences(path: Path, texts: Sequence[str]) -> list[str]:
    """Name every text that we and the reference encode differently by this file."""
    ours, rust = BertTokenizer.from_pretrained(path), Tokenizer.from_file(str(path))
    rust.no_truncation()
    rust.no_padding()
    return [
        text
        for text, peer in zip(texts, rust.encode_batch(list(texts)), strict=True)
        if lists_of(ours.encode(text)) != peer_lists_of(peer)
    ]


def test_every_switch_of_the_normalizer_is_read(
    vocab_file: Path, strange_texts: list[str], tmp_path: Path
) -> None:
    texts = [*NASTY.values(), *strange_texts[:40]]
    pieces = vocab_file.read_text(encoding="utf-8").split("\n")[:6_000]
    pieces = [*dict.fromkeys([*pieces, "\x07", "##\x07", "\ue000", "##\ufeff", "##\x00"])]
    switches = zip((True, False, None, None), (True, False, False, True), strict=True)
    for (strip, chinese), lower in product(switches, (True, False)):
        path = tmp_path / "tokenizer.json"
        document(
            path,
            pieces,
            lowercase=lower,
            strip_accents=strip,
            handle_chinese_chars=chinese,
        )
        assert differences(path, texts) == []


def test_files_of_2020_are_read_as_by_rust(tmp_path: Path) -> None:
    path = changed(tmp_path / "tokenizer.json", {"model.type": GONE})
    assert differences(path, ["cat cats the", "cats", "the cats", "[MASK]. The"]) == []


def test_truncation_and_padding_of_the_file_are_not_read(tmp_path: Path) -> None:
    rust = Tokenizer.from_file(str(changed(tmp_path / "tokenizer.json")))
    rust.enable_truncation(4)
    rust.enable_padding(length=9)
    rust.save(str(tmp_path / "tokenizer.json"))
    found = BertTokenizer.from_pretrained(tmp_path).encode("the cats the cat")
    assert found.tokens == ["[CLS]", "the", "cat", "##s", "the", "cat", "[SEP]"]


# -- what `transformers` writes -------------------------------------------------------------------


def saved_by_transformers(vocab_file: Path, folder: Path, **options: Any) -> Any:
    peer: Any = transformers.BertTokenizer(str(vocab_file), **options)
    peer.save_pretrained(folder)
    assert not (folder / "vocab.txt").exists()
    return peer


def test_added_tokens_are_found_first_and_special_ones_left_out_of_text(
    vocab_file: Path, tmp_path: Path
) -> None:
    peer = saved_by_transformers(vocab_file, tmp_path)
    plain = transformers.AddedToken("<name>", normalized=False, special=False)
    peer.add_special_tokens({"additional_special_tokens": ["[E1]", "[e]1"]})
    peer.add_tokens([plain])
    peer.save_pretrained(tmp_path)
    texts = ["the [E1] cat[E1]. <name>s [e]1 [E 1]", "[E1][E1]<name><NAME>", "中[E1]é<name>"]
    assert differences(tmp_path / "tokenizer.json", texts) == []
    ours = BertTokenizer.from_pretrained(tmp_path)
    assert len(ours) == len(peer)
    ids = ours.encode(texts[0]).input_ids
    assert "[E1]" in ours.special_tokens and "<name>" not in ours.special_tokens
    rust = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for skip in (True, False):
        found = ours.decode(ids, skip_special_tokens=skip)
        assert found == rust.decode(ids, skip_special_tokens=skip)


def test_five_tokens_are_special_even_if_the_file_does_not_say_so(tmp_path: Path) -> None:
    path = changed(tmp_path / "tokenizer.json", {"added_tokens": []})
    assert BertTokenizer.from_pretrained(path).tokenize("the[MASK].") == ["the", "[MASK]", "[UNK]"]


# -- saving ---------------------------------------------------------------------------------------


def test_what_was_read_is_saved_for_both_libraries(vocab_file: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    peer = saved_by_transformers(vocab_file, first, do_lower_case=False, model_max_length=77)
    peer.add_special_tokens({"additional_special_tokens": ["[E1]"]})
    peer.save_pretrained(first)
    ours = BertTokenizer.from_pretrained(first)
    assert (ours.do_lower_case, ours.max_len) == (False, 77)
    ours.save_pretrained(second)
    assert {path.name for path in second.iterdir()} == set(ours.saved_files())
    twin = BertTokenizer.from_pretrained(second)
    other: Any = transformers.AutoTokenizer.from_pretrained(second)
    for text in (*NASTY.values(), "the [E1]cat", "The Cat"):
        assert twin.encode(text) == ours.encode(text)
        assert other(text)["input_ids"] == ours.encode(text).input_ids
    assert differences(second / "tokenizer.json", ["the [E1]cat [MASK] É", *NASTY.values()]) == []


def test_saving_leaves_no_older_tokenizer_that_would_be_read_instead(
    vocab_file: Path, tmp_path: Path
) -> None:
    saved_by_transformers(vocab_file, tmp_path)
    BertTokenizer(WORDS).save_pretrained(tmp_path)
    assert list(BertTokenizer.from_pretrained(tmp_path).vocab) == WORDS
    assert not (tmp_path / "tokenizer.json").exists()


# -- two files ------------------------------------------------------------------------------------

OTHER = [*WORDS[:5], "cat", "the", "##s", "more"]


def test_a_file_and_an_argument_that_are_given_count(tmp_path: Path) -> None:
    changed(tmp_path / "tokenizer.json")
    (tmp_path / "vocab.txt").write_text("\n".join(OTHER), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    assert list(BertTokenizer.from_pretrained(tmp_path / "vocab.txt").vocab) == OTHER
    assert BertTokenizer.from_pretrained(tmp_path, do_lower_case=True).do_lower_case


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["single", "pair"])
def test_another_template_is_refused(
    make_vocab: Callable[..., Path], tmp_path: Path, place: str
) -> None:
    saved_by_transformers(make_vocab(["the", "cat"]), tmp_path)
    path = tmp_path / "tokenizer.json"
    sound = path.read_text(encoding="utf-8")
    for part, value in (
        ("-1", GONE),
        ("-1.SpecialToken.type_id", 7),
        ("-1.SpecialToken.id", "[MASK]"),
        ("+", [{"Sequence": {"id": "A", "type_id": 0}}]),
    ):
        found = edited(json.loads(sound), {f"post_processor.{place}.{part}": value})
        path.write_text(json.dumps(found), encoding="utf-8")
        with pytest.raises(CheckpointError, match="post_processor is 'TemplateProcessing'"):
            BertTokenizer.from_pretrained(tmp_path)


HOSTILE = {
    "200 MB": (
        lambda path: (path.touch(), os.truncate(path, 200 * 2**20)),
        "209,715,200 bytes",
    ),
    "lists": (lambda path: path.write_bytes(b"[" + b"[]," * 9_000_000 + b"1]"), "about 18,000,001"),
    "numbers": (
        lambda path: path.write_bytes(b"[" + b"1," * 9_000_000 + b"1]"),
        "9,000,001 values",
    ),
    "a tower": (lambda path: path.write_bytes(b"[" * 1_000_000), "is not valid JSON"),
    "levels": (lambda path: path.write_bytes(b"[" * 500 + b"]" * 500), "nested more than 32"),
    "a list": (lambda path: path.write_bytes(b"[]"), "contains a list; expected a JSON object"),
    "a key twice": (lambda path: path.write_bytes(b'{"a": 1, "a": 2}'), "the same key twice"),
    "half a character": (lambda path: path.write_bytes(b'{"a": "\\ud800"}'), "half a character"),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe{}"), "is not valid JSON"),
    "a folder": (lambda path: path.mkdir(), "is not a regular file"),
    "a pipe": (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
}


@pytest.mark.parametrize(("write", "says"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused_in_bounded_memory(
    tmp_path: Path, write: Callable[[Path], Any], says: str
) -> None:
    write(tmp_path / "tokenizer.json")
    tracemalloc.start()
    try:
        with pytest.raises(BertError, match=says) as caught:
            BertTokenizer.from_pretrained(tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 70 * 2**20 and len(str(caught.value)) < 500
