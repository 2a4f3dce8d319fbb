"""Shared by the tokenizer's tests: vocabularies of our own, and both tokenizers over them.

The peer is the Rust package `tokenizers` with its BERT pipeline, run in one thread.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tokenizers import BertWordPieceTokenizer

from benchmarks.texts import SENTENCES, english_lines, mixed_lines
from bert_core.text.tokenizer import BertTokenizer
from tests.bert_core.text.family_folders import (
    configured,
    merges_folder,
    published_roberta,
    published_unigram,
    sentencepiece_folder,
)

FAMILIES = ("roberta", "xlm-roberta", "camembert", "albert")
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_ENGLISH = """the of and in to was is cat sat mat river bank play running unhappy transform token
don won it we hello world time people year work number part water day"""
ENGLISH = _ENGLISH.split()
_ENDINGS = "##ing ##s ##ed ##er ##ly ##ness ##able ##ization ##t ##un ##a ##e ##i ##o ##n"
ENDINGS = _ENDINGS.split()


Changes = Mapping[str, Any]
GONE = object()


def edited(document: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """Change a JSON document in place by the paths of its parts, such as `model.vocab.cat`.

    GONE takes a part away, a function makes the new value of the old one, and `+` at the end
    of a path adds what is in a list to that list.
    """
    for path, value in changes.items():
        *way, last = [int(step) if step.lstrip("-").isdigit() else step for step in path.split(".")]
        place: Any = reduce(lambda part, step: part[step], way, document)
        if last == "+":
            place.extend(value)
        elif value is GONE:
            del place[last]
        else:
            place[last] = value(place[last]) if callable(value) else value
    return document


def wide_vocabulary() -> list[str]:
    """Pieces of very many scripts, with gaps, so that words are cut, known and unknown."""
    chooser = random.Random(3)
    pieces = dict.fromkeys([*SPECIALS, "[unused1]", *ENGLISH, *ENDINGS])
    points = [point for point in range(0x21, 0x3100) if point % 7 != 3]
    points += [chooser.randrange(0x3100, 0x30000) for _ in range(3_000)]
    points += [*range(0x11000, 0x11A00), *range(0x1D100, 0x1D200), *range(0x1E000, 0x1E960)]
    for point in points:
        char = chr(point)
        if not char.isspace() and not 0xD800 <= point <= 0xDFFF:
            pieces[char] = pieces[f"##{char}"] = None
    for word in " ".join(line for lines in SENTENCES.values() for line in lines).split():
        for form in (word, word.lower(), word.capitalize()):
            cut = chooser.randrange(1, len(form) + 1)
            pieces[form[:cut]] = pieces[f"##{form[cut:]}"] = None
    return [piece for piece in pieces if piece.strip() == piece and piece not in ("", "##")]


class Peers(NamedTuple):
    """Our tokenizer and the reference over the same vocabulary."""

    ours: Any
    rust: Any

    def differences(self, texts: Sequence[str]) -> list[str]:
        """Name every text that the two encode differently in any list."""
        return [
            text
            for text, peer in zip(texts, self.rust.encode_batch(list(texts)), strict=True)
            if lists_of(self.ours.encode(text)) != peer_lists_of(peer)
        ]

    def moved(self, texts: Sequence[str]) -> list[str]:
        """Name every text in which the two differ in ids or offsets; quicker."""
        batch = zip(texts, self.rust.encode_batch(list(texts)), strict=True)
        found = ((text, self.ours.encode(text), peer) for text, peer in batch)
        return [
            text
            for text, mine, peer in found
            if (mine.input_ids, mine.offsets) != (peer.ids, peer.offsets)
        ]


_LISTS = ["offsets", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids"]


def lists_of(encoding: Any) -> list[list[Any]]:
    """All lists of our encoding but the tokens: of unknown ones, some peers give characters."""
    return [getattr(encoding, name) for name in ("input_ids", "token_type_ids", *_LISTS)]


def peer_lists_of(encoding: Any) -> list[list[Any]]:
    """The same lists of the peer's."""
    return [getattr(encoding, name) for name in ("ids", "type_ids", *_LISTS)]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep the peer from starting threads."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TOKENIZERS_PARALLELISM", "false")
        yield


