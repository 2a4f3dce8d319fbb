"""Settings of SentencePiece's files are computed as `sentencepiece` does, or refused by name."""

import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from bert_core import CheckpointError
from bert_core.text.family import load_tokenizer
from tests.bert_core.text.family_folders import sentencepiece_folder

COMPUTED: dict[str, dict[str, Any]] = {
    "as published": {},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf"},
    "symbols of the user": {"user_defined_symbols": ["(", "-", "<sep>", "th", "ab"]},
    "symbols for control": {"control_symbols": ["<ctrl>", "the"]},
    "digits": {"split_digits": True},
}
# What the trainer is told, or a field that is changed in its file; its name, and what is expected.
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "bpe": ({"model_type": "bpe"}, "model_type", "unigram"),
    "char": ({"model_type": "char"}, "model_type", "unigram"),
    "word": ({"model_type": "word"}, "model_type", "unigram"),
    "bytes": ({"byte_fallback": True}, "byte_fallback", "False"),
    "suffix": ({"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix", "False"),
    "spaces": ({}, "normalizer_spec.escape_whitespaces", "True"),
    "no space before the text": ({"add_dummy_prefix": False}, "add_dummy_prefix", "True"),
    "spaces kept": ({"remove_extra_whitespaces": False}, "remove_extra_whitespaces", "True"),
    "several words": ({"split_by_whitespace": False}, "split_by_whitespace", "True"),
    "no normalizer": ({"normalization_rule_name": "identity"}, "name", "a name that begins"),
    "folded": ({"user_defined_symbols": ["a", "１２"]}, "user_defined_symbols", r"\[\]"),
    "decoding": ({}, "denormalizer_spec.precompiled_charsmap", "False"),
}
TEXTS = [
    "the cat sat on the mat",
    "  two  spaces   and more ",
    "a\ttab and\na line",
    "The CAT and Ünïcödé ﬁ ㎏ １２",
    "a(b)-c <sep>x<sep> th abab<ctrl>the",
    "不明 的 cat",
    "",
    "   ",
    "x",
]


def trained(folder: Path, family: str, texts: list[str], options: dict[str, Any]) -> Any:
    """Train a model of this family with these settings; return SentencePiece over its file."""
    texts = [text for text in texts if text.isascii()]
    sentencepiece_folder(folder, family, [*texts, *TEXTS] * 3, 500, **options)
    return sentencepiece.SentencePieceProcessor(model_file=str(next(folder.glob("*.model"))))


def strange(seed: int, alphabet: str) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=30))


@pytest.mark.parametrize("setting", COMPUTED)
@pytest.mark.parametrize("family", ["xlm-roberta", "camembert"])
def test_pieces_are_those_of_sentencepiece(
    family: str, setting: str, running_text: list[str], tmp_path: Path
) -> None:
    peer = trained(tmp_path, family, running_text, COMPUTED[setting])
    ours = load_tokenizer(tmp_path)
    asked = [
        *TEXTS,
        *running_text[:100],
        *(strange(seed, "abct he  (-<sep>15,.A\t不") for seed in range(300)),
    ]
    for text in asked:
        found = ours.encode(text)
        pieces = [
            piece if peer.piece_to_id(piece) != peer.unk_id() else "<unk>"
            for piece in peer.encode(text, out_type=str)
        ]
        assert found.tokens[1:-1] == pieces, text
        words = ours.trace(text).words
        assert [piece for word in words for piece in word.pieces] == pieces
        shown = [text[start:end] for start, end in found.offsets[1:-1]]
        assert all(part == part.strip(" ") for part in shown)
    for text in TEXTS[:2]:
        assert ours.decode(ours.encode(text).input_ids) == peer.decode(peer.encode(text))
        assert load_tokenizer(saved(ours, tmp_path)).encode(text) == ours.encode(text)


def saved(ours: Any, folder: Path) -> Path:
    ours.save_pretrained(folder / "saved")
    return folder / "saved"


@pytest.mark.parametrize("case", REFUSED)
def test_a_setting_that_is_not_computed_is_refused(
    case: str, running_text: list[str], tmp_path: Path
) -> None:
    options, name, expected = REFUSED[case]
    trained(tmp_path, "xlm-roberta", running_text, options)
    *parts, field = name.split(".")
    if parts:
        path, proto = tmp_path / "sentencepiece.bpe.model", sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(path.read_bytes())
        setattr(getattr(proto, parts[0]), field, b"x" if expected == "False" else False)
        path.write_bytes(proto.SerializeToString())
    with pytest.raises(CheckpointError, match=f"{field}.* expected {expected}"):
        load_tokenizer(tmp_path)


def albert(folder: Path, texts: list[str], options: dict[str, Any]) -> Any:
    """An ALBERT with these options, beside its first release's code over SentencePiece."""
    peer = trained(folder, "albert", texts, {})
    (folder / "tokenizer_config.json").write_text(json.dumps(options), encoding="utf-8")

    def pieces(text: str) -> list[str]:
        if options.get("remove_space") is not False:
            text = " ".join(text.split())
        text = text.replace("``", '"').replace("''", '"')
        if not options.get("keep_accents"):
            kept = unicodedata.normalize("NFKD", text)
            text = "".join(char for char in kept if not unicodedata.combining(char))
        text = text if options.get("do_lower_case") is False else text.lower()
        found = peer.encode(text, out_type=str)
        return [piece if peer.piece_to_id(piece) != peer.unk_id() else "<unk>" for piece in found]

    return pieces


@pytest.mark.parametrize("options", [{}, {"remove_space": False}, {"do_lower_case": False},
    {"keep_accents": True, "do_lower_case": False, "remove_space": False}])  # fmt: skip
def test_albert_s_own_options_are_computed_before(
    options: dict[str, Any], running_text: list[str], tmp_path: Path
) -> None:
    pieces = albert(tmp_path, running_text, options)
    ours = load_tokenizer(tmp_path)
    asked = [*TEXTS, "``Été''", *(strange(seed, "abct hTE  .A\té") for seed in range(200))]
    for text in asked:
        assert ours.encode(text).tokens[1:-1] == pieces(text), text


@pytest.mark.parametrize(("option", "named"), [
    ({"sp_model_kwargs": {"enable_sampling": True, "alpha": 0.1}}, "enable_sampling"),
    ({"sp_model_kwargs": {"reverse": True}}, "reverse"),
    ({"add_prefix_space": False}, "add_prefix_space"),
])  # fmt: skip
def test_an_option_that_is_not_computed_is_refused(
    option: dict[str, Any], named: str, running_text: list[str], tmp_path: Path
) -> None:
    trained(tmp_path, "xlm-roberta", running_text, {})
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"sp_model_kwargs": {}}), encoding="utf-8")
    load_tokenizer(tmp_path)
    path.write_text(json.dumps(option), encoding="utf-8")
    with pytest.raises(CheckpointError, match=named):
        load_tokenizer(tmp_path)
