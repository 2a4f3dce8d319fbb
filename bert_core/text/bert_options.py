"""What a `BertTokenizer` is made of, its files, and its equal in Rust for many texts at once."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, Self

from tokenizers import AddedToken as RustToken
from tokenizers import Tokenizer, decoders
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from bert_core.checkpoints.sources.resolve import given_name
from bert_core.text.added import AddedToken, as_entry
from bert_core.text.batches import TextTokenizer, as_file, check_text, listed_texts
from bert_core.text.encoding import Part
from bert_core.text.stored import ROLES, WORDPIECE, TokenizerFiles, read_tokenizer
from bert_core.text.tokenizer_class import CONFIG_NAME
from bert_core.text.tokenizer_json import SWITCHES, TOKENIZER_NAME
from bert_core.text.vocabulary import (
    SPECIAL_TOKENS,
    VOCABULARY_NAME,
    as_line,
    check_vocabulary,
    entries,
    path_of,
    read_vocabulary,
)

NEVER_SPLIT = SPECIAL_TOKENS


class BertOptions(TextTokenizer):
    """The options of a `BertTokenizer`.

    Args:
        vocab_file: path of a vocabulary, one piece per line; or the list of its pieces.
        do_lower_case: lower-case the text and drop accents ("uncased" models).
        max_len: longest input of the model in tokens, for calls that do not give `max_length`.
        do_basic_tokenize: normalise the text and split at punctuation; else only at whitespace.
        never_split: tokens to find in the text, as typed, before anything else.
        strip_accents: drop accents; None follows `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        added_tokens: tokens to find before anything else, each in its own way; those that the
            vocabulary lacks get the ids after it.
        token_types: of the model; with fewer than 2, a second text has type 0, too.

    Raises:
        MissingFileError: the file does not exist.
        CheckpointError: the vocabulary is empty, not UTF-8, or has no `unk_token`.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | list[str],
        do_lower_case: bool = True,
        max_len: int | None = None,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = NEVER_SPLIT,
        *,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        added_tokens: Iterable[AddedToken] = (),
        unk_token: str = "[UNK]",
        sep_token: str = "[SEP]",
        pad_token: str = "[PAD]",
        cls_token: str = "[CLS]",
        mask_token: str = "[MASK]",
        token_types: int = 2,
    ) -> None:
        if isinstance(vocab_file, list):
            pieces, source = list(vocab_file), "that is a list of pieces"
        else:
            pieces, source = read_vocabulary(path_of(vocab_file)), str(vocab_file)
        check_vocabulary(pieces, source, unk_token)
        added, own = tuple(added_tokens), entries(pieces)
        super().__init__(pieces, [each.content for each in added if each.content not in own])
        self.unk_token, self.sep_token, self.pad_token = unk_token, sep_token, pad_token
        self.cls_token, self.mask_token = cls_token, mask_token
        self.do_lower_case, self.max_len = do_lower_case, max_len
        self.do_basic_tokenize, self.token_types = do_basic_tokenize, token_types
        self.strip_accents, self.tokenize_chinese_chars = strip_accents, tokenize_chinese_chars
        roles = (unk_token, sep_token, pad_token, cls_token, mask_token)
        never = roles if never_split == NEVER_SPLIT else listed_texts(never_split or ())
        # A special token counts only if the vocabulary has it.
        typed = [AddedToken(t, t in roles) for t in never if t in self.vocab or t not in roles]
        found = {each.content: each for each in reversed((*added, *typed)) if each.content}
        self.added_tokens = tuple(reversed(found.values()))
        self.never_split = tuple(each.content for each in self.added_tokens)
        special = (each.content for each in self.added_tokens if each.special)
        self.special_tokens = tuple(dict.fromkeys((*roles, *special)))

    def parts(self, texts: Sequence[str]) -> Iterator[Part]:
        """Return what `part` does for each of several texts; for many of them faster."""
        if len(texts) < 2 or self._rust is None:
            yield from map(self.part, texts)
            return
        found = self._rust.encode_batch([*map(check_text, texts)], add_special_tokens=False)
        for text, each in zip(texts, found, strict=True):
            yield Part(text, each.ids, each.offsets, each.word_ids)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each of several texts, without [CLS] and [SEP]."""
        if len(texts) < 2 or self._rust is None:
            return [self.part(text).ids for text in texts]
        found = self._rust.encode_batch_fast([*map(check_text, texts)], add_special_tokens=False)
        return [each.ids for each in found]

    @cached_property
    def _rust(self) -> Tokenizer | None:
        """The same tokenizer in `tokenizers`; None for one that this library does not have."""
        rust = self._without_added()
        rust.add_tokens([RustToken(**asdict(each)) for each in self.added_tokens])
        return rust if self.do_basic_tokenize and rust.get_vocab() == self.vocab else None

    def _without_added(self) -> Tokenizer:
        rust = Tokenizer(WordPiece(entries(self.own_pieces), unk_token=self.unk_token))
        rust.normalizer = BertNormalizer(
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.do_lower_case,
        )
        rust.pre_tokenizer = BertPreTokenizer()
        rust.decoder = decoders.WordPiece()
        return rust

    def saved_files(self) -> dict[str, bytes]:
        """Return the files that `save_pretrained` writes, by name, without touching the disk."""
        options: dict[str, Any] = {
            "do_lower_case": self.do_lower_case,
            "do_basic_tokenize": self.do_basic_tokenize,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
        }
        if self.token_types < 2:
            options["model_input_names"] = ["input_ids", "attention_mask"]
        names = {role: getattr(self, f"{role}_token") for role in ROLES}
        for role, token in names.items():
            void = token in self.vocab and token not in self.never_split
            options[f"{role}_token"] = None if void else token
        usual = {AddedToken(token, special=True) for token in names.values()}  # need not be listed
        added = [each for each in self.added_tokens if each.content in self.vocab]
        listed = not set(self.added_tokens) <= usual
        numbers = dict(sorted((self.vocab[each.content], each) for each in added))
        if listed:
            options["added_tokens_decoder"] = {
                str(number): {k: v for k, v in as_entry(each, number).items() if k != "id"}
                for number, each in numbers.items()
            }
        pieces = self.own_pieces
        files = {
            VOCABULARY_NAME: "".join(f"{piece}\n" for piece in pieces).encode(),
            CONFIG_NAME: self.settings("BertTokenizer", **options),
        }
        plain = not listed and [*map(as_line, pieces)] == pieces
        framed = {self.cls_token, self.sep_token} <= self.vocab.keys()
        if not plain and framed and self.do_basic_tokenize:
            rust = self._without_added()
            sep, cls = ((token, self.vocab[token]) for token in (self.sep_token, self.cls_token))
            rust.post_processor = BertProcessing(sep, cls)
            document = json.loads(rust.to_str())
            document["added_tokens"] = [as_entry(each, n) for n, each in numbers.items()]
            files[TOKENIZER_NAME] = as_file(document)
        return files

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Load a tokenizer as a model's `from_pretrained` does, or from a vocabulary file.

        `do_lower_case` is the keyword argument if given, else what the files say (see `stored`),
        else False if the name contains "cased" but not "uncased", else True. Further arguments are
        those of `BertTokenizer`, and `revision`.

        Raises:
            MissingFileError: the name or path does not exist or contains no vocabulary.
            CheckpointError: a file of the tokenizer cannot be used.
        """
        name, revision = given_name(name_or_path, kwargs), kwargs.pop("revision", None)
        return cls.of(read_tokenizer(name, cache_dir, revision, kind=WORDPIECE), **kwargs)

    @classmethod
    def of(cls, files: TokenizerFiles, **kwargs: Any) -> Self:
        """Make a tokenizer of its files; `kwargs` are arguments of `BertTokenizer`."""
        normalizer = files.document["normalizer"]
        options = {
            **{option: normalizer[key] for option, key in SWITCHES.items()},
            **{f"{role}_token": files.roles[role] for role in ROLES},
            "do_basic_tokenize": files.basic,
            "max_len": files.max_len,
            "never_split": (),
            "added_tokens": files.added,
            "token_types": files.token_types,
        }
        tokenizer = cls(files.own_pieces, **{**options, **kwargs})
        tokenizer.truncation_side, tokenizer.padding_side = files.sides
        return tokenizer
