"""The checksum against its published values, and against the definition, bit by bit."""

import numpy as np
import pytest

from bert_core.checkpoints.formats import crc32c as module
from bert_core.checkpoints.formats.crc32c import POLYNOMIAL, crc32c, masked


def bytes_of(raw):
    return np.frombuffer(raw, dtype=np.uint8)


def by_definition(raw):
    """Division of polynomials over GF(2), one bit at a time."""
    register = 0xFFFFFFFF
    for byte in raw:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (POLYNOMIAL if register & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # RFC 3720, appendix B.4; the checksums stand there lowest byte first.
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
        (b"", 0),
    ],
)
def test_published_values_are_met(raw, expected):
    assert crc32c(bytes_of(raw)) == expected


def test_every_length_around_a_change_of_method_agrees_with_the_definition():
    longest = module._DISTANCES[-1]
    lengths = {1, 2, 3, 4, 5, 7, 8, 63, 1000}
    for size in module._PIECES:
        lengths |= {longest * size + extra for extra in (-5, -4, -3, -1, 0, 1, 2, 4, 5)}
    lengths |= {2 * longest * 16 + 3, 5 * longest * 16 + 11}
    whole = np.random.default_rng(5).integers(0, 256, max(lengths), dtype=np.uint8)
    register, found = 0xFFFFFFFF, {}
    table = [by_definition(bytes([byte])) for byte in range(256)]
    zero = table[0]  # of a zero byte; makes the table linear again
    steps = [entry ^ zero for entry in table]
    linear = {byte: steps[byte] for byte in range(256)}
    for place, byte in enumerate(whole.tolist(), 1):
        register = register >> 8 ^ linear[(register ^ byte) & 0xFF]
        if place in lengths:
            found[place] = register ^ 0xFFFFFFFF
    assert found[1] == by_definition(whole[:1].tobytes())
    assert found[1000] == by_definition(whole[:1000].tobytes())
    for length in lengths:
        assert crc32c(whole[:length]) == found[length], length


def test_data_at_any_address_are_taken_and_stay_as_they_were():
    whole = np.random.default_rng(6).integers(0, 256, 300_007, dtype=np.uint8)
    for shift in (1, 2, 3, 7):
        part = whole[shift:]
        part.flags.writeable = False
        assert crc32c(part) == crc32c(part.copy())


@pytest.mark.parametrize("length", [100, 50_000, 400_000])
def test_a_single_wrong_bit_is_always_seen(length):
    data = np.random.default_rng(7).integers(0, 256, length, dtype=np.uint8)
    right = crc32c(data)
    for place in np.random.default_rng(8).integers(0, length, 20):
        for bit in (0, 7):
            data[place] ^= 1 << bit
            assert crc32c(data) != right
            data[place] ^= 1 << bit
    assert crc32c(data) == right


def test_the_sparse_polynomial_is_a_multiple_of_the_checksums_own():
    powers = {0: 1 << 31}  # bit 31 is x^0
    value = 1 << 31
    far = module._DISTANCES[-1]
    for exponent in range(1, far + 1):
        value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        powers[exponent] = value
    total = powers[far]
    for distance in module._DISTANCES:
        total ^= powers[far - distance]
    assert total == 0


def test_a_mask_turns_and_shifts():
    # The inverse, as the format describes it: subtract the constant, turn back by 15 bits.
    for checksum in (0, 1, 0xE3069283, 0xFFFFFFFF, 0x80000000):
        turned = (masked(checksum) - 0xA282EAD8) % 2**32
        assert (turned >> 17 | turned << 15) % 2**32 == checksum
