"""The tokenizer in slow motion: every step from a text to its tokens, to be looked at.

A trace is computed apart from the fast road, straight from the rules, and ends in the same tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bert_core.normalizer import Normalized
from bert_core.tokenizer_basic import check_surrogates, check_text
from bert_core.wordpiece import CONTINUATION, blank_separated
from bert_core.wordpiece import Attempt as Try

if TYPE_CHECKING:
    from bert_core.tokenizer import BertTokenizer

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One look into the vocabulary.

    Attributes:
        piece: what was looked up, "##" in front of continuations.
        found: whether the vocabulary has it.
    """

    piece: str
    found: bool


@dataclass(frozen=True, slots=True)
class WordTrace:
    """One word and how it became tokens.

    Attributes:
        text: the characters typed, `trace.text[start:end]`.
        start: its first character in the text.
        end: the character behind its last.
        normalized: the word after cleaning, case and accents.
        attempts: every look into the vocabulary, in order; none for a special token or a word
            that is too long.
        pieces: the tokens it became.
        ids: their ids.
        offsets: their places in the text.
        unknown_reason: why it became [UNK], in a sentence; None for a word that is known.
        special: whether it is a special token written in the text.
    """

    text: str
    start: int
    end: int
    normalized: str
    attempts: tuple[Attempt, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    offsets: tuple[Span, ...]
    unknown_reason: str | None
    special: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """A text on its way to tokens.

    Attributes:
        text: as typed.
        cleaned: controls dropped, blanks turned into U+0020, Chinese characters set apart.
        stripped: then decomposed, accents dropped (`cleaned` again where the tokenizer keeps them).
        normalized: then lower-cased (`stripped` again where the tokenizer keeps case).
        words: the words in order, each with its attempts.
    """

    text: str
    cleaned: str
    stripped: str
    normalized: str
    words: tuple[WordTrace, ...]

    @property
    def tokens(self) -> list[str]:
        """All tokens, without [CLS] and [SEP]."""
        return [piece for word in self.words for piece in word.pieces]

    @property
    def ids(self) -> list[int]:
        """Their ids."""
        return [number for word in self.words for number in word.ids]

    @property
    def offsets(self) -> list[Span]:
        """Their places in the text."""
        return [span for word in self.words for span in word.offsets]


def trace_text(tokenizer: "BertTokenizer", text: str) -> Trace:
    """Take a text through every step; see `BertTokenizer.trace`.

    Raises:
        InputError: `text` is not a string or holds half a surrogate pair.
    """
    check_surrogates(check_text(text))
    stages: list[tuple[str, str, str]] = []
    words: list[WordTrace] = []
    for start, end, special in _stretches(tokenizer, text):
        typed = text[start:end]
        if special:
            stages.append((typed, typed, typed))
            words.append(_special(tokenizer, typed, start))
        elif tokenizer.do_basic_tokenize:
            normalized = tokenizer.normalizer.normalize(typed)
            stages.append(tokenizer.normalizer.stages(typed))
            words += _words(tokenizer, text, start, normalized)
        else:
            stages.append((typed, typed, typed))
            words += [
                _word(tokenizer, text, found.group(), _places(start + found.start(), found.group()))
                for found in blank_separated(typed)
            ]
    cleaned, stripped, normal = ("".join(stage[n] for stage in stages) for n in range(3))
    return Trace(text, cleaned, stripped, normal, tuple(words))


def _stretches(tokenizer: "BertTokenizer", text: str) -> Iterator[tuple[int, int, bool]]:
    """Cut a text at its special tokens: (start, end, whether it is one)."""
    end = 0
    for match in tokenizer.special_tokens_in(text):
        if match.start() > end:
            yield end, match.start(), False
        yield match.start(), match.end(), True
        end = match.end()
    if end < len(text):
        yield end, len(text), False


def _places(start: int, word: str) -> list[int]:
    return list(range(start, start + len(word)))


def _words(
    tokenizer: "BertTokenizer", text: str, shift: int, normalized: Normalized
) -> Iterator[WordTrace]:
    """Trace the words of a normalised stretch that begins at character `shift`."""
    origins = normalized.origins
    for match in normalized.words():
        places = range(*match.span()) if origins is None else origins[slice(*match.span())]
        yield _word(tokenizer, text, match.group(), [shift + place for place in places])


def _word(tokenizer: "BertTokenizer", text: str, word: str, places: list[int]) -> WordTrace:
    """Trace one word; `places` says where in the text each of its characters comes from."""
    tried = tokenizer.wordpiece_tokenizer.attempts(word)
    known = bool(tried) and tried[-1].found
    unknown = Try(tokenizer.unk_token, 0, len(word), True)
    pieces = [attempt for attempt in tried if attempt.found] if known else [unknown]
    start, end = places[0], places[-1] + 1
    return WordTrace(
        text=text[start:end],
        start=start,
        end=end,
        normalized=word,
        attempts=tuple(Attempt(attempt.token, attempt.found) for attempt in tried),
        pieces=tuple(piece.token for piece in pieces),
        ids=tuple(tokenizer.vocab[piece.token] for piece in pieces),
        offsets=tuple((places[piece.start], places[piece.end - 1] + 1) for piece in pieces),
        unknown_reason=None if known else _reason(tokenizer, word, tried),
        special=False,
    )


def _special(tokenizer: "BertTokenizer", token: str, start: int) -> WordTrace:
    """Trace a token that is found before anything else; one not in the vocabulary is a word."""
    if token not in tokenizer.vocab:
        return _word(tokenizer, " " * start + token, token, _places(start, token))
    end = start + len(token)
    ids = (tokenizer.vocab[token],)
    return WordTrace(token, start, end, token, (), (token,), ids, ((start, end),), None, True)


def _reason(tokenizer: "BertTokenizer", word: str, tried: list[Try]) -> str:
    """Say why a word is unknown."""
    if not tried:
        limit = tokenizer.wordpiece_tokenizer.max_input_chars_per_word
        return f"The word has {len(word)} characters; words of more than {limit} are not looked up."
    char = word[tried[-1].start]
    name = f"“{char}” (U+{ord(char):04X})"
    if char not in tokenizer.characters:
        return f"No piece of the vocabulary contains {name}."
    if tried[-1].start == 0:
        return f"The vocabulary has {name} in some pieces, but none of them begins this word."
    rest = word[tried[-1].start :]
    return (
        f"After “{word[: tried[-1].start]}” no continuation (a piece with {CONTINUATION}) fits "
        f"“{rest}”, not even {name} alone."
    )
