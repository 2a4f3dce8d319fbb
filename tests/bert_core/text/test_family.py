"""Families' tokenizers: the files of their first releases, their options, threads, saving."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer

from bert_core import InputError
from bert_core.text.family import FamilyTokenizer, load_tokenizer
from tests.bert_core.text.conftest import FAMILIES, Peers
from tests.bert_core.text.family_folders import configured, published_unigram
from tests.bert_core.text.test_tokenizer_parity import NASTY, SPECIAL

CLASSES = {
    "roberta": transformers.RobertaTokenizer,
    "xlm-roberta": transformers.XLMRobertaTokenizer,
    "camembert": transformers.CamembertTokenizer,
    "albert": transformers.AlbertTokenizer,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_first_files_and_tokenizer_json_give_the_same(
    family: str, files: dict[str, Path], published: dict[str, Path], strange_texts: list[str]
) -> None:
    ours, other = load_tokenizer(files[family]), load_tokenizer(published[family])
    assert ours.vocab == other.vocab
    for text in (*NASTY.values(), *SPECIAL, *strange_texts[:150]):
        assert ours.encode(text, "the mat") == other.encode(text, "the mat")


@pytest.mark.parametrize("family", FAMILIES)
def test_first_files_and_what_transformers_saves_give_what_it_gives(
    family: str, files: dict[str, Path], tmp_path: Path, running_text: list[str]
) -> None:
    peer: Any = CLASSES[family].from_pretrained(files[family])
    peer.save_pretrained(tmp_path)
    first, saved = load_tokenizer(files[family]), load_tokenizer(tmp_path)  # the class is named
    for text in (*NASTY.values(), *SPECIAL, *running_text):
        found = peer(text, "the mat", return_offsets_mapping=True)
        # This class's mask does not take the space before it, the published one does.
        for ours in (saved, *([first] if "mask" not in text.lower() else [])):
            encoding = ours.encode(text, "the mat")
            assert encoding.input_ids == found["input_ids"], text
            assert encoding.offsets == found["offset_mapping"], text
    configured(tmp_path, family, len(peer))
    assert isinstance(load_tokenizer(tmp_path), FamilyTokenizer)


def test_albert_keeps_case_and_accents_where_its_files_say_so(
    files: dict[str, Path], tmp_path: Path, strange_texts: list[str]
) -> None:
    shutil.copy(files["albert"] / "spiece.model", tmp_path)
    configured(tmp_path, "albert", 2000)
    options = {"do_lower_case": False, "keep_accents": True, "model_max_length": 77}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf-8")
    ours: Any = load_tokenizer(tmp_path)
    assert (ours.do_lower_case, ours.max_len) == (False, 77)
    peers = Peers(ours, published_unigram(tmp_path, "albert", lower=False, strip=False))
    assert peers.differences(["Été ÉTÉ", *strange_texts[:150]]) == []
    assert load_tokenizer(files["albert"]).do_lower_case


def test_the_ids_of_fairseq(files: dict[str, Path]) -> None:
    xlm: Any = load_tokenizer(files["xlm-roberta"])
    assert [xlm.vocab[token] for token in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert xlm.mask_token_id == len(xlm) - 1
    camembert: Any = load_tokenizer(files["camembert"])
    assert (camembert.pad_token_id, camembert.vocab["<unk>"]) == (1, 3)
    assert (camembert.cls_token_id, camembert.sep_token_id) == (5, 6)


def test_a_space_before_the_text_where_the_files_say_so(
    files: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(files["roberta"], tmp_path, dirs_exist_ok=True)
    (tmp_path / "tokenizer_config.json").write_text('{"add_prefix_space": true}', encoding="utf-8")
    peer: Any = transformers.RobertaTokenizer.from_pretrained(tmp_path)
    for text in ("the cat", " the", "", "👍🏽"):
        found = peer(text, "x the", return_offsets_mapping=True)
        ours = load_tokenizer(tmp_path).encode(text, "x the")
        assert (ours.input_ids, ours.offsets) == (found["input_ids"], found["offset_mapping"])


def test_token_types_are_zeros_where_the_model_has_none(
    published: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copy(published["albert"] / "tokenizer.json", tmp_path)
    for types in (1, 2):
        configured(tmp_path, "albert", 2000, type_vocab_size=types)
        assert max(load_tokenizer(tmp_path).encode("the cat", "sat").token_type_ids) == types - 1


def test_a_text_that_is_none_is_refused(files: dict[str, Path]) -> None:
    ours = load_tokenizer(files["albert"])
    for text, says in (("a\ud83d", "surrogate pair"), (7, "Expected a text")):
        with pytest.raises(InputError, match=says):
            ours.encode(text)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=says):
            ours.encode_batch(["a", text])  # type: ignore[list-item]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_saved_opens_here_and_in_transformers(
    family: str, files: dict[str, Path], tmp_path: Path, running_text: list[str]
) -> None:
    ours: Any = load_tokenizer(files[family])
    ours.max_len = 123
    paths = ours.save_pretrained(tmp_path)
    assert [Path(path).name for path in paths] == ["tokenizer.json", "tokenizer_config.json"]
    again: Any = load_tokenizer(tmp_path)
    assert (again.vocab, again.max_len) == (ours.vocab, 123)
    assert again.special_ids == ours.special_ids
    configured(tmp_path, family, len(ours))
    peer: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert peer.model_max_length == 123 and peer.mask_token == ours.mask_token
    for text in (*SPECIAL, *running_text[:100]):
        assert again.encode(text, "x") == ours.encode(text, "x")
        if "NOTUSED" not in text:  # this class finds them in the text, wherever its files come from
            assert peer(text, "x")["input_ids"] == ours.encode(text, "x").input_ids
    assert Tokenizer.from_file(ours.save_vocabulary(tmp_path)).get_vocab() == ours.vocab


def test_a_file_by_itself_is_opened_with_what_is_beside_it(files: dict[str, Path]) -> None:
    for family, name in (("albert", "spiece.model"), ("roberta", "merges.txt")):
        whole = load_tokenizer(files[family])
        assert load_tokenizer(files[family] / name).encode("the") == whole.encode("the")
        assert FamilyTokenizer.from_pretrained(files[family]).vocab == whole.vocab
