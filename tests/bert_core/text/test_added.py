"""Added tokens and the files that name them: ids and offsets equal those of `transformers`."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import transformers

from bert_core import BertTokenizer, CheckpointError
from bert_core.text.added import AddedToken
from bert_core.text.family import load_tokenizer
from tests.bert_core.text.conftest import FAMILIES, SPECIALS
from tests.bert_core.text.family_folders import configured, merges_folder

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789[]<>.,-_é中国"
PIECES = [*SPECIALS, "the", "cat", *LETTERS, *(f"##{each}" for each in (*LETTERS, "cat"))]
SIZE = len(PIECES)
FLAGS = ("lstrip", "rstrip", "single_word", "normalized")
TEXTS = [
    "the [E1] cat [/E1].",
    "[E1][E1]the[e1] [ E1 ]",
    "the <mask> cat<mask>, [MASK] [mask]",
    "Newword newwords, new-word new word, a newword.",
    "NÉWWORD néwword ne\u0301wword\u00a0NEWWORD\t newword\n",
    "中国 cat 中 国",
    " newword  [E1]  ",
    "[E1]",
    "",
    "a \ufeffnewword\u200d b [PAD] [UNK]",
]
Files = Mapping[str, Any]


def token(content: str, *flags: str, special: bool = False) -> dict[str, Any]:
    return {"content": content, "special": special, **{each: each in flags for each in FLAGS}}


def folder_of(place: Path, files: Files, room: int = SIZE + 20) -> Path:
    """Write a BERT's `vocab.txt` and other files, each by its name without `.json`."""
    place.mkdir(exist_ok=True)
    (place / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    configured(place, "bert", room)
    return written(place, files)


def written(place: Path, files: Files) -> Path:
    for name, content in files.items():
        (place / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return place


def moved(ours: Any, peer: Any, texts: list[str] = TEXTS) -> list[str]:
    """Name every text that the two read differently."""
    return [text for text in texts if lists(ours, text) != peer_lists(peer, text)]


def lists(ours: Any, text: str) -> tuple[Any, ...]:
    found, pair = ours.encode(text), ours.encode("the", text)
    trace = ours.trace(text)
    assert (
        trace.ids == found.input_ids[1:-1] == ours.encode_ids([text], add_special_tokens=False)[0]
    )
    assert trace.offsets == found.offsets[1:-1]
    assert found.tokens == ours.convert_ids_to_tokens(found.input_ids)
    assert ours([text, "the"], padding=True)["input_ids"][0][: len(found)] == found.input_ids
    decoded = spelled(ours.decode(found.input_ids, skip_special_tokens=False))
    return found.input_ids, found.offsets, found.word_ids, pair.input_ids, pair.offsets, decoded


def peer_lists(peer: Any, text: str) -> tuple[Any, ...]:
    found, pair = (peer(*each, return_offsets_mapping=True) for each in ((text,), ("the", text)))
    if not text:  # the peer takes an empty second text for none
        pair = {"input_ids": [*pair["input_ids"], peer.sep_token_id]}
        pair["offset_mapping"] = [
            *peer("the", return_offsets_mapping=True)["offset_mapping"],
            (0, 0),
        ]
    return (
        found["input_ids"],
        found["offset_mapping"],
        found.word_ids(),
        pair["input_ids"],
        pair["offset_mapping"],
        spelled(peer.decode(found["input_ids"])),
    )


def spelled(decoded: str) -> str:
    """A text without case and spaces: the peer writes added tokens as they are normalised."""
    return "".join(decoded.casefold().split())


NEW = SIZE  # the first id that the vocabulary does not have
E1, E2 = {"content": "[E1]", "lstrip": True, "special": True}, token("[/E1]", special=True)


def told(**settings: Any) -> Files:
    return {"tokenizer_config": settings}


def decoded(*tokens: Files, first: int = NEW, **settings: Any) -> Files:
    """A `tokenizer_config.json` that lists tokens with their ids, from `first` on."""
    rows = {str(first + n): each for n, each in enumerate(tokens)}
    return told(added_tokens_decoder=rows, **settings)


MARKERS = ["[E1]", "[/E1]"]
WORDS_FLAGS = [(), *((each,) for each in FLAGS), FLAGS, ("lstrip", "rstrip"), FLAGS[2:]]
OBEYED: dict[str, Files] = {
    "added words": {"added_tokens": {"newword": NEW, "new-word": NEW + 1}},
    "added words, cased": {
        "added_tokens": {"newword": NEW, "NEWWORD": NEW + 1},
        **told(do_lower_case=False),
    },
    "markers in two files": {
        "added_tokens": {"[E1]": NEW, "[/E1]": NEW + 1},
        "special_tokens_map": {"additional_special_tokens": MARKERS},
    },
    "markers in the settings": told(additional_special_tokens=MARKERS, do_lower_case=True),
    "markers under the new name": told(extra_special_tokens=MARKERS),
    "markers with names of their own": told(
        extra_special_tokens={"head_token": "[E1]", "tail_token": "[/E1]"}
    ),
    "a role of its own": told(entity_token="[E1]", bos_token="[CLS]"),
    "markers listed with their ids": told(
        added_tokens_decoder={
            **{str(n): token(each, special=True) for n, each in enumerate(SPECIALS)},
            str(NEW): {**E1, "normalized": False},
            str(NEW + 1): E2,
        }
    ),
    **{
        f"a word, {' '.join(flags) or 'plain'}": decoded(token("newword", *flags))
        for flags in WORDS_FLAGS
    },
    "words with spaces and Chinese ones": decoded(
        token("new word"), token("中国", "normalized"), token("cat<", "normalized", "rstrip")
    ),
    "a piece of the vocabulary": decoded(token("the"), token("cat", "normalized"), first=5),
    "another mask": told(mask_token="<mask>"),
    "another mask that takes spaces": {
        "special_tokens_map": {
            "mask_token": {"content": "<mask>", "lstrip": True, "normalized": False}
        }
    },
    "no mask": told(mask_token=None),
    "another mask that is a piece": told(mask_token="the", pad_token="[PAD]"),
    "other brackets": told(cls_token="<", sep_token=">", unk_token="the"),
    "settings that change nothing": told(
        never_split=["[MASK]"],
        wordpieces_prefix="##",
        clean_text=True,
        chat_template="{{ x }}",
        clean_up_tokenization_spaces=True,
        split_special_tokens=False,
        tokenizer_class="BertTokenizer",
        do_basic_tokenize=True,
    ),
    "accents kept, Chinese joined": {
        **told(strip_accents=False, tokenize_chinese_chars=False),
        "added_tokens": {"néwword": NEW, "中国": NEW + 1},
    },
}


@pytest.mark.parametrize("files", OBEYED.values(), ids=OBEYED.keys())
def test_the_files_of_a_folder_are_obeyed_as_by_transformers(files: Files, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "made", files)
    ours, peer = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    assert moved(ours, peer) == []
    assert len(ours) == len(peer)
    assert ours.mask_token == (peer.mask_token or "[MASK]")
    assert set(peer.all_special_ids) <= set(ours.special_ids.values())
    if peer.mask_token:
        assert ours.encode("a").special_id("[MASK]") == peer.mask_token_id
    # What both libraries save is read by both.
    peer.save_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    for name in ("theirs", "ours"):
        configured(tmp_path / name, "bert", SIZE + 20)
        again = load_tokenizer(tmp_path / name)
        assert moved(again, transformers.AutoTokenizer.from_pretrained(tmp_path / name)) == []
        if ours.do_lower_case or name == "ours":
            assert [again.encode(text) for text in TEXTS] == [ours.encode(text) for text in TEXTS]


def test_added_words_are_found_in_long_texts_pairs_and_windows(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, OBEYED["a word, normalized"])
    ours, peer = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    text = "the newwords 中国 cat, Néwword! " * 20
    assert moved(ours, peer, [text]) == []
    for pair, rule in ((None, "longest_first"), ("the", "only_first"), (text, "longest_first")):
        found = ours.encode(text, pair, max_length=30, truncation=rule)
        assert found.input_ids == peer(text, pair, max_length=30, truncation=rule)["input_ids"]
    windows = ours.encode_windows(text, max_length=20, stride=5)
    theirs = peer(
        text, max_length=20, stride=5, truncation=True, return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )  # fmt: skip
    assert [each.input_ids for each in windows] == theirs["input_ids"]
    assert [each.offsets for each in windows] == theirs["offset_mapping"]


@pytest.mark.parametrize("side", ["truncation", "padding"])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_texts_are_shortened_and_padded_at_the_side_that_the_files_name(
    family: str, side: str, tmp_path: Path, running_text: list[str]
) -> None:
    folder = folder_of(tmp_path, {}) if family == "bert" else merges_folder(tmp_path, running_text)
    written(folder, {"tokenizer_config": {f"{side}_side": "left"}})
    texts, others = ["the cat " * 9, "the cat"], ["a", "the " * 9]
    for _ in range(2):
        ours, peer = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
        options: Any = {"truncation": True, "max_length": 12, "padding": True}
        found, expected = ours(texts, others, **options), peer(texts, others, **options)
        assert found["input_ids"] == expected["input_ids"]
        assert found["attention_mask"] == expected["attention_mask"]
        ours.save_pretrained(folder)


# -- the relatives --------------------------------------------------------------------------------

RELATIVES: dict[str, Any] = {
    "added words": lambda new: {"added_tokens": {"newword": new, "new-word": new + 1}},
    "markers": lambda new: {
        "added_tokens": {"[E1]": new, "[/E1]": new + 1},
        "special_tokens_map": {"additional_special_tokens": MARKERS},
    },
    "markers in the settings": lambda _: told(additional_special_tokens=MARKERS),
    "another mask": lambda _: told(mask_token=token("<gap>", "lstrip") | {"__type": "AddedToken"}),
    **{
        f"a word, {' '.join(flags)}": lambda new, flags=flags: decoded(
            token("newword", *flags), token("[E1]", special=True), first=new
        )
        for flags in WORDS_FLAGS[:6]
    },
}


@pytest.mark.parametrize("make", RELATIVES.values(), ids=RELATIVES.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_relatives_obey_their_files_as_in_transformers(
    family: str, make: Any, files: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    shutil.copytree(files[family], folder)
    new = len(load_tokenizer(folder))
    configured(folder, family, new + 10)
    written(folder, make(new))
    ours, peer = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    # Without word from its files, this library's mask does not take the space before it.
    texts = [each.replace("[MASK]", "").replace(" <mask>", "<mask>") for each in TEXTS if each]
    assert moved(ours, peer, texts) == []
    assert len(ours) == len(peer)
    peer.save_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours")
    for name in ("theirs", "ours"):
        configured(tmp_path / name, family, new + 10)
        again = load_tokenizer(tmp_path / name)
        assert again.vocab == ours.vocab
        assert [again.encode(each) for each in texts] == [ours.encode(each) for each in texts]


# -- what is refused, and what is said ------------------------------------------------------------

REFUSED: list[tuple[Files, str]] = [
    ({"added_tokens": {"[E1]": NEW + 3}}, f"{NEW + 3:,}.*{NEW:,}"),
    (decoded(token("[E1]"), first=7), f"'\\[E1\\]' is 7; expected {NEW:,}"),
    ({"added_tokens": {"x1": NEW, "x2": NEW}}, f"{NEW:,}; expected {NEW + 1:,}"),
    ({"added_tokens": {"x1": "5"}}, "'5'"),
    ({"added_tokens": ["x1"]}, "list"),
    (told(added_tokens_decoder=[1]), "added_tokens_decoder"),
    (told(added_tokens_decoder={"x": {}}), "added_tokens_decoder"),
    (told(additional_special_tokens=[{}]), "special token"),
    (told(additional_special_tokens="[E1]"), "list of tokens"),
    (told(unk_token="<unk>"), "<unk>"),
    (told(wordpieces_prefix="@@"), "'@@'; expected '##'"),
    (told(clean_text=False), "clean_text is False"),
    (told(never_split=["cat"]), "never_split is 'cat'"),
    (told(split_special_tokens=True), "split_special_tokens is True"),
    ({"special_tokens_map": {"mask_token": 3}}, "mask_token is 3; expected a token"),
    (told(padding_side="up"), "padding_side is 'up'"),
]


@pytest.mark.parametrize(("files", "says"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_cannot_be_obeyed_is_refused_by_name(files: Files, says: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=says):
        load_tokenizer(folder_of(tmp_path, files))


def test_more_tokens_than_the_model_has_vectors_for_are_refused(tmp_path: Path) -> None:
    for name, files in OBEYED.items():
        ours = load_tokenizer(folder_of(tmp_path / name, files))
        folder_of(tmp_path / name, files, len(ours))
        load_tokenizer(tmp_path / name)
        folder_of(tmp_path / name, files, len(ours) - 1)
        with pytest.raises(CheckpointError, match=f"{len(ours):,}.*{len(ours) - 1:,}"):
            load_tokenizer(tmp_path / name)


def test_words_are_added_to_a_tokenizer_by_hand() -> None:
    pieces = [*PIECES, "newword", "<gap>"]
    added = [AddedToken("newword", normalized=True), AddedToken("<gap>", special=True, lstrip=True)]
    ours = BertTokenizer(pieces, added_tokens=added, mask_token="<gap>")
    assert ours.tokenize("the NewWords <gap>") == ["the", "newword", "s", "<gap>"]
    assert ours.mask_token_id == len(pieces) - 1
