"""How many tokens of each text stay when an input is too long."""

from bert_core.errors import InputError

STRATEGIES = ("longest_first", "only_first", "only_second")


def check_strategy(truncation: str) -> str:
    """Return the name of a truncation rule.

    Raises:
        InputError: there is no such rule.
    """
    if truncation not in STRATEGIES:
        raise InputError(
            f"There is no truncation rule {truncation!r}; expected one of {', '.join(STRATEGIES)}."
        )
    return truncation


def kept_lengths(
    first: int, second: int | None, *, max_length: int, truncation: str
) -> tuple[int, int]:
    """Say how many tokens of each text stay.

    Args:
        first: tokens of the first text.
        second: tokens of the second text, None where there is none.
        max_length: tokens of the whole input, the added ones included.
        truncation: "longest_first" shortens the longer text until both are equally long, then
            both; "only_first" and "only_second" touch one text alone.

    Raises:
        InputError: the rule cannot bring the input down to `max_length`.

    Example:
        >>> kept_lengths(10, 4, max_length=13, truncation="longest_first")
        (6, 4)
    """
    check_strategy(truncation)
    added = 2 if second is None else 3
    room = max_length - added
    if room < 0:
        raise InputError(
            f"max_length is {max_length}, but {added} tokens are added to every such input. "
            f"Expected at least {added}."
        )
    excess = first + (second or 0) - room
    if excess <= 0:
        return first, second or 0
    if truncation == "only_second" and second is None:
        raise InputError(
            f"The text has {excess} tokens too many, and truncation='only_second' needs a second "
            "text to cut from; there is only one. Use 'longest_first'."
        )
    if room == 0:
        return 0, 0
    if second is None:
        return first - excess, 0
    if truncation == "longest_first":
        return _longest_first(first, second, room)
    return _one_alone(first, second, excess, truncation)


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    shorter, longer = sorted((first, second))
    longer = max(shorter, room - shorter)
    if shorter + longer > room:
        shorter, longer = room // 2, room - room // 2
    return (shorter, longer) if first <= second else (longer, shorter)


def _one_alone(first: int, second: int, excess: int, truncation: str) -> tuple[int, int]:
    tokens = first if truncation == "only_first" else second
    if tokens <= excess:
        raise InputError(
            f"The input has {excess} tokens too many, and truncation={truncation!r} may cut only "
            f"from a text of {tokens}. Use 'longest_first', or raise max_length by {excess}."
        )
    if truncation == "only_first":
        return first - excess, second
    return first, second - excess


def window_bounds(tokens: int, *, size: int, stride: int) -> list[tuple[int, int]]:
    """Cover `tokens` tokens with windows of `size`, neighbours sharing `stride`.

    Raises:
        InputError: no window would move forward.

    Example:
        >>> window_bounds(7, size=4, stride=1)
        [(0, 4), (3, 7)]
    """
    if size < 1 or not 0 <= stride < size:
        raise InputError(
            f"A window has room for {size} tokens of the text and should share {stride} with its "
            "neighbour; expected room for at least 1, and a stride from 0 to one less than the "
            "room. Raise max_length or lower stride."
        )
    starts = range(0, max(tokens - stride, 1), size - stride)
    return [(start, min(start + size, tokens)) for start in starts]
