"""Small tokenizers of each family, trained here, in the files that are published for them."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tokenizers import (
    AddedToken,
    ByteLevelBPETokenizer,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from bert_core import BertConfig, BertForPreTraining, FamilyTokenizer, load_tokenizer
from bert_core.text.sentencepiece_file import read_sentencepiece

ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
TYPES = {"roberta": 1, "xlm-roberta": 1, "camembert": 1, "albert": 2}
SPACE = "\u2581"


def configured(folder: Path, family: str, size: int, **changes: Any) -> Path:
    """Write the `config.json` of a model of this family."""
    config = {"model_type": family, "vocab_size": size, "type_vocab_size": TYPES.get(family, 2)}
    (folder / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
    return folder


def merges_folder(folder: Path, texts: Sequence[str], size: int = 1200) -> Path:
    """A RoBERTa's `vocab.json` and `merges.txt`."""
    folder.mkdir(exist_ok=True)
    trained: Any = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=size, special_tokens=ROBERTA, show_progress=False)
    trained.save_model(str(folder))
    return configured(folder, "roberta", size)


def sentencepiece_folder(
    folder: Path, family: str, texts: Sequence[str], size: int = 1000, **changes: Any
) -> Path:
    """The SentencePiece file of an XLM-RoBERTa, a CamemBERT or an ALBERT."""
    folder.mkdir(exist_ok=True)
    own = {"control_symbols": "[CLS],[SEP],[MASK]", "bos_id": -1, "eos_id": -1}
    own |= {"pad_id": 0, "unk_id": 1}
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        vocab_size=size,
        minloglevel=2,
        **{
            "model_type": "unigram",
            "hard_vocab_limit": False,
            "character_coverage": 0.999,
            **changes,
        },
        **(own if family == "albert" else {}),
    )
    name = "spiece.model" if family == "albert" else "sentencepiece.bpe.model"
    (folder / name).write_bytes(written.getvalue())
    return configured(folder, family, size + 10)


def published_roberta(source: Path) -> Tokenizer:
    """The pipeline of roberta-base's `tokenizer.json`, over `vocab.json` and `merges.txt`."""
    model: Any = models.BPE.from_file(str(source / "vocab.json"), str(source / "merges.txt"))
    rust: Any = Tokenizer(model)
    rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rust.decoder = decoders.ByteLevel()
    rust.post_processor = processors.RobertaProcessing(
        ("</s>", rust.token_to_id("</s>")), ("<s>", rust.token_to_id("<s>")), add_prefix_space=False
    )
    normal = [AddedToken(token, special=True, normalized=True) for token in ROBERTA[:-1]]
    rust.add_special_tokens([*normal, AddedToken("<mask>", special=True, lstrip=True)])
    return rust


def published_unigram(source: Path, family: str, **options: bool) -> Tokenizer:
    """The pipeline of a published `tokenizer.json`, over a SentencePiece file."""
    found = read_sentencepiece(next(source.glob("*.model")))
    makers = {"xlm-roberta": _xlm_roberta, "camembert": _camembert, "albert": _albert}
    rust: Any = makers[family](found, **options)
    rust.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    rust.decoder = decoders.Metaspace()
    return rust


def _xlm_roberta(found: Any) -> Tokenizer:
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    return _fairseq([*vocab, *found.pieces[3:], ("<mask>", 0.0)], found)


def _camembert(found: Any) -> Tokenizer:
    vocab = [("<s>NOTUSED", 0.0), ("<pad>", 0.0), ("</s>NOTUSED", 0.0), ("<unk>", 0.0)]
    vocab = [*vocab, ("<unk>NOTUSED", -100.0), *found.pieces[1:], ("<mask>", 0.0)]
    return _fairseq(vocab, found)


def _fairseq(vocab: list[tuple[str, float]], found: Any) -> Tokenizer:
    rust: Any = Tokenizer(models.Unigram(vocab, unk_id=3))
    rust.normalizer = normalizers.Precompiled(found.charsmap)
    rust.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(token, rust.token_to_id(token)) for token in ("<s>", "</s>")],
    )
    rust.add_special_tokens([*ROBERTA[:-1], AddedToken("<mask>", special=True, lstrip=True)])
    return rust


def _albert(found: Any, *, lower: bool = True, strip: bool = True) -> Tokenizer:
    vocab = [
        (piece, score - 100 if piece[-1:] == "," and piece[-2:-1].isdigit() else score)
        for piece, score in found.pieces
    ]
    rust: Any = Tokenizer(models.Unigram(vocab, unk_id=1))
    steps: list[Any] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    steps += [normalizers.NFKD(), normalizers.StripAccents()] if strip else []
    steps += [normalizers.Lowercase()] if lower else []
    steps += [normalizers.Precompiled(found.charsmap), normalizers.Replace(Regex(" {2,}"), " ")]
    rust.normalizer = normalizers.Sequence(steps)
    rust.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(token, rust.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]"]
    rust.add_special_tokens([*special, AddedToken("[MASK]", special=True, lstrip=True)])
    return rust


def with_weights(folder: Path) -> Path:
    """Give the folder of a tokenizer a tiny BERT with random weights."""
    tokenizer = load_tokenizer(folder)
    assert isinstance(tokenizer, FamilyTokenizer)
    torch.manual_seed(7)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = BertConfig(
        len(tokenizer), intermediate_size=37, max_position_embeddings=48, initializer_range=0.3,
        **size,
    )  # fmt: skip
    BertForPreTraining(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
