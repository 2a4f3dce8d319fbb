"""Byte-level BPE spells bytes as letters (Radford et al. 2019); here they are read back."""

from functools import lru_cache

SPACE = "\u2581"  # how SentencePiece writes a space
_LETTERS = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]  # spelled as themselves
_OTHERS = [byte for byte in range(256) if byte not in _LETTERS]  # spelled from U+0100 on
_BYTES = {chr(byte): byte for byte in _LETTERS} | {chr(256 + n): b for n, b in enumerate(_OTHERS)}
_SIGNS = str.maketrans({" ": SPACE, "\n": "↵"})


@lru_cache(maxsize=65_536)
def as_text(token: str) -> str:
    r"""Return a token of byte-level BPE as text; bytes that are no whole character in hexadecimal.

    >>> as_text("ĠcafÃ©"), as_text("ðŁ"), as_text("<mask>")
    ('▁café', '\\xf0\\x9f', '<mask>')
    """
    try:
        spelled = bytes(map(_BYTES.__getitem__, token))
    except KeyError:  # an added token
        return token
    return spelled.decode("utf-8", "backslashreplace").translate(_SIGNS)
