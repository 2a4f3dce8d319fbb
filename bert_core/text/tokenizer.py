"""BERT's tokenizer: from a text to the ids of its tokens, each with its place in the text.

    "Crème brûlées!"
     BasicTokenizer      creme | brulees | !                words, lower-cased, without accents
     WordpieceTokenizer  creme | bru ##lee ##s | !          the longest pieces of the vocabulary
     BertTokenizer       [CLS] creme bru ##lee ##s ! [SEP]  ids and offsets, in their frame

Follow `BertTokenizer.part`; `encode` (`batches`) cuts what is too long and adds [CLS] and [SEP].
After google-research/bert, `tokenization.py`; ids and offsets are those of the library
`tokenizers`, which reads several texts at once (`bert_options`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from bert_core.text import characters
from bert_core.text.added import AddedToken, Finder
from bert_core.text.batches import check_text
from bert_core.text.bert_options import NEVER_SPLIT, BertOptions
from bert_core.text.encoding import Part, Slot, Span, Template
from bert_core.text.trace import Lookup, Stages, Trace, Word, trace_text
from bert_core.text.vocabulary import BLANK_SEPARATED, CONTINUATION, MAX_CHARS, entries


class BasicTokenizer:
    """Split a text into words and punctuation marks, the first half of BERT's tokenization.

    Args:
        do_lower_case: lower-case the words.
        never_split: strings to keep unchanged wherever they occur.
        strip_accents: drop combining marks, accents among them; None follows `do_lower_case`.
        tokenize_chinese_chars: make every Chinese character a word of its own.

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
    ) -> None:
        self.do_lower_case = do_lower_case
        self.strip_accents = do_lower_case if strip_accents is None else strip_accents
        self.tokenize_chinese_chars = tokenize_chinese_chars
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
        """Clean a text that begins at `start` of a whole one, drop accents, and lower-case it."""
        # characters with the places of those they come from; one may become none or several
        chars = [(new, at) for at, char in enumerate(text, start) for new in self._clean(char)]
        clean = "".join([char for char, _ in chars])
        if self.strip_accents and not text.isascii():  # é becomes e and an accent, which is dropped
            chars = characters.in_canonical_order(chars)
            chars = [(char, at) for char, at in chars if not characters.is_accent(char)]
        stripped = "".join([char for char, _ in chars])
        if self.do_lower_case:
            chars = [(new, at) for char, at in chars for new in characters.lowered(char)]
        normalized = "".join([char for char, _ in chars])
        return Stages(clean, stripped, normalized, [at for _, at in chars])

    def words(self, normal: Stages, begin: int = 0, end: int | None = None) -> Iterator[Word]:
        """Split `normal.normalized[begin:end]` at spaces and around each punctuation mark."""
        text, places = normal.normalized[:end], normal.places
        start = begin  # of the current word
        for at in range(begin, len(text) + 1):
            kind = characters.role(text[at]) if at < len(text) else characters.Role.BETWEEN
            if kind is characters.Role.IN_WORD:
                continue
            if start < at:
                yield Word(text[start:at], places[start:at])
            if kind is characters.Role.PUNCTUATION:
                yield Word(text[at], places[at : at + 1])
            start = at + 1

    def _clean(self, char: str) -> str:
        new = characters.cleaned(char)
        return f" {new} " if self.tokenize_chinese_chars and characters.is_chinese(char) else new


class WordpieceTokenizer:
    """Split words into pieces of a vocabulary, the second half of BERT's tokenization.

    `vocab` has the known pieces; `unk_token` stands for a word that cannot be built from them, or
    has more than `max_input_chars_per_word` characters.

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
        """Split words that are separated by whitespace; nothing is normalised.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        words = BLANK_SEPARATED.findall(check_text(text))
        return [each.piece for word in words for each in self.pieces(word, self.lookups(word))]

    def lookups(self, word: str) -> list[Lookup]:
        """Look up the longest piece that begins the word, then the longest that continues it ...

        Returns:
            Every lookup, in order. Those found are the pieces; if the last failed, the word is
            unknown. A word longer than `max_input_chars_per_word` is not looked up: no lookups.
        """
        tried: list[Lookup] = []
        start = 0 if len(word) <= self.max_input_chars_per_word else len(word)
        while start < len(word):
            prefix = CONTINUATION if start else ""  # "##" before all pieces but the first
            for end in range(len(word), start, -1):  # the longest first
                piece = prefix + word[start:end]
                tried.append(Lookup(piece, start, end, piece in self.vocab))
                if tried[-1].found:
                    start = end
                    break
            else:  # not even one character matches: the whole word is unknown
                break
        return tried

    def pieces(self, word: str, tried: Sequence[Lookup]) -> list[Lookup]:
        """Return the lookups that are the pieces of a word, or [UNK] for the whole word."""
        if tried and tried[-1].found:
            return [each for each in tried if each.found]
        return [Lookup(self.unk_token, 0, len(word), False)]


