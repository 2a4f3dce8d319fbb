"""`BertTokenizer`: text to token ids, with the position of every token in the text.

Read in this order: `normalizer` (characters), `wordpiece` (words to pieces), `packed` (tokens as
bytes, for speed), `words` (a chunk of text to tokens, with a cache), `encoding` (the result), then
this module, which combines them: one text, batches of texts, and a tokenizer's files. `trace` shows
the same steps one by one.
"""

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from bert_core.checkpoints.sources.resolve import given_name
from bert_core.errors import InputError
from bert_core.text.added import AddedToken, AddedTokens, as_entry
from bert_core.text.basic import NEVER_SPLIT, BasicTokenizer, check_surrogates, check_text
from bert_core.text.batches import TextTokenizer, listed_texts
from bert_core.text.encoding import Encoding, Frame, Segment, kept_lengths, window_bounds
from bert_core.text.normalizer import Normalizer
from bert_core.text.packed import (
    ADJACENT,
    SPACED,
    Token,
    beginning,
    count_of,
    cut,
    ids_of,
    pack,
    pack_added,
    tokens_of,
)
from bert_core.text.stored import find_tokenizer
from bert_core.text.tokenizer_class import CONFIG_NAME
from bert_core.text.tokenizer_json import TOKENIZER_NAME, WordPieceFile, document_of
from bert_core.text.trace import Trace, trace_text
from bert_core.text.vocabulary import (
    VOCABULARY_NAME,
    as_line,
    check_vocabulary,
    entries,
    path_of,
    read_vocabulary,
)
from bert_core.text.wordpiece import MAX_CHARS, WordpieceTokenizer
from bert_core.text.words import LONGEST, ChunkCache, WordCache

__all__ = ["BasicTokenizer", "BertTokenizer", "WordpieceTokenizer"]