@pytest.fixture(scope="session")
def vocab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wide vocabulary as a file."""
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("".join(f"{piece}\n" for piece in wide_vocabulary()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def make_vocab(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], Path]:
    """Write a small vocabulary: BERT's special tokens and what is asked for."""

    def make(pieces: Sequence[str], specials: Sequence[str] = SPECIALS) -> Path:
        path = tmp_path_factory.mktemp("small") / "vocab.txt"
        lines = "".join(f"{piece}\n" for piece in [*specials, *pieces])
        path.write_text(lines, encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def uncased(vocab_file: Path) -> Peers:
    return Peers(BertTokenizer(vocab_file), BertWordPieceTokenizer(str(vocab_file)))


@pytest.fixture(scope="session")
def cased(vocab_file: Path) -> Peers:
    rust = BertWordPieceTokenizer(str(vocab_file), lowercase=False)
    return Peers(BertTokenizer(vocab_file, do_lower_case=False), rust)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, running_text: list[str]) -> dict[str, Path]:
    """A folder of each family with the files of its first release."""
    root = tmp_path_factory.mktemp("families")
    texts = running_text * 3
    found = {name: sentencepiece_folder(root / name, name, texts) for name in FAMILIES[1:]}
    return {"roberta": merges_folder(root / "roberta", texts), **found}


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, files: dict[str, Path]) -> dict[str, Path]:
    """A folder of each family with a `tokenizer.json` as published."""
    root = tmp_path_factory.mktemp("published")
    for family, source in files.items():
        (root / family).mkdir()
        bpe = family == "roberta"
        rust = published_roberta(source) if bpe else published_unigram(source, family)
        rust.save(str(root / family / "tokenizer.json"))
        configured(root / family, family, rust.get_vocab_size())
    return {family: root / family for family in files}


@pytest.fixture(params=["uncased", "cased"])
def peers(request: pytest.FixtureRequest) -> Peers:
    """Both casings, one after the other."""
    found: Peers = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def running_text() -> list[str]:
    """Sentences and composed lines in many scripts."""
    sentences = [line for lines in SENTENCES.values() for line in lines]
    return [*sentences, *mixed_lines(280), *english_lines(ENGLISH * 20, 50)]


BLOCKS = [start for start in range(0, 0x110000, 128) if not 0xD800 <= start <= 0xDFFF]
# Where something is assigned; most of the rest is empty planes.
BUSY_BLOCKS = [start for start in BLOCKS if start < 0x32000 or 0xE0000 <= start < 0xE0200]
MARKS = [chr(p) for p in (*range(0x300, 0x370), *range(0x591, 0x5BE), 0x3099, 0x1DC0, 0x20D0)]
# Marks that stay when accents are dropped, and are moved by canonical ordering all the same.
MOVING = [chr(p) for p in (0x302E, 0x302F, 0x1D165, 0x1D16D, 0x8D4, 0x1E000, 0x1B44, 0x11C3F)]
DECOMPOSED = [chr(p) for p in (0x344, 0xF73, 0x1E9B, 0x1EAD, 0x226E, 0xDDD, 0x1D15F, 0xFB2C)]
SPECIAL_LIKE = [
    *SPECIALS,
    "[MASK",
    "MASK]",
    "[mask]",
    "[unused1]",
    "##",
    "[[MASK]]",
    "[M\u200dASK]",
]
_WORDS = """the of hello running Unbelievable İstanbul straße STRASSE ﬁne ǅungla ΣΑΣ ﷺ don't U.S.A.
x1y2 ŉ ẞ ΐ ᾳ ﬃ Å Å ½ ㎏ 한국 가각 ก็ हिन्दी עִבְרִית"""
WORDS = _WORDS.split()
_INVISIBLE = """200b 200d 200e 202e feff 0 7 85 b c fffd ad 2028 2029 a0 3000 9 a d e000 f0000
e0041 fe0f fe0e 180e 1680 61c fff9 1f 1c 7f 2060"""
INVISIBLE = _INVISIBLE.split()
EMOJI = ["👩\u200d👩\u200d👧", "🏳️\u200d🌈", "👍🏽", "🇩🇪", "1️⃣", "🏴\U000e0067\U000e007f"]
ASCII = list("abcXYZ.,!?0123-_'\"/@#$%^&*()[]{}<>`~|\\+=:;")


def strange_text(chooser: random.Random) -> str:
    """Mix characters of one block, of all blocks, marks, controls, emoji, words and specials."""
    home = chooser.choice(BUSY_BLOCKS)
    kinds: list[Callable[[], str]] = [
        lambda: chr(home + chooser.randrange(128)),
        lambda: chr(chooser.choice(BUSY_BLOCKS) + chooser.randrange(128)),
        lambda: chr(chooser.choice(BLOCKS) + chooser.randrange(128)),
        lambda: chooser.choice(MARKS),
        lambda: chooser.choice(MOVING),
        lambda: chooser.choice(DECOMPOSED),
        lambda: chr(int(chooser.choice(INVISIBLE), 16)),
        lambda: chooser.choice(SPECIAL_LIKE),
        lambda: chooser.choice(WORDS),
        lambda: " ",
        lambda: chooser.choice(EMOJI),
        lambda: chooser.choice(ASCII),
    ]
    picked = chooser.choices(kinds, weights=(24, 12, 6, 8, 6, 5, 8, 5, 8, 9, 3, 6), k=20)
    text = "".join(kind() for kind in picked[: chooser.randrange(1, 21)])
    return "".join(char for char in text if not "\ud800" <= char <= "\udfff")


@pytest.fixture(scope="session")
def strange_texts() -> list[str]:
    """Five thousand different random texts over all Unicode blocks."""
    chooser = random.Random(2026)
    found: dict[str, None] = {}
    while len(found) < 5_000:
        found[strange_text(chooser)] = None
    return list(found)