class BertTokenizer(BertOptions):
    """BERT's tokenizer. Thread-safe. Arguments, attributes and files: see `BertOptions`."""

    @cached_property
    def basic_tokenizer(self) -> BasicTokenizer:
        """The first half: a text to words."""
        return BasicTokenizer(
            self.do_lower_case,
            self.never_split,
            strip_accents=self.strip_accents,
            tokenize_chinese_chars=self.tokenize_chinese_chars,
        )

    @cached_property
    def wordpiece_tokenizer(self) -> WordpieceTokenizer:
        """The second half: words to pieces."""
        pieces = entries(self.own_pieces)
        return WordpieceTokenizer(pieces, self.unk_token)

    @cached_property
    def templates(self) -> tuple[Template, Template]:
        """`[CLS] A [SEP]`, and `[CLS] A [SEP] B [SEP]`, where `B [SEP]` has token type 1."""
        cls, sep, second = self.cls_token_id, self.sep_token_id, int(self.token_types > 1)
        single = (Slot(cls), Slot(-1, 0), Slot(sep))
        return single, (*single, Slot(-1, 1, second), Slot(sep, None, second))

    def part(self, text: str) -> Part:
        """Return the tokens of one text, without those that `encode` puts around it."""
        found = Part(text, [], [], [])
        words = (word for _, each in self.steps(check_text(text)) for word in each)
        for number, word in enumerate(words):
            for piece, offsets in self.pieces(word, self.lookups(word)):
                found.ids.append(self.vocab[piece])
                found.offsets.append(offsets)
                found.words.append(number)
        return found

    def steps(self, text: str) -> Iterator[tuple[Stages, list[Word]]]:
        """Yield a text stretch by stretch: each normalised, and its words.

        An added token matched as typed, such as [MASK], is a stretch of its own. In the text
        between them, `_words` finds the added tokens that are matched after normalisation.
        """
        for start, end, token in self._finders[0].split(text):
            typed, places = text[start:end], range(start, end)
            if token:
                word = Word(token.content, places, token.content in self.vocab)
                yield Stages(typed, typed, typed, places), [word]
            else:
                normal = self._normalize(typed, start)
                yield normal, list(self._words(normal))

    def lookups(self, word: Word) -> list[Lookup]:
        """Return the lookups for a word; none for an added token."""
        return [] if word.added else self.wordpiece_tokenizer.lookups(word.text)

    def pieces(self, word: Word, tried: Sequence[Lookup]) -> list[tuple[str, Span]]:
        """Return the pieces of a word, each from its first character to after its last."""
        places = word.places
        if word.added:
            return [(word.text, (places[0], places[-1] + 1))]
        found = self.wordpiece_tokenizer.pieces(word.text, tried)
        return [(each.piece, (places[each.start], places[each.end - 1] + 1)) for each in found]

    def trace(self, text: str) -> Trace:
        """Return every step from the text to its tokens; it raises what `encode` raises."""
        return trace_text(self, check_text(text))

    @cached_property
    def _finders(self) -> tuple[Finder, Finder]:
        typed = {each.content: each for each in self.added_tokens if not each.normalized}
        later = [each for each in self.added_tokens if each.normalized]
        return Finder(typed), Finder({self._normalize(t.content, 0).normalized: t for t in later})

    def _normalize(self, text: str, start: int) -> Stages:
        if self.do_basic_tokenize:
            return self.basic_tokenizer.normalize(text, start)
        return Stages(text, text, text, range(start, start + len(text)))

    def _words(self, normal: Stages) -> Iterator[Word]:
        """Yield the words of normalised text, and the added tokens that are found in it."""
        text, places = normal.normalized, normal.places
        for start, end, token in self._finders[1].split(text):
            if token:
                yield Word(token.content, places[start:end], added=True)
            elif self.do_basic_tokenize:
                yield from self.basic_tokenizer.words(normal, start, end)
            else:
                for match in BLANK_SEPARATED.finditer(text, start, end):
                    yield Word(match.group(), places[match.start() : match.end()])
