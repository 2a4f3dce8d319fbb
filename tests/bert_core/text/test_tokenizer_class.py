"""Which tokenizer a folder has: its `tokenizer_class` is obeyed, or refused by name."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import transformers

from bert_core import BertTokenizer, CheckpointError, FamilyTokenizer, load_tokenizer
from bert_core.errors import MissingFileError
from tests.bert_core.text.conftest import SPECIALS
from tests.bert_core.text.family_folders import configured, merges_folder, sentencepiece_folder

WORDS = [*SPECIALS, "the", "thé", "cat", "Cat", "##s", "日", "本", "日本"]
TEXTS = ["The cats", "日本 the Cat", "x [MASK] cat"]
CONFIGS = ("tokenizer_config.json", "config.json")
_REFUSED = """BertJapaneseTokenizer BertTokenizerLegacy KoBertTokenizer PhobertTokenizer
BertweetTokenizer HerbertTokenizerFast T5Tokenizer GPT2TokenizerFast bertTokenizer"""
REFUSED = _REFUSED.split()
_BERT_S = """BertTokenizer BertTokenizerFast DistilBertTokenizer DistilBertTokenizerFast
ElectraTokenizer ElectraTokenizerFast MobileBertTokenizerFast
ConvBertTokenizer SqueezeBertTokenizer LayoutLMTokenizerFast LxmertTokenizer"""
BERT_S = _BERT_S.split()


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A BERT's folder with a `vocab.txt`."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return configured(tmp_path, "bert", len(WORDS))


def tell(folder: Path, name: str, **values: Any) -> None:
    """Add values to a configuration of a folder."""
    path = folder / name
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**known, **values}), encoding="utf-8")


@pytest.mark.parametrize("place", CONFIGS)
@pytest.mark.parametrize("named", REFUSED)
def test_a_class_that_is_not_known_is_refused_by_name(named: str, place: str, words: Path) -> None:
    tell(words, place, tokenizer_class=named)
    for load in (load_tokenizer, BertTokenizer.from_pretrained):
        for name in (words, words / "vocab.txt"):
            with pytest.raises(CheckpointError, match=f"{place}: .*{named}.*Expected BertTok"):
                load(name)


def test_tokenizer_config_counts_before_config(words: Path) -> None:
    tell(words, "config.json", tokenizer_class="BertJapaneseTokenizer")
    tell(words, "tokenizer_config.json", tokenizer_class=None)
    with pytest.raises(CheckpointError, match="BertJapaneseTokenizer"):
        load_tokenizer(words)
    tell(words, "tokenizer_config.json", tokenizer_class="BertTokenizer")
    assert load_tokenizer(words).tokenize("the") == ["the"]
    tell(words, "config.json", tokenizer_class="BertTokenizer")
    tell(words, "tokenizer_config.json", tokenizer_class="BertJapaneseTokenizer")
    with pytest.raises(CheckpointError, match="BertJapaneseTokenizer"):
        load_tokenizer(words)


@pytest.mark.parametrize("place", CONFIGS)
@pytest.mark.parametrize("program", [{"AutoTokenizer": ["a.B", None]}, ["a.B", None]])
def test_a_program_in_place_of_a_class_is_refused(place: str, program: Any, words: Path) -> None:
    tell(words, place, auto_map={"AutoModel": "a.C"}, tokenizer_class="BertTokenizer")
    load_tokenizer(words)
    tell(words, place, auto_map=program)
    with pytest.raises(CheckpointError, match=r"auto_map.AutoTokenizer.*a\.B"):
        load_tokenizer(words)


@pytest.mark.parametrize("kind", ["mecab", "sudachi", "jumanpp", "basic"])
def test_options_of_a_japanese_tokenizer_are_refused_without_its_class(
    kind: str, words: Path
) -> None:
    tell(words, "tokenizer_config.json", word_tokenizer_type=kind)
    with pytest.raises(CheckpointError, match=f"word_tokenizer_type is '{kind}'"):
        load_tokenizer(words)


@pytest.mark.parametrize("named", BERT_S)
def test_other_names_of_bert_s_class_are_accepted(named: str, words: Path) -> None:
    tell(words, CONFIGS[BERT_S.index(named) % 2], tokenizer_class=named)
    ours, peer = load_tokenizer(words), transformers.AutoTokenizer.from_pretrained(words)
    for text in TEXTS:
        found, pair = ours.encode(text, "the"), peer(text, "the")
        assert found.input_ids == pair["input_ids"]
        assert found.token_type_ids == pair.get("token_type_ids", [0] * len(found))
        assert ours.encode(text).input_ids == peer(text)["input_ids"]


@pytest.mark.parametrize("named", ["PreTrainedTokenizerFast", "TokenizersBackend"])
def test_a_class_for_any_tokenizer_needs_its_document(named: str, words: Path) -> None:
    document = BertTokenizer.from_pretrained(words)
    tell(words, "tokenizer_config.json", tokenizer_class=named)
    for load in (load_tokenizer, BertTokenizer.from_pretrained):
        with pytest.raises(MissingFileError, match=r"found: vocab\.txt.*expected.*tokenizer\.json"):
            load(words)
    transformers.BertTokenizer.from_pretrained(words).save_pretrained(words / "whole")
    shutil.copy(words / "whole" / "tokenizer.json", words)
    assert load_tokenizer(words).encode(TEXTS[0]) == document.encode(TEXTS[0])


def test_a_document_counts_before_the_class(running_text: list[str], tmp_path: Path) -> None:
    """Multilingual MiniLM says BertTokenizer beside the `tokenizer.json` of XLM-RoBERTa."""
    sentencepiece_folder(tmp_path, "xlm-roberta", running_text)
    xlm = load_tokenizer(tmp_path)
    xlm.save_pretrained(tmp_path)
    configured(tmp_path, "bert", len(xlm), tokenizer_class="BertTokenizer")
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True}))
    ours = load_tokenizer(tmp_path)
    assert [ours.encode(text, "The") for text in running_text] == [
        xlm.encode(text, "The") for text in running_text
    ]
    assert (ours.mask_token, ours.do_lower_case) == ("<mask>", False)
    with pytest.raises(CheckpointError, match=r"'Unigram'; expected WordPiece.*load_tokenizer"):
        BertTokenizer.from_pretrained(tmp_path)


def test_without_a_class_the_family_s_own_files_count_first(
    running_text: list[str], words: Path
) -> None:
    merges_folder(words / "bpe", running_text, 500)
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(words / "bpe" / name, words)
    assert isinstance(load_tokenizer(words), BertTokenizer)
    configured(words, "roberta", 500)
    assert isinstance(load_tokenizer(words), FamilyTokenizer)
    configured(words, "albert", 500)
    assert isinstance(load_tokenizer(words), BertTokenizer)
    (words / "vocab.txt").unlink()
    assert isinstance(load_tokenizer(words), FamilyTokenizer)


def test_a_sentencepiece_file_beside_another_family_needs_its_class(
    running_text: list[str], tmp_path: Path
) -> None:
    for family in ("xlm-roberta", "camembert", "albert"):
        folder = sentencepiece_folder(tmp_path / family, family, running_text)
        own = load_tokenizer(folder)
        configured(folder, "electra", 2_000)
        if family == "albert":  # its file has every special token, so there is one reading
            assert load_tokenizer(folder).encode("the cat") == own.encode("the cat")
            continue
        with pytest.raises(CheckpointError, match="XLMRobertaTokenizer or CamembertTokenizer"):
            load_tokenizer(folder)


def test_pieces_of_sentencepiece_in_a_vocab_txt_are_refused(words: Path) -> None:
    pieces = [*SPECIALS, "\u2581the", "cat"]
    (words / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    with pytest.raises(CheckpointError, match="SentencePiece's; expected WordPiece"):
        load_tokenizer(words)


@pytest.mark.parametrize("told", [True, False, None])
@pytest.mark.parametrize("has", [True, False])
def test_roberta_s_option_counts_before_its_document(
    told: Any, has: bool, running_text: list[str], tmp_path: Path
) -> None:
    merges_folder(tmp_path, running_text, 500)
    peer: Any = transformers.RobertaTokenizer.from_pretrained(tmp_path, add_prefix_space=has)
    peer.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings.pop("add_prefix_space")
    settings |= {} if told is None else {"add_prefix_space": told}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    ours, peer = load_tokenizer(tmp_path), transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in ("the cat", " the", "x the"):
        found = peer(text, "the", return_offsets_mapping=True)
        assert ours.encode(text, "the").input_ids == found["input_ids"]
        assert ours.encode(text, "the").offsets == found["offset_mapping"]


@pytest.mark.parametrize("named", ["BertTokenizerFast", "TokenizersBackend"])
@pytest.mark.parametrize("has", [True, False])
@pytest.mark.parametrize(
    ("option", "switch"),
    [
        ("do_lower_case", "lowercase"),
        ("strip_accents", "strip_accents"),
        ("tokenize_chinese_chars", "handle_chinese_chars"),
    ],
)
def test_bert_s_options_and_document_are_read_as_by_transformers_or_refused_by_name(
    option: str, switch: str, has: bool, named: str, words: Path
) -> None:
    transformers.BertTokenizer.from_pretrained(words).save_pretrained(words)
    document = json.loads((words / "tokenizer.json").read_text(encoding="utf-8"))
    document["normalizer"][switch] = has
    (words / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    for settings in ({}, {option: True}, {option: False}, {"strip_accents": None}):
        told = json.dumps({"tokenizer_class": named, **settings})
        (words / "tokenizer_config.json").write_text(told, encoding="utf-8")
        if named == "BertTokenizerFast" and not has and option not in settings:
            with pytest.raises(CheckpointError, match=f"{option} is None; expected false"):
                load_tokenizer(words)
            continue
        ours, peer = load_tokenizer(words), transformers.AutoTokenizer.from_pretrained(words)
        for text in (*TEXTS, "thé Cat日本"):
            assert ours.encode(text).input_ids == peer(text)["input_ids"]


@pytest.mark.parametrize(("option", "value"), [("do_lower_case", False), ("keep_accents", True)])
def test_albert_s_options_that_contradict_its_document_are_refused(
    option: str, value: bool, running_text: list[str], tmp_path: Path
) -> None:
    sentencepiece_folder(tmp_path, "albert", running_text)
    load_tokenizer(tmp_path).save_pretrained(tmp_path)
    tell(tmp_path, "tokenizer_config.json", tokenizer_class="AlbertTokenizer")
    tell(tmp_path, "tokenizer_config.json", **{option: not value})
    load_tokenizer(tmp_path)
    tell(tmp_path, "tokenizer_config.json", **{option: value})
    with pytest.raises(CheckpointError, match=f"{option} is {value}; expected"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(("family", "values", "inputs", "ones"), [
    ("bert", {}, None, True),
    ("bert", {}, ["input_ids", "attention_mask"], False),
    ("bert", {"type_vocab_size": 1}, None, False),
    ("roberta", {"type_vocab_size": 1}, None, False),
    ("roberta", {"type_vocab_size": 2}, None, True),
    ("distilbert", {"type_vocab_size": 2}, None, False),
    ("electra", {}, ["input_ids", "token_type_ids", "attention_mask"], True),
])  # fmt: skip
@pytest.mark.parametrize("whole", [False, True])
def test_token_types_are_those_that_model_and_tokenizer_have(
    family: str, values: Any, inputs: Any, ones: bool, whole: bool, words: Path
) -> None:
    if whole:
        transformers.BertTokenizer.from_pretrained(words).save_pretrained(words)
        (words / "tokenizer_config.json").unlink()
    configured(words, family, len(WORDS), **values)
    if inputs:
        tell(words, "tokenizer_config.json", model_input_names=inputs)
    found = load_tokenizer(words).encode("the cat", "cat").token_type_ids
    assert found == [0, 0, 0, 0, int(ones), int(ones)]
