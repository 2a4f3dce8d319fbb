"""Text to words: clean, lower-case, strip accents, split at whitespace and punctuation."""

import re
from collections.abc import Iterable

from bert_core.errors import InputError
from bert_core.text.normalizer import Normalizer
from bert_core.text.vocabulary import SPECIAL_TOKENS
from bert_core.text.words import special_pattern, stretches

NEVER_SPLIT = SPECIAL_TOKENS

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(text: object) -> str:
    """Return `text` if it is a string.

    Raises:
        InputError: it is not.
    """
    if isinstance(text, str):
        return text
    hint = " Decode it first, for instance with .decode('utf-8')." * isinstance(text, bytes)
    raise InputError(f"Expected a text (str), found {type(text).__name__}.{hint}")


def check_surrogates(text: str) -> None:
    """Reject a text with a lone surrogate, naming the first one and its position.

    Raises:
        InputError: the text contains a lone surrogate.
    """
    if found := _SURROGATE.search(text):
        raise InputError(
            f"The text contains U+{ord(found.group()):04X} at character {found.start()}, half of "
            "a surrogate pair; expected whole Unicode characters. Decode the bytes again, for "
            "instance with errors='replace'."
        )


class BasicTokenizer:
    """Split a text into words, the first half of BERT's tokenization.

    Args:
        do_lower_case: lower-case the words and drop their accents.
        never_split: strings to keep unchanged wherever they occur; they must not contain spaces.
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
        self.never_split = tuple(never_split or ())
        self.normalizer = Normalizer(
            lowercase=do_lower_case,
            strip_accents=strip_accents,
            chinese_chars=tokenize_chinese_chars,
            clean_text=clean_text,
        )
        self._specials = special_pattern(self.never_split)

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text.

        Raises:
            InputError: `text` is not a string or contains a lone surrogate.
        """
        words: list[str] = []
        for start, end, special in stretches(self._specials, check_text(text)):
            part = text[start:end]
            words += [part] if special else self.normalizer.normalize(part).text.split()
        return words
