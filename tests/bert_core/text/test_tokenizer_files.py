"""Vocabulary files, folders, and what is read off a name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import BertWordPieceTokenizer

from bert_core.errors import BertError, CheckpointError, InputError, MissingFileError
from bert_core.text.family import load_tokenizer
from bert_core.text.tokenizer import BertTokenizer

LINES = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\n##s\n"


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        LINES.rstrip("\n"),
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", " \t\n"),
        "\ufeff" + LINES,
        LINES + "\n\n\n",
    ],
    ids=["plain", "no last line end", "Windows", "blanks behind", "byte order mark", "empty lines"],
)
def test_vocabulary_files_of_many_editors(tmp_path: Path, text: str) -> None:
    tokenizer = BertTokenizer(written(tmp_path / "vocab.txt", text))
    assert list(tokenizer.vocab) == LINES.split()
    assert tokenizer.tokenize("the cats") == ["the", "cat", "##s"]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "a\u2028b", "a\x85b", "a\x0bb", "a\x1eb", "a\xa0b", "z"]
    path = written(tmp_path / "vocab.txt", "\n".join(pieces))
    assert list(BertTokenizer(path).vocab) == pieces
    assert BertTokenizer(path).vocab == BertWordPieceTokenizer.from_file(str(path)).get_vocab()


def test_an_empty_line_inside_keeps_its_id(tmp_path: Path) -> None:
    tokenizer = BertTokenizer(written(tmp_path / "vocab.txt", "[UNK]\n\n[CLS]\n[SEP]\nthe\n"))
    assert tokenizer.vocab["the"] == 4
    assert tokenizer.encode("the").input_ids == [2, 4, 3]


def test_of_equal_lines_the_last_counts_as_in_the_reference(tmp_path: Path) -> None:
    path = written(tmp_path / "vocab.txt", LINES + "the\ndog\n")
    ours, rust = BertTokenizer(path), BertWordPieceTokenizer.from_file(str(path))
    assert ours.encode("the dog").input_ids == rust.encode("the dog").ids
    assert ours.vocab["the"] == 8
    assert ours.convert_ids_to_tokens([5, 8]) == ["", "the"]
    assert len(ours) == 10


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected one piece per line"),
        (b"\n\n \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"[UNK]\n\xff\xfea\n", r"is not UTF-8 text \(byte 6 is 0xff\)"),
        ("[UNK]\nä".encode("utf-16"), "is not UTF-8"),
        (b"the\ncat\n", r"has 2 pieces but no \[UNK\]"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not UTF-8"),
    ],
)
def test_an_unusable_vocabulary_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path / "vocab.txt", content)
    with pytest.raises(CheckpointError, match=message):
        BertTokenizer(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.txt", tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no vocabulary file") as caught:
            BertTokenizer(path)
        assert isinstance(caught.value, MissingFileError)


def test_a_list_of_pieces_is_checked_like_a_file() -> None:
    assert BertTokenizer(["[UNK]", "cat"]).tokenize("cat dog") == ["cat", "[UNK]"]
    with pytest.raises(CheckpointError, match=r"list of pieces.* no \[UNK\]"):
        BertTokenizer(["vocab.txt"])


def test_the_vocabulary_is_saved_as_it_was(vocab_file: Path, tmp_path: Path) -> None:
    tokenizer = BertTokenizer(vocab_file)
    assert tokenizer.save_vocabulary(tmp_path) == str(tmp_path / "vocab.txt")
    assert tokenizer.save_vocabulary(tmp_path / "mine.txt") == str(tmp_path / "mine.txt")
    for name in ("vocab.txt", "mine.txt"):
        assert (tmp_path / name).read_bytes() == vocab_file.read_bytes()
    with pytest.raises(InputError, match="does not exist"):
        tokenizer.save_vocabulary(tmp_path / "no" / "such" / "folder.txt")


def test_a_saved_folder_gives_the_same_tokenizer(vocab_file: Path, tmp_path: Path) -> None:
    tokenizer = BertTokenizer(
        vocab_file, False, 77, strip_accents=True, tokenize_chinese_chars=False
    )
    vocabulary, options = tokenizer.save_pretrained(tmp_path / "deep" / "down")
    assert Path(vocabulary).name == "vocab.txt"
    assert Path(options).name == "tokenizer_config.json"
    files = {path.name: path.read_bytes() for path in Path(options).parent.iterdir()}
    assert files == tokenizer.saved_files()
    twin = BertTokenizer.from_pretrained(pretrained_model_name_or_path=tmp_path / "deep" / "down")
    assert (twin.do_lower_case, twin.max_len) == (False, 77)
    for text in ("Crème The [MASK] 中文", "a\u302e\u0344"):
        assert twin.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("lower", [True, False])
def test_transformers_opens_a_saved_folder(vocab_file: Path, tmp_path: Path, lower: bool) -> None:
    tokenizer = BertTokenizer(vocab_file, do_lower_case=lower, max_len=64)
    tokenizer.save_pretrained(tmp_path)
    peer: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    text = "The Cat's Crème brûlée, [MASK] 中文"
    assert peer(text)["input_ids"] == tokenizer.encode(text).input_ids
    assert peer.model_max_length == 64


def test_a_file_in_the_way_of_a_folder_is_refused(vocab_file: Path) -> None:
    with pytest.raises(InputError, match="is a file"):
        BertTokenizer(vocab_file).save_pretrained(vocab_file)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, options: Any = None) -> Path:
        place = tmp_path / name
        place.mkdir(parents=True)
        written(place / "vocab.txt", LINES)
        if options is not None:
            text = options if isinstance(options, str) else json.dumps(options)
            written(place / "tokenizer_config.json", text)
        return place

    return make


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        ("bert-base-uncased", True),
        ("bert-base-cased", False),
        ("BERT-Large-Cased-v2", False),
        ("multi_cased_L-12", False),
        ("uncased_L-4", True),
        ("my-model", True),
        ("models--google-bert--bert-base-cased/snapshots/cd5ef92a", False),
    ],
)
def test_lower_casing_is_read_off_the_name(
    folder: Callable[..., Path], name: str, lower: bool
) -> None:
    place = folder(name)
    for path in (place, str(place), place / "vocab.txt"):
        assert BertTokenizer.from_pretrained(path).do_lower_case is lower
        assert load_tokenizer(path).do_lower_case is lower


def test_the_configuration_wins_over_the_name_and_the_argument_over_both(
    folder: Callable[..., Path],
) -> None:
    place = folder("bert-base-cased", {"do_lower_case": True, "model_max_length": 512})
    assert BertTokenizer.from_pretrained(place).do_lower_case
    assert BertTokenizer.from_pretrained(place).max_len == 512
    assert BertTokenizer.from_pretrained(place / "vocab.txt").do_lower_case
    argued = BertTokenizer.from_pretrained(place, do_lower_case=False, max_len=9)
    assert (argued.do_lower_case, argued.max_len) == (False, 9)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no tokenizer in .*empty.*nothing.*vocab.txt"):
        BertTokenizer.from_pretrained(tmp_path / "empty")
    with pytest.raises(BertError):
        BertTokenizer.from_pretrained(tmp_path / "absent")
    with pytest.raises(TypeError, match="surprise"):
        BertTokenizer.from_pretrained(written(tmp_path / "vocab.txt", LINES), surprise=1)