class BertTokenizer(TextTokenizer):
    """BERT's WordPiece tokenizer; ids and offsets match the reference exactly. Thread-safe.

    Args:
        vocab_file: path of a vocabulary, one piece per line; or the list of its pieces.
        do_lower_case: lower-case the text and drop accents ("uncased" models).
        max_len: longest input of the model in tokens, used when a call asks for truncation or
            padding without giving `max_length`; None for no limit.
        do_basic_tokenize: normalise the text and split at punctuation; if False, words are
            whitespace-separated and unchanged.
        never_split: tokens to find in the text, as typed, before anything else.
        strip_accents: drop accents; None follows `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        clean_text: remove control characters.
        max_input_chars_per_word: longer words become [UNK].
        added_tokens: tokens to find in the text before anything else; unlike `never_split`, each
            says how, and those that the vocabulary lacks get the ids after it.
        unk_token: the piece for unknown words.
        sep_token: the piece after each text.
        pad_token: the piece that fills short inputs.
        cls_token: the piece before the first text.
        mask_token: the piece that hides a word.
        token_types: number of token types of the model; with fewer than 2 (DistilBERT has none),
            `token_type_ids` are zeros for a second text, too.

    Attributes:
        contradictions: sentences on files that say different things, and which of them counts; see
            `stored`. () if they agree.

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
        clean_text: bool = True,
        max_input_chars_per_word: int = MAX_CHARS,
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
        added_tokens, known = tuple(added_tokens), set(pieces)
        lacking = (each.content for each in added_tokens if each.content not in known)
        super().__init__(pieces, dict.fromkeys(lacking))
        self.unk_token, self.sep_token, self.pad_token = unk_token, sep_token, pad_token
        self.cls_token, self.mask_token = cls_token, mask_token
        self.do_lower_case = do_lower_case
        self.do_basic_tokenize = do_basic_tokenize
        self.max_len = max_len
        self.strip_accents = strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.clean_text = clean_text
        self.token_types = token_types
        self.contradictions: tuple[str, ...] = ()
        roles = (unk_token, sep_token, pad_token, cls_token, mask_token)
        self.added_tokens = self._found_first(roles, never_split, added_tokens)
        self.never_split = tuple(each.content for each in self.added_tokens)
        special = (each.content for each in self.added_tokens if each.special)
        self.special_tokens = tuple(dict.fromkeys((*roles, *special)))
        self.basic_tokenizer = BasicTokenizer(
            do_lower_case,
            self.never_split,
            strip_accents=strip_accents,
            tokenize_chinese_chars=tokenize_chinese_chars,
            clean_text=clean_text,
        )
        own = entries(pieces)
        self.wordpiece_tokenizer = WordpieceTokenizer(own, unk_token, max_input_chars_per_word)
        self.normalizer = self.basic_tokenizer.normalizer
        self._chunks = ChunkCache(
            self.wordpiece_tokenizer,
            own,
            self.normalizer if do_basic_tokenize else None,
            self.never_split,
        )
        self._chunk_of = self._chunks.__getitem__
        # Chunks know only pieces of the vocabulary, found wherever their characters are.
        self._in_chunks = all(
            each.plain and each.content in own and len(each.content) <= max_input_chars_per_word
            for each in self.added_tokens
        )

    def _found_first(
        self,
        roles: Sequence[str],
        never_split: Iterable[str] | None,
        added: Iterable[AddedToken],
    ) -> tuple[AddedToken, ...]:
        """Return the tokens that are found in a text before anything else, each once."""
        never = roles if never_split == NEVER_SPLIT else listed_texts(never_split or ())
        # A special token counts only if the vocabulary has it.
        plain = [AddedToken(t, t in roles) for t in never if t in self.vocab or t not in roles]
        found = {each.content: each for each in reversed((*added, *plain)) if each.content}
        return tuple(reversed(found.values()))

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Encode a text or a pair of texts as input for the model.

        Args:
            text: the first text.
            text_pair: the second text, or None for a single text.
            max_length: truncate the whole input, including [CLS] and [SEP], to this many tokens;
                None for no truncation.
            truncation: "longest_first", "only_first" or "only_second"; see `kept_lengths`.

        Raises:
            InputError: a text is not a string or contains a lone surrogate, or the rule cannot
                shorten the input to `max_length`.
        """
        first = text, self._packed(text)
        second = None if text_pair is None else (text_pair, self._packed(text_pair))
        if max_length is None:
            return Encoding(self._frame, first, second)
        return self._shortened(first, second, max_length, truncation)

    def encode_ids(
        self, texts: Iterable[str], *, add_special_tokens: bool = True
    ) -> list[list[int]]:
        """Return only the ids of several texts; faster than `encode_batch`, for training.

        Raises:
            InputError: a text is not a string or contains a lone surrogate.
        """
        packed = map(self._packed, listed_texts(texts))
        if not add_special_tokens:
            return list(map(ids_of, packed))
        opening, closing = [self.cls_token_id], [self.sep_token_id]
        return [opening + ids_of(each) + closing for each in packed]

    def encode_windows(
        self, text: str, text_pair: str | None = None, *, max_length: int, stride: int
    ) -> list[Encoding]:
        """Encode a text too long for the model as several overlapping inputs (windows).

        Args:
            text: the text to split into windows; with `text_pair`, it is instead repeated whole
                in every window.
            text_pair: the second text; if given, only this one is split.
            max_length: largest number of tokens per window, including [CLS] and [SEP].
            stride: number of tokens that neighbouring windows share.

        Returns:
            At least one encoding, in text order. Offsets and word ids count from the start of the
            whole text.

        Raises:
            InputError: as for `encode`, or `max_length` leaves no room to move forward.
        """
        first = self._packed(text)
        if text_pair is None:
            bounds = window_bounds(count_of(first), size=max_length - 2, stride=stride)
            return [Encoding(self._frame, (text, part)) for part in cut(first, bounds)]
        second = self._packed(text_pair)
        room = max_length - 3 - count_of(first)
        bounds = window_bounds(count_of(second), size=room, stride=stride)
        return [
            Encoding(self._frame, (text, first), (text_pair, part)) for part in cut(second, bounds)
        ]

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text, without [CLS] and [SEP].

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return [self._pieces[number] for number in ids_of(self._packed(text))]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return trace_text(self, text)

    def save_pretrained(self, folder: str | os.PathLike[str]) -> tuple[str, str]:
        """Write `vocab.txt` and `tokenizer_config.json` to a folder, created if necessary.

        A tokenizer that these two cannot describe (with added tokens, for example) also writes
        `tokenizer.json`. Otherwise one that is in the folder is removed, because it would be read
        instead of what is saved here.

        Returns:
            The paths of the two files.
        """
        place = path_of(folder)
        if place.exists() and not place.is_dir():
            raise InputError(f"Cannot save to {place}: it is a file. Give a folder.")
        place.mkdir(parents=True, exist_ok=True)
        files = self.saved_files()
        for name, content in files.items():
            (place / name).write_bytes(content)
        if TOKENIZER_NAME not in files:
            (place / TOKENIZER_NAME).unlink(missing_ok=True)
        return str(place / VOCABULARY_NAME), str(place / CONFIG_NAME)

    def saved_files(self) -> dict[str, bytes]:
        """Return the files that `save_pretrained` writes, by name, without touching the disk."""
        options: dict[str, Any] = {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": self.do_lower_case,
            "do_basic_tokenize": self.do_basic_tokenize,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
        }
        if self.max_len is not None:
            options["model_max_length"] = self.max_len
        if self.token_types < 2:
            options["model_input_names"] = ["input_ids", "attention_mask"]
        for name in ("unk", "sep", "pad", "cls", "mask"):
            token = getattr(self, f"{name}_token")
            void = token in self.vocab and token not in self.never_split
            options[f"{name}_token"] = None if void else token
        for name in ("truncation_side", "padding_side"):
            options |= {name: "left"} if getattr(self, name) == "left" else {}
        if not set(self.added_tokens) <= self._usual:
            ids = ((self.vocab.get(each.content), each) for each in self.added_tokens)
            options["added_tokens_decoder"] = {
                str(number): {k: v for k, v in as_entry(token, number).items() if k != "id"}
                for number, token in ids
                if number is not None
            }
        pieces = "".join(f"{piece}\n" for piece in self._own)
        files = {
            VOCABULARY_NAME: pieces.encode("utf-8"),
            CONFIG_NAME: (json.dumps(options, indent=2, sort_keys=True) + "\n").encode("utf-8"),
        }
        if not self._is_plain() and self._fits_json():
            document = json.dumps(self._described(), indent=2, ensure_ascii=False)
            files[TOKENIZER_NAME] = f"{document}\n".encode()
        return files

    def _is_plain(self) -> bool:
        """Return whether `vocab.txt` and `tokenizer_config.json` describe this tokenizer."""
        plain = set(self.added_tokens) <= self._usual and self.clean_text
        longest = self.wordpiece_tokenizer.max_input_chars_per_word
        lines = [as_line(piece) for piece in self._own]
        return plain and longest == MAX_CHARS and lines == self._own

    @property
    def _usual(self) -> set[AddedToken]:
        """The added tokens that need not be listed in a file: those with a role."""
        roles = (self.unk_token, self.sep_token, self.pad_token, self.cls_token, self.mask_token)
        return {AddedToken(token, special=True) for token in roles}

    def _fits_json(self) -> bool:
        """Return whether a `tokenizer.json` can describe this tokenizer."""
        framed = {self.cls_token, self.sep_token} <= self.vocab.keys()
        return self.do_basic_tokenize and framed

    def _described(self) -> dict[str, Any]:
        """Return the contents of the `tokenizer.json` that describes this tokenizer."""
        found = WordPieceFile(
            pieces=tuple(self._own),
            unknown=self.unk_token,
            lowercase=self.do_lower_case,
            strip_accents=self.strip_accents,
            chinese_chars=self.tokenize_chinese_chars,
            clean_text=self.clean_text,
            max_chars=self.wordpiece_tokenizer.max_input_chars_per_word,
        )
        added = (each for each in self.added_tokens if each.content in self.vocab)
        return document_of(found, added, self.vocab, (self.cls_token, self.sep_token))

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike[str] | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> "BertTokenizer":
        """Load a tokenizer by model name, folder or vocabulary file.

        The vocabulary is that of `tokenizer.json` if there is one, else `vocab.txt`.
        `do_lower_case` is the keyword argument if given, else the value in
        `tokenizer_config.json`, else that of `tokenizer.json`, else False if the name contains
        "cased" but not "uncased", else True. Files that contradict each other are told in
        `contradictions`.

        Args:
            name_or_path: anything a model's `from_pretrained` accepts, or a vocabulary file
                (`vocab.txt` or `tokenizer.json`). The keyword `pretrained_model_name_or_path` is
                an alias.
            cache_dir: folder for downloads.
            **kwargs: arguments of `BertTokenizer`; also `revision`, a version of the source.

        Raises:
            MissingFileError: the name or path does not exist or contains no vocabulary.
            CheckpointError: a file of the tokenizer cannot be used.
        """
        name = given_name(name_or_path, kwargs)
        found = find_tokenizer(name, cache_dir=cache_dir, revision=kwargs.pop("revision", None))
        tokenizer = cls(list(found.pieces), **{**found.options, **kwargs})
        tokenizer.contradictions = found.contradictions
        tokenizer.truncation_side = found.sides.get("truncation_side", "right")
        tokenizer.padding_side = found.sides.get("padding_side", "right")
        return tokenizer

    @cached_property
    def _frame(self) -> Frame:
        added = pack_added(self.cls_token_id, self.sep_token_id)
        return Frame(*added, self._pieces, self.special_ids, int(self.token_types > 1))

    @cached_property
    def added(self) -> AddedTokens:
        """The plain way through a text: added tokens, and the words between them."""
        basic = self.normalizer
        apart = Normalizer(
            lowercase=basic.lowercase,
            strip_accents=basic.strip_accents,
            chinese_chars=basic.chinese_chars,
            clean_text=basic.clean_text,
            set_apart=False,
        )
        return AddedTokens(self.added_tokens, apart if self.do_basic_tokenize else None)

    @cached_property
    def _words(self) -> WordCache:
        return WordCache(self.wordpiece_tokenizer, entries(self._own))

    def _plainly(self, text: str) -> bytes:
        """Return the tokens of one text, word by word."""
        check_surrogates(check_text(text))
        tokens: list[Token] = []
        for word, places, added in self.added.words(text):
            if added and word in self.vocab:
                tokens.append((1, self.vocab[word], (places[0], places[-1] + 1)))
                continue
            for first, number, (start, end) in tokens_of(self._words[word], 0):
                tokens.append((first, number, (places[start], places[end - 1] + 1)))
        return pack(tokens, len(text))

    def _packed(self, text: str) -> bytes:
        """Return the tokens of one text, chunk by chunk: no rule looks across U+0020."""
        if not self._in_chunks:
            return self._plainly(text)
        try:
            stretches = text.split(" ")
            if text.isascii() or max(map(len, stretches)) <= LONGEST:
                return SPACED.join(map(self._chunk_of, stretches))
            # A chunk is too long for the cache, as in scripts without spaces: split it further.
            if (parts := self._chunks.parts_of(text)) is not None:
                return ADJACENT.join(map(self._chunk_of, parts))
            return SPACED.join(map(self._chunk_of, stretches))
        except (InputError, AttributeError, TypeError):
            check_surrogates(check_text(text))  # raises an error that says what is wrong, and where
            raise

    def _shortened(
        self, first: Segment, second: Segment | None, max_length: int, truncation: str
    ) -> Encoding:
        tokens = count_of(first[1]), None if second is None else count_of(second[1])
        kept, kept_second = kept_lengths(*tokens, max_length=max_length, truncation=truncation)
        if (kept, kept_second) == (tokens[0], tokens[1] or 0):
            return Encoding(self._frame, first, second)
        truncated = tokens[0] - kept + (tokens[1] or 0) - kept_second
        short = self._cut(first, kept)
        short_second = None if second is None else self._cut(second, kept_second)
        return Encoding(self._frame, short, short_second, truncated)

    def _cut(self, segment: Segment, tokens: int) -> Segment:
        """Return a text with only its first tokens, or only its last."""
        text, packed = segment
        if self.truncation_side == "left":
            count = count_of(packed)
            return text, cut(packed, [(count - tokens, count)])[0]
        return text, beginning(packed, tokens)
