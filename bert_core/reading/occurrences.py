"""Find a word in an encoded text, whatever number of pieces it has."""

from collections.abc import Sequence

from bert_core.text.encoding import Encoding


def occurrences(encoding: Encoding, ids: Sequence[int]) -> list[range]:
    """Return the places of a word, or of several in a row, as separate ranges of positions.

    Only whole words count. `ids` are its pieces, as `tokenizer.encode(word).input_ids[1:-1]`.
    """
    wanted, size = list(ids), len(ids)
    if not size:
        return []
    places = list(zip(encoding.sequence_ids, encoding.words, strict=True))
    found: list[range] = []
    for start in range(len(places) - size + 1):
        stop = start + size
        if (
            encoding.input_ids[start:stop] == wanted
            and (not found or start >= found[-1].stop)
            and places[start] != places[start - 1]  # [CLS] is before every word
            and places[stop - 1] != places[stop % len(places)]
            and all(sequence is not None for sequence, _ in places[start:stop])
        ):
            found.append(range(start, stop))
    return found
