"""`load_tokenizer` for every family, and `FamilyTokenizer` for those that do not use WordPiece.

Byte-level BPE and Unigram are computed by the library `tokenizers` (in Rust); `replay` repeats the
steps for display. Truncation and padding are settings of a Rust tokenizer that every thread would
share, so a text is encoded whole, and cut here.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from tokenizers import Tokenizer

from bert_core.checkpoints.sources.resolve import given_name
from bert_core.errors import CheckpointError, InputError
from bert_core.small_files import shown
from bert_core.text.batches import TextTokenizer, as_file, check_text
from bert_core.text.byte_level import SPACE, as_text
from bert_core.text.encoding import Part, Slot, Span, Template
from bert_core.text.replay import Replay, Token
from bert_core.text.stored import WORDPIECE, TokenizerFiles, read_tokenizer
from bert_core.text.tokenizer import BertTokenizer
from bert_core.text.tokenizer_class import ANY_CLASS, CONFIG_NAME
from bert_core.text.tokenizer_json import TOKENIZER_NAME, Place, frame_of, in_words
from bert_core.text.trace import Trace


def load_tokenizer(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
) -> "BertTokenizer | FamilyTokenizer":
    """Load the tokenizer of a checkpoint of any implemented family.

    It takes anything a model's `from_pretrained` accepts, or a file of a tokenizer in the folder of
    its model, and gives a `BertTokenizer` for WordPiece (most of BERT, DistilBERT, ELECTRA), else a
    `FamilyTokenizer`.

    Raises:
        MissingFileError: the name or path does not exist, or has no tokenizer of its class.
        CheckpointError: a file cannot be used, or has ids that the model has no vectors for.
        ConfigError: the family is not implemented.
    """
    return from_pretrained(name_or_path, cache_dir, revision=revision)


def from_pretrained(
    name_or_path: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> "BertTokenizer | FamilyTokenizer":
    """Load a tokenizer of any family, with the arguments of `BertTokenizer.from_pretrained`.

    Raises:
        InputError: an option is given that the family's tokenizer does not have.
    """
    name = given_name(name_or_path, kwargs)
    files = read_tokenizer(name, cache_dir, kwargs.pop("revision", None))
    if files.kind == WORDPIECE:
        return BertTokenizer.of(files, **kwargs)
    if kwargs:
        raise InputError(
            f"The tokenizer of {shown(name)} has no option {', '.join(sorted(kwargs))}."
        )
    return FamilyTokenizer(files)


class FamilyTokenizer(TextTokenizer):
    """A tokenizer as RoBERTa, XLM-RoBERTa, CamemBERT or ALBERT have it. Thread-safe.

    It has the methods of `BertTokenizer` and gives the same `Encoding`.

    Attributes:
        kind: "BPE" or "Unigram".
        ranks: BPE: pair of symbols -> number of its merge, from 0; {} for Unigram.
        scores: Unigram: piece -> log-probability; {} for BPE.

    Raises:
        CheckpointError: `tokenizers` cannot use the files.
    """

    def __init__(self, files: TokenizerFiles) -> None:
        super().__init__(files.pieces)
        self.kind = files.kind
        self.ranks, self.scores = files.ranks, files.scores
        self.max_len = files.max_len
        special = (*files.roles.values(), *(each.content for each in files.added if each.special))
        self.special_tokens = tuple(dict.fromkeys(each for each in special if each in self.vocab))
        self.unk_token, self.sep_token = files.roles["unk"], files.roles["sep"]
        self.pad_token, self.cls_token = files.roles["pad"], files.roles["cls"]
        self.mask_token = files.roles["mask"]
        self.never_split = tuple(each["content"] for each in files.document["added_tokens"])
        self.do_lower_case = '"Lowercase"' in json.dumps(files.document.get("normalizer"))
        self.truncation_side, self.padding_side = files.sides
        self._files = files
        cuts = json.dumps(files.document.get("pre_tokenizer"))
        self._with_spaces = self.kind == "Unigram" and '"WhitespaceSplit"' not in cuts
        self._processor, (single, pair) = frame_of(files.document["post_processor"])
        with in_words():
            self._rust = Tokenizer.from_str(
                json.dumps({**files.document, "post_processor": None}, ensure_ascii=False)
            )
            actual = self._rust.get_vocab()
        if actual != self.vocab:
            raise CheckpointError(
                f"The tokenizer has {len(actual):,} pieces and ids in the library `tokenizers`, "
                f"which are not the {len(self.vocab):,} of its file. Fetch the file again."
            )
        self._templates = self._template(single), self._template(pair)

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> "FamilyTokenizer":
        """Load one as `load_tokenizer` does (InputError: it is BERT's, or an option is unknown)."""
        found = from_pretrained(name_or_path, cache_dir, **kwargs)
        if not isinstance(found, FamilyTokenizer):
            raise InputError(
                f"{shown(name_or_path)} has a WordPiece tokenizer. Use `load_tokenizer`."
            )
        return found

    @property
    def templates(self) -> tuple[Template, Template]:
        """What is put around one text, and around two."""
        return self._templates

    def part(self, text: str) -> Part:
        """Return the tokens of one text, without those that `encode` puts around it."""
        return next(self.parts([text]))

    def parts(self, texts: Sequence[str]) -> Iterator[Part]:
        """Return what `part` does for each of several texts."""
        for text, found in zip(texts, self._encoded(texts), strict=True):
            yield Part(text, found.ids, self._spans(text, found), found.word_ids)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each of several texts, without added tokens."""
        return [found.ids for found in self._encoded(texts)]

    def readable(self, token: str) -> str:
        """Return a token as people read it: bytes as letters, and "▁" for a space before it."""
        return as_text(token) if self.kind == "BPE" else token

    def begins_word(self, token: str) -> bool:
        """Return whether a token stands apart from what is before it, or continues it."""
        return self.readable(token).startswith(SPACE)

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens, in `BpeWord` or `UnigramWord`.

        `cleaned` and `stripped` are the text: these tokenizers normalise in one step.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        [found] = self._encoded([text])
        special = {self.vocab[token] for token in self.never_split}
        tokens = [
            Token(word or 0, content, self._pieces[number], number, span, number in special)
            for word, content, number, span in zip(
                found.word_ids, found.tokens, found.ids, self._spans(text, found), strict=True
            )
        ]
        with in_words():
            return self._replay.trace(text, tokens, self._rust.normalizer)

    @cached_property
    def _replay(self) -> Replay:
        return Replay(self.ranks, self.scores, self.unk_token)

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Turn ids back into text (InputError: an id is outside the vocabulary)."""
        numbers = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        self.convert_ids_to_tokens(numbers)  # checks them
        with in_words():
            return self._rust.decode(numbers, skip_special_tokens=skip_special_tokens)

    def saved_files(self) -> dict[str, bytes]:
        """Return the files that `save_pretrained` writes, by name, without touching the disk."""
        types = ["token_type_ids"] * (len({slot.token_type for slot in self._templates[1]}) > 1)
        roles = {f"{role}_token": token for role, token in self._files.roles.items()}
        inputs = ["input_ids", *types, "attention_mask"]
        # The document says everything, so any class will do.
        settings = self.settings(ANY_CLASS, model_input_names=inputs, **roles)
        return {TOKENIZER_NAME: as_file(self._files.document), CONFIG_NAME: settings}

    def _spans(self, text: str, found: Any) -> list[Span]:
        """Return the offsets of tokens, without the spaces that pieces begin with."""
        if not self._with_spaces:
            spans: list[Span] = found.offsets
            return spans
        return [(end - len(text[start:end].lstrip()), end) for start, end in found.offsets]

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        checked = [*map(check_text, texts)]
        with in_words():
            found: list[Any] = self._rust.encode_batch(checked, add_special_tokens=False)
            if self._processor is None:
                return found
            return [self._processor.process(each, None, False) for each in found]

    def _template(self, places: list[Place]) -> Template:
        """Return the template that the places of the tokens around "A", or "A" and "B", show."""
        texts = [text for _, _, text, _ in places if text is not None]
        if texts not in ([0], [0, 1]) or any(
            text is None and self.vocab.get(token) != number for number, token, text, _ in places
        ):
            raise CheckpointError(
                f"The post_processor makes {' '.join(token for _, token, *_ in places)} of the "
                "texts A and B; expected each once, in order, among tokens of the vocabulary."
            )
        typed = self._files.token_types > 1
        return tuple(
            Slot(number if text is None else -1, text, kind if typed else 0)
            for number, _, text, kind in places
        )
