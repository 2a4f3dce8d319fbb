"""Numbers and fields of protocol buffers, read from bytes that nobody vouches for.

Source: the encoding page of the Protocol Buffers documentation.
"""

from collections.abc import Iterator

from bert_core.errors import CheckpointError

_MAX_VARINT_BYTES = 10  # 64 bits in groups of seven
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types; 3 and 4 are long given up


class ByteReader:
    """Reads a stretch of bytes from front to back and never past its end.

    Args:
        raw: the bytes.
        name: what to call them in an error.
        start: where to begin.
        end: where to stop; None is the end of `raw`.
    """

    __slots__ = ("_at", "_end", "_name", "_raw")

    def __init__(self, raw: bytes, name: str, start: int = 0, end: int | None = None) -> None:
        self._raw = raw
        self._name = name
        self._at = start
        self._end = len(raw) if end is None else end

    @property
    def left(self) -> int:
        """Number of bytes not yet read."""
        return self._end - self._at

    def take(self, count: int) -> bytes:
        """Read `count` bytes.

        Raises:
            CheckpointError: there are fewer.
        """
        if count > self.left:
            raise CheckpointError(
                f"{self._name} announces {count:,} bytes where {self.left:,} are left. It is "
                "damaged; get it again."
            )
        self._at += count
        return self._raw[self._at - count : self._at]

    def fixed32(self) -> int:
        """Read four bytes as a number, lowest first."""
        return int.from_bytes(self.take(4), "little")

    def varint(self) -> int:
        """Read a number of up to 64 bits in groups of seven, lowest first.

        Raises:
            CheckpointError: it does not end, or has more bits.
        """
        number = 0
        for index in range(min(_MAX_VARINT_BYTES, self.left)):
            byte = self._raw[self._at]
            self._at += 1
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if number < 2**64:
                    return number
                break
        raise CheckpointError(
            f"{self._name} holds a number that does not end or has more than 64 bits. It is "
            "damaged; get it again."
        )


def fields(raw: bytes, name: str) -> Iterator[tuple[int, int | bytes]]:
    """Walk over the fields of one message: (field number, value), in the order they stand.

    Args:
        raw: the message.
        name: what to call it in an error.

    Raises:
        CheckpointError: it is no such message.

    >>> list(fields(bytes([0x08, 0x96, 0x01, 0x12, 0x02, 0x68, 0x69]), "message"))
    [(1, 150), (2, b'hi')]
    """
    reader = ByteReader(raw, name)
    while reader.left:
        number, wire_type = divmod(reader.varint(), 8)
        if wire_type == _VARINT:
            yield number, reader.varint()
        elif wire_type == _BYTES:
            yield number, reader.take(reader.varint())
        elif wire_type == _FIXED32:
            yield number, reader.fixed32()
        elif wire_type == _FIXED64:
            yield number, int.from_bytes(reader.take(8), "little")
        else:
            raise CheckpointError(
                f"{name} holds a field of the unknown kind {wire_type}. It is damaged; get it "
                "again."
            )
