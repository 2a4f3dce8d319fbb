"""The files in which tokenizers were first released, each described as a `tokenizer.json`.

BERT's WordPiece is in `vocab.txt`, RoBERTa's byte-level BPE in `vocab.json` with `merges.txt`, and
the Unigram models of XLM-RoBERTa, CamemBERT and ALBERT in a file of SentencePiece.
"""

import base64
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bert_core.checkpoints.sources.hub_names import MERGES as BPE_FILES
from bert_core.errors import CheckpointError, MissingFileError
from bert_core.small_files import read_small, shown
from bert_core.text.byte_level import SPACE
from bert_core.text.sentencepiece_file import read_sentencepiece
from bert_core.text.tokenizer_class import CONFIG_NAME, Layout
from bert_core.text.tokenizer_json import read_document, refuse
from bert_core.text.vocabulary import CONTINUATION, MAX_CHARS, entries, read_vocabulary

VOCABULARY, MERGES = BPE_FILES
_LARGEST = 32 * 1024 * 1024  # bytes
_DOWN = 100.0  # taken from a score so that a piece is never chosen
_COMMA = re.compile(r"\d,$")
_Part = dict[str, Any]


def describe(
    path: Path,
    layout: Layout,
    settings: Mapping[str, Any],
    roles: Mapping[str, str],
    *,
    lowercase: bool,
) -> _Part:
    """Describe a file, and what is beside it, as a `tokenizer.json` without added tokens.

    `lowercase` says whether BERT's tokenizer lower-cases if its settings do not say so.

    Raises:
        MissingFileError: a file is missing beside this one.
        CheckpointError: a file is damaged, is another family's, or has a setting not computed here.
    """
    parts: _Part = {"version": "1.0", "added_tokens": [], "normalizer": None}
    parts |= {"pre_tokenizer": None, "post_processor": None, "decoder": None}
    if layout.kind == "WordPiece":
        return parts | _from_vocabulary(path, roles["unk"], lowercase)
    if layout.kind == "BPE":
        return parts | _from_merges(path.parent, settings)
    return parts | _from_sentencepiece(path, layout, settings, roles)


def _from_vocabulary(path: Path, unknown: str, lowercase: bool) -> _Part:
    return {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": CONTINUATION,
            "max_input_chars_per_word": MAX_CHARS,
            "vocab": entries(read_vocabulary(path)),
        },
    }


def _from_merges(folder: Path, settings: Mapping[str, Any]) -> _Part:
    for name, other in ((VOCABULARY, MERGES), (MERGES, VOCABULARY)):
        if not os.path.exists(folder / name):
            raise MissingFileError(f"There is {other} in {folder}, but no {name}; both are needed.")
    path = folder / MERGES
    try:
        lines = read_small(path, _LARGEST).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} is not UTF-8 text (byte {error.start}).") from None
    lines = [line.removesuffix("\r") for line in lines]
    spaced = settings.get("add_prefix_space") is True
    bytes_ = {"type": "ByteLevel", "add_prefix_space": spaced, "trim_offsets": True}
    return {
        "pre_tokenizer": {**bytes_, "use_regex": True},
        "decoder": {**bytes_, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": read_document(folder / VOCABULARY),
            "merges": [line for line in lines if line and not line.startswith("#version")],
        },
    }


def _from_sentencepiece(
    path: Path, layout: Layout, settings: Mapping[str, Any], roles: Mapping[str, str]
) -> _Part:
    found = read_sentencepiece(path)
    options = settings.get("sp_model_kwargs") or {}
    for key in ("enable_sampling", "add_bos", "add_eos", "reverse"):
        if isinstance(options, dict) and options.get(key):
            refuse(str(path), f"sp_model_kwargs.{key} in {CONFIG_NAME}", options[key], "false")
    if settings.get("add_prefix_space") is False:
        refuse(str(path), f"add_prefix_space in {CONFIG_NAME}", False, "true, as published")
    own = roles.values()
    vocab = [
        (piece, score - _DOWN * (number in found.never and piece not in own))
        for number, (piece, score) in enumerate(found.pieces)
    ]
    unknown = found.unknown
    steps: list[_Part] = []
    if layout.dropped:
        replaced = [piece for piece, _ in found.pieces[:3]]
        if replaced != ["<unk>", "<s>", "</s>"]:
            refuse(str(path), "the beginning", replaced, "<unk>, <s>, </s>, as fairseq writes it")
        first = [(piece, -_DOWN if piece == "<unk>NOTUSED" else 0.0) for piece in layout.first]
        vocab = [*first, *vocab[layout.dropped :], (roles["mask"], 0.0)]
        unknown = layout.first.index("<unk>")
    else:
        # As for BERT, "5," is never one piece (google-research/albert, `encode_pieces`).
        vocab = [(piece, score - _DOWN * bool(_COMMA.search(piece))) for piece, score in vocab]
        steps = [
            {"type": "Replace", "pattern": {"String": quotes}, "content": '"'}
            for quotes in ("``", "''")
        ]
        if settings.get("keep_accents") is not True:
            steps += [{"type": "NFKD"}, {"type": "StripAccents"}]
        if settings.get("do_lower_case") is not False:
            steps += [{"type": "Lowercase"}]
    if found.charsmap:
        charsmap = base64.b64encode(found.charsmap).decode("ascii")
        steps += [{"type": "Precompiled", "precompiled_charsmap": charsmap}]
    every = not layout.dropped and settings.get("remove_space") is not False
    if not every and not found.rules.startswith("nmt_"):  # these make every kind of space one
        refuse(str(path), "normalizer_spec.name", found.rules, "a name that begins with nmt_")
    space = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
    return {
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, space],
        },
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": [*map(list, vocab)],
            "byte_fallback": False,
        },
    }


def frame(
    layout: Layout,
    roles: Mapping[str, str],
    known: Mapping[str, int],
    settings: Mapping[str, Any],
    name: str,
) -> _Part:
    """Describe what a layout puts around a text and around a pair of texts: a `post_processor`.

    Raises:
        CheckpointError: the vocabulary lacks such a token.
    """
    cls, sep = roles["cls"], roles["sep"]
    for token in (cls, sep):
        if token not in known:
            raise CheckpointError(
                f"{name} has no {shown(token)} among {len(known):,} pieces; every text needs it."
            )
    if layout.kind == "BPE":
        return {
            "type": "RobertaProcessing",
            "sep": [sep, known[sep]],
            "cls": [cls, known[cls]],
            "trim_offsets": True,
            "add_prefix_space": settings.get("add_prefix_space") is True,
        }
    second = 0 if layout.first else 1
    one = [
        {"SpecialToken": {"id": cls, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": sep, "type_id": 0}},
    ]
    two = [
        {"Sequence": {"id": "B", "type_id": second}},
        {"SpecialToken": {"id": sep, "type_id": second}},
    ]
    return {
        "type": "TemplateProcessing",
        "single": one,
        "pair": [*one, *(one[-1:] if layout.first else []), *two],
        "special_tokens": {
            token: {"id": token, "ids": [known[token]], "tokens": [token]} for token in (cls, sep)
        },
    }
