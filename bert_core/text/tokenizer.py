"""BERT's tokenizer: from a text to the ids of its tokens, each with its place in the text.

    "Crème brûlées!"
     BasicTokenizer      creme | brulees | !                words, lower-cased, without accents
     WordpieceTokenizer  creme | bru ##lee ##s | !          the longest pieces of the vocabulary
     BertTokenizer       [CLS] creme bru ##lee ##s ! [SEP]  ids and offsets, in a frame

After Devlin et al. 2019 and google-research/bert, `tokenization.py`. Ids and offsets equal those of
the library `tokenizers`, which reads many texts at once (`bert_options`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from bert_core.text.added import AddedToken, Finder
from bert_core.text.batches import check_text
from bert_core.text.bert_options import NEVER_SPLIT, BertOptions
from bert_core.text.characters import (
    Role,
    cleaned,
    in_canonical_order,
    is_accent,
    is_chinese,
    lowered,
    role,
)
from bert_core.text.encoding import Part, Slot, Span, Template
from bert_core.text.trace import Lookup, Stages, Trace, Word, trace_text
from bert_core.text.vocabulary import BLANK_SEPARATED, CONTINUATION, MAX_CHARS, entries


class BasicTokenizer:
    """Split a text into words, the first half of BERT's tokenization.

    Args:
        do_lower_case: lower-case the words and drop their accents.
        never_split: strings to keep unchanged wherever they occur.
        strip_accents: drop accents; None follows `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        clean_text: remove control characters.

    Example:
        >>> BasicTokenizer().tokenize("Crème brûlée, [MASK]!")
        ['creme', 'brulee', ',', '[MASK]', '!']
    """

    def __init__(
        self,
        do_lower_case: bool = True,
        never_split: Iterable[str] | None = NEVER_SPLIT,
        *,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        clean_text: bool = True,
    ) -> None:
        self.do_lower_case = do_lower_case
        self.strip_accents = do_lower_case if strip_accents is None else strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.clean_text = clean_text
        self._kept = Finder({token: AddedToken(token) for token in never_split or ()})

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        words: list[str] = []
        for start, end, token in self._kept.split(check_text(text)):
            part = text[start:end]
            words += [part] if token else [word.text for word in self.words(self.normalize(part))]
        return words

    def normalize(self, text: str, start: int = 0) -> Stages:
        """Clean a text, drop its accents and lower-case it, as far as these are asked for.

        `start` is where this text begins in the whole one.
        """
        chars = [(new, at) for at, char in enumerate(text, start) for new in self._clean(char)]
        clean = "".join([char for char, _ in chars])
        if self.strip_accents and not text.isascii():  # é becomes e and an accent, which is dropped
            chars = [(char, at) for char, at in in_canonical_order(chars) if not is_accent(char)]
        stripped = "".join([char for char, _ in chars])
        if self.do_lower_case:
            chars = [(new, at) for char, at in chars for new in lowered(char)]
        normalized = "".join([char for char, _ in chars])
        return Stages(clean, stripped, normalized, [at for _, at in chars])

    def words(self, normal: Stages, start: int = 0, end: int | None = None) -> Iterator[Word]:
        """Split normalised text at spaces, and before and after each punctuation mark."""
        text, places = normal.normalized[:end], normal.places
        for at in range(start, len(text) + 1):
            kind = role(text[at]) if at < len(text) else Role.BETWEEN
            if kind is Role.IN_WORD:
                continue
            if start < at:
                yield Word(text[start:at], places[start:at])
            if kind is Role.PUNCTUATION:
                yield Word(text[at], places[at : at + 1])
            start = at + 1

    def _clean(self, char: str) -> str:
        new = cleaned(char) if self.clean_text else char
        return f" {new} " if self.tokenize_chinese_chars and is_chinese(char) else new


class WordpieceTokenizer:
    """Split words into pieces of a vocabulary, the second half of BERT's tokenization.

    Args:
        vocab: the known pieces, a dictionary or a set.
        unk_token: token for a word that cannot be built from pieces.
        max_input_chars_per_word: longer words become `unk_token`.

    Example:
        >>> WordpieceTokenizer({"play", "##ing", "[UNK]"}).tokenize("playing plaid")
        ['play', '##ing', '[UNK]']
    """

    def __init__(
        self,
        vocab: Collection[str],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = MAX_CHARS,
    ) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word

    def tokenize(self, text: str) -> list[str]:
        """Split a text whose words are separated by whitespace; it is not normalised.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        words = BLANK_SEPARATED.findall(check_text(text))
        return [each.piece for word in words for each in self.pieces(word, self.lookups(word))]

    def lookups(self, word: str) -> list[Lookup]:
        """Look for the longest piece that begins the word, then for the longest that goes on.

        Returns:
            Every lookup, in order. Those that were found are the pieces; if the last one was not,
            the word is unknown. A word that is too long is not looked up.
        """
        tried: list[Lookup] = []
        start = 0
        while start < len(word) <= self.max_input_chars_per_word:
            prefix = CONTINUATION if start else ""  # "##" goes before all pieces but the first
            for end in range(len(word), start, -1):  # the longest first
                piece = prefix + word[start:end]
                tried.append(Lookup(piece, start, end, piece in self.vocab))
                if tried[-1].found:
                    break
            if not tried[-1].found:  # not even one character goes on: the whole word is unknown
                break
            start = tried[-1].end
        return tried

    def pieces(self, word: str, tried: Sequence[Lookup]) -> list[Lookup]:
        """Return the pieces of a word by its lookups; [UNK] if it cannot be built from pieces."""
        if tried and tried[-1].found:
            return [each for each in tried if each.found]
        return [Lookup(self.unk_token, 0, len(word), False)]


class BertTokenizer(BertOptions):
    """BERT's WordPiece tokenizer; ids and offsets match the reference exactly. Thread-safe.

    Arguments, attributes and files: see `BertOptions`.
    """

    @cached_property
    def basic_tokenizer(self) -> BasicTokenizer:
        """The first half: a text to words."""
        return BasicTokenizer(
            self.do_lower_case,
            self.never_split,
            strip_accents=self.strip_accents,
            tokenize_chinese_chars=self.tokenize_chinese_chars,
            clean_text=self.clean_text,
        )

    @cached_property
    def wordpiece_tokenizer(self) -> WordpieceTokenizer:
        """The second half: words to pieces."""
        own = entries(self.own_pieces)
        return WordpieceTokenizer(own, self.unk_token, self.max_input_chars_per_word)

    @cached_property
    def templates(self) -> tuple[Template, Template]:
        """`[CLS] A [SEP]` for one text, `[CLS] A [SEP] B [SEP]` for a pair; B has token type 1."""
        cls, sep, second = self.cls_token_id, self.sep_token_id, int(self.token_types > 1)
        single = (Slot(cls), Slot(-1, 0), Slot(sep))
        return single, (*single, Slot(-1, 1, second), Slot(sep, None, second))

    def part(self, text: str) -> Part:
        """Return the tokens of one text, without [CLS] and [SEP]."""
        found = Part(text, [], [], [])
        every = (word for _, words in self.steps(check_text(text)) for word in words)
        for number, word in enumerate(every):
            for piece, offsets in self.pieces(word, self.lookups(word)):
                found.ids.append(self.vocab[piece])
                found.offsets.append(offsets)
                found.words.append(number)
        return found

    def steps(self, text: str) -> Iterator[tuple[Stages, list[Word]]]:
        """Yield each stretch of a text, normalised, with its words.

        Added tokens are found first: those as they are typed, such as [MASK], then, in the text
        between them, those that are found after normalisation.
        """
        for start, end, token in self._typed.split(text):
            typed, places = text[start:end], range(start, end)
            if token:
                word = Word(token.content, places, token.content in self.vocab)
                yield Stages(typed, typed, typed, places), [word]
            else:
                normal = self._normalize(typed, start)
                yield normal, list(self._words(normal))

    def lookups(self, word: Word) -> list[Lookup]:
        """Return the lookups that a word takes; none for an added token."""
        return [] if word.added else self.wordpiece_tokenizer.lookups(word.text)

    def pieces(self, word: Word, tried: Sequence[Lookup]) -> list[tuple[str, Span]]:
        """Return the pieces of a word, each with its place in the text."""
        places = word.places
        if word.added:
            return [(word.text, (places[0], places[-1] + 1))]
        found = self.wordpiece_tokenizer.pieces(word.text, tried)
        return [(each.piece, (places[each.start], places[each.end - 1] + 1)) for each in found]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        return trace_text(self, check_text(text))

    @cached_property
    def _typed(self) -> Finder:
        return Finder({each.content: each for each in self.added_tokens if not each.normalized})

    @cached_property
    def _normalized(self) -> Finder:
        tokens = (each for each in self.added_tokens if each.normalized)
        return Finder({self._normalize(each.content, 0).normalized: each for each in tokens})

    def _normalize(self, text: str, start: int) -> Stages:
        if self.do_basic_tokenize:
            return self.basic_tokenizer.normalize(text, start)
        return Stages(text, text, text, range(start, start + len(text)))

    def _words(self, normal: Stages) -> Iterator[Word]:
        """Yield the words of normalised text, and the added tokens that are found in it."""
        text, places = normal.normalized, normal.places
        for start, end, token in self._normalized.split(text):
            if token:
                yield Word(token.content, places[start:end], added=True)
            elif self.do_basic_tokenize:
                yield from self.basic_tokenizer.words(normal, start, end)
            else:
                for match in BLANK_SEPARATED.finditer(text, start, end):
                    yield Word(match.group(), places[match.start() : match.end()])
