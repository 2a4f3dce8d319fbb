"""CRC-32C at the speed of memory, in numpy.

A checksum of this kind is the remainder of the message, read as a polynomial over GF(2), divided
by the Castagnoli polynomial P. A table per byte is far too slow in Python, so this module uses
algebra instead. T(x) = x^6777 + x^484 + x^100 + 1 is a multiple of P. Over GF(2) the square of a
sum is the sum of the squares, so T(x^8) and T(x^128) are multiples of P as well. Therefore a byte
of the message can be removed if it is XORed into the bytes 6293, 6677 and 6777 places later; with
T(x^128) the same holds at 16 times these distances. That is three XORs of long stretches of
memory. They reduce a message of any length to 7 kB, whose bits then select from the known
remainders of the powers of x.

Sources: RFC 3720, appendix B.4, for the checksum and its test values. T was found by
searching all four-term multiples of P up to degree 12,000 for the one with the longest stretches.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

POLYNOMIAL = 0x82F63B78  # P without x^32, lowest bit first: bit 31 is x^0
# How many places later a piece reappears: the exponents of T, subtracted from the highest.
_DISTANCES = (6777 - 484, 6777 - 100, 6777)
# Bytes in a piece. The first keeps the stretches long and the history (108 kB) in the processor's
# cache; the others shorten what it leaves.
_PIECES = (16, 4, 1)
# A message is preceded by these bytes, whose remainder is the register's initial value, all ones.
_START = np.frombuffer(bytes.fromhex("54641f64"), dtype=np.uint8)


def crc32c(data: Bytes) -> int:
    """Return the CRC-32C of bytes.

    Args:
        data: (N,) uint8, contiguous.

    >>> hex(crc32c(np.frombuffer(b"123456789", dtype=np.uint8)))
    '0xe3069283'
    """
    before, rest = _START, data
    for size in _PIECES:
        if rest.size > _DISTANCES[-1] * size:
            rest = _shorten(before, rest, size)
            before = _START[:0]
    bits = np.unpackbits(np.concatenate((before, rest)), bitorder="little")
    remainders = _remainders()[-bits.size :]
    return int(np.bitwise_xor.reduce(remainders * bits)) ^ 0xFFFFFFFF


def masked(checksum: int) -> int:
    """Return a checksum masked for storage in files that are checksummed themselves.

    Source: TensorFlow, `tsl/lib/hash/crc32c.h` (rotation by 15 bits and a constant).
    """
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _shorten(before: Bytes, data: Bytes, size: int) -> Bytes:
    """Return a shorter message with the same remainder.

    Args:
        before: at most a few bytes that precede the message.
        data: (N,) the message, longer than the longest distance.
        size: bytes in a piece.

    Returns:
        (longest distance,) bytes, including the contribution of `before`.
    """
    near, middle, far = (distance * size for distance in _DISTANCES)
    taken_out = data.size - far
    # Bytes removed so far, with their values at that time; the last `far` are still needed.
    window = np.zeros(far + 2 * near, dtype=np.uint8)
    window[far - before.size : far] = before
    at = far
    for first in range(0, taken_out, near):
        count = min(near, taken_out - first)
        if at + count > window.size:
            window[:far] = window[at - far : at]
            at = far
        stretch = window[at : at + count]
        earlier = window[at - near : at - near + count]
        np.bitwise_xor(data[first : first + count], earlier, out=stretch)
        for distance in (middle, far):
            earlier = window[at - distance : at - distance + count]
            np.bitwise_xor(stretch, earlier, out=stretch)
        at += count
    rest = data[taken_out:].copy()
    for distance in (near, middle, far):
        rest[:distance] ^= window[at - distance : at]
    return rest


@cache
def _remainders() -> NDArray[np.uint32]:
    """Return x^i mod P for every bit that `crc32c` may look up, highest power first.

    The last bit of a message has weight x^32: a checksum is the remainder of message times x^32.
    """
    bits = 8 * (_DISTANCES[-1] + _START.size)
    found = np.empty(bits, dtype=np.uint32)
    remainder = POLYNOMIAL  # of x^32
    for place in range(bits - 1, -1, -1):
        found[place] = remainder
        remainder = remainder >> 1 ^ (POLYNOMIAL if remainder & 1 else 0)
    return found
