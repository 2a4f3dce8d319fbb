"""BERT's tokenizer: text to ids, and from every id back to the characters it came from.

Read in this order: `normalizer` (what happens to characters), `wordpiece` (words to pieces),
`tokenizer_words` (a stretch of text to tokens, with a memory), `encoding` (what comes out), then
this module, which puts them together. `trace` shows the same steps one by one.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from bert_core.errors import InputError
from bert_core.text.basic import NEVER_SPLIT, BasicTokenizer, check_surrogates, check_text
from bert_core.text.batches import BatchOptions, encode_dictionary, listed, paired
from bert_core.text.encoding import Encoding, Frame, Segment
from bert_core.text.files import find_tokenizer, save_tokenizer
from bert_core.text.trace import Trace, trace_text
from bert_core.text.truncation import kept_lengths, window_bounds
from bert_core.text.vocabulary import Vocabulary, path_of, read_vocabulary
from bert_core.text.wordpiece import WordpieceTokenizer
from bert_core.text.words import LONGEST, ChunkCache

__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]


class BertTokenizer(Vocabulary):
    """Text to WordPiece tokens, exact in ids and offsets.

    One tokenizer serves many threads.

    Args:
        vocab_file: path of a vocabulary, one piece per line.
        do_lower_case: lower-case the text and drop accents ("uncased" models).
        max_len: the longest input of the model, for calls that ask for truncation without
            saying where; None for no limit.
        do_basic_tokenize: clean the text and cut at punctuation; if False, words are what stands
            between blanks, and nothing is changed in them.
        never_split: tokens looked for in the text before anything else; none may hold a blank.
        strip_accents: drop accents; None means as `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word.

    Raises:
        MissingFileError: there is no such file.
        CheckpointError: the vocabulary is empty, not UTF-8, or lacks [UNK].
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        max_len: int | None = None,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = NEVER_SPLIT,
        *,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
    ) -> None:
        super().__init__(read_vocabulary(path_of(vocab_file)))
        self.do_lower_case = do_lower_case
        self.do_basic_tokenize = do_basic_tokenize
        self.max_len = max_len
        self.strip_accents = strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.never_split = tuple(listed(never_split or ()))
        # The five names of BERT are special only where the vocabulary has them.
        specials = [t for t in self.never_split if t in self.vocab or t not in NEVER_SPLIT]
        self.basic_tokenizer = BasicTokenizer(
            do_lower_case,
            specials,
            strip_accents=strip_accents,
            tokenize_chinese_chars=tokenize_chinese_chars,
        )
        self.wordpiece_tokenizer = WordpieceTokenizer(self.vocab, self.unk_token)
        self.normalizer = self.basic_tokenizer.normalizer
        self._chunks = ChunkCache(
            self.wordpiece_tokenizer,
            self.vocab,
            self.normalizer if do_basic_tokenize else None,
            specials,
        )
        self._chunk_of = self._chunks.__getitem__

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode a text or a pair of texts as the model reads it.

        Args:
            text: the first text.
            text_pair: the second text, if there are two.
            max_length: the most tokens of the whole input, [CLS] and [SEP] included; None cuts
                nothing.
            truncation: "longest_first", "only_first" or "only_second".

        Raises:
            InputError: a text is not a string or holds half a surrogate pair, or the rule
                cannot bring the input down to `max_length`.
        """
        first = self._segment(text)
        second = None if text_pair is None else self._segment(text_pair)
        if max_length is None:
            return Encoding(self._frame, first, second)
        return self._shortened(first, second, max_length, truncation)

    def encode_batch(
        self,
        texts: Iterable[str],
        pairs: Iterable[str] | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> list[Encoding]:
        """Encode many texts, or many pairs of texts; see `encode`.

        Raises:
            InputError: as `encode`, or texts and pairs differ in number.
        """
        return [
            self.encode(text, pair, max_length=max_length, truncation=truncation)
            for text, pair in paired(texts, pairs)
        ]

    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Encode many texts and return their ids alone; the fast road for training.

        Args:
            texts: single texts.
            add_special_tokens: put [CLS] and [SEP] around each.

        Raises:
            InputError: a text is not a string or holds half a surrogate pair.
        """
        segments = map(self._segment, listed(texts))
        if not add_special_tokens:
            return [segment.ids for segment in segments]
        opening, closing = [self._frame.cls_id], [self._frame.sep_id]
        return [opening + segment.ids + closing for segment in segments]

    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text that is longer than the model as several overlapping inputs.

        Args:
            text: the text to cut; of a pair it is the one that is repeated whole.
            text_pair: the second text; if there is one, it alone is cut.
            max_length: the most tokens of each input, [CLS] and [SEP] included.
            stride: how many tokens of the text neighbours share.

        Returns:
            One input at least, in the order of the text. Offsets and word numbers count from the
            start of the whole text.

        Raises:
            InputError: as `encode`, or there is no room to move forward.
        """
        first = self._segment(text)
        if text_pair is None:
            bounds = window_bounds(len(first), size=max_length - 2, stride=stride)
            return [Encoding(self._frame, first.cut(*bound)) for bound in bounds]
        second = self._segment(text_pair)
        bounds = window_bounds(len(second), size=max_length - 3 - len(first), stride=stride)
        return [Encoding(self._frame, first, second.cut(*bound)) for bound in bounds]

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without [CLS] and [SEP].

        Raises:
            InputError: `text` is not a string or holds half a surrogate pair.
        """
        return [self._pieces[number] for number in self._segment(text).ids]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens.

        Raises:
            InputError: `text` is not a string or holds half a surrogate pair.
        """
        return trace_text(self, text)

    def __call__(
        self,
        texts: str | Sequence[str],
        pairs: str | Sequence[str] | None = None,
        *,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
    ) -> dict[str, Any]:
        """Encode a text or many into the dictionary that a model's `forward` takes.

        Args:
            texts: one text, or many.
            pairs: the second texts, as many as `texts`.
            padding: False, True or "longest" (to the longest of the batch), or "max_length".
            truncation: False, True (longest first), or the name of a rule; see `encode`.
            max_length: the most tokens; None means the tokenizer's `max_len`.
            return_tensors: None for lists, "pt" for PyTorch, "np" for NumPy.

        Returns:
            `input_ids`, `token_type_ids` and `attention_mask`, each (B, T) as lists or tensors; for
            one text and no tensors, (T,).

        Raises:
            InputError: an option is unknown, rows of different lengths
                cannot be a tensor, or as `encode`.
        """
        options = BatchOptions(padding, truncation, max_length, return_tensors)
        return encode_dictionary(self, texts, pairs, options)

    def save_pretrained(self, folder: str | os.PathLike[str]) -> tuple[str, str]:
        """Write `vocab.txt` and `tokenizer_config.json` into a folder, made if it is missing.

        Returns:
            The paths of the two files.
        """
        return save_tokenizer(self, path_of(folder))

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str],
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> "BertTokenizer":
        """Load the tokenizer of a folder, of a named model, or of a vocabulary file.

        Lower-casing is what `do_lower_case=` says, else what `tokenizer_config.json` says, else off
        where the name holds "cased" without "un", else on.

        Args:
            name_or_path: what `Class.from_pretrained` of a model takes, or a vocabulary file.
            cache_dir: where downloads are kept.
            **kwargs: arguments of `BertTokenizer`; `revision` names a version of a source.

        Raises:
            MissingFileError: nothing of that name, or no vocabulary in it.
            CheckpointError: the vocabulary or the configuration beside it cannot be used.
        """
        revision = kwargs.pop("revision", None)
        vocab_file, options = find_tokenizer(name_or_path, cache_dir=cache_dir, revision=revision)
        return cls(vocab_file, **{**options, **kwargs})

    @cached_property
    def _frame(self) -> Frame:
        return Frame(self.cls_token_id, self.sep_token_id, self._pieces)

    def special_tokens_in(self, text: str) -> list[re.Match[str]]:
        """Find the special tokens that are written in a text, in order."""
        pattern = self._chunks.specials
        return [] if pattern is None else list(pattern.finditer(text))

    def _segment(self, text: str) -> Segment:
        """Tokenize one text: no rule looks across U+0020, so what stands between goes alone."""
        try:
            stretches = text.split(" ")
            if text.isascii() or max(map(len, stretches)) <= LONGEST:
                return Segment(text, list(map(self._chunk_of, stretches)))
            # Too long to be remembered whole, as in scripts without blanks.
            if (parts := self._chunks.parts_of(text)) is not None:
                return Segment(text, list(map(self._chunk_of, parts)), gap=0)
            return Segment(text, list(map(self._chunk_of, stretches)))
        except (InputError, AttributeError, TypeError):
            check_surrogates(check_text(text))  # says what is wrong, and where
            raise

    def _shortened(
        self, first: Segment, second: Segment | None, max_length: int, truncation: str
    ) -> Encoding:
        tokens = len(first), None if second is None else len(second)
        kept, kept_second = kept_lengths(*tokens, max_length=max_length, truncation=truncation)
        if (kept, kept_second) == (tokens[0], tokens[1] or 0):
            return Encoding(self._frame, first, second)
        truncated = tokens[0] - kept + (tokens[1] or 0) - kept_second
        short = None if second is None else second.cut(0, kept_second)
        return Encoding(self._frame, first.cut(0, kept), short, truncated)
