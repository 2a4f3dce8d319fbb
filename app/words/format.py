"""Numbers and names as words: one rule for each kind, whichever page shows it."""

import math

from app.records.counted import wilson
from bert_core.errors import count as count


def percent(
    share: float | None, digits: int = 1, *, finest: int | None = None, counted: bool = False
) -> str:
    """Print a share of 1 in per cent.

    A probability never claims certainty: what rounding would make 0 or 100 is printed as below
    the smallest, or above the largest, number that has these digits. A counted share, such as a
    figure measured on test cases or a sum of attention, may be 0 or 100.

    Args:
        share: from 0 to 1; None and NaN give a dash.
        digits: number of decimal places.
        finest: a share too small for `digits` gets more of them, up to this many.
        counted: 0 and 100 are printed as they are.

    >>> percent(0.5), percent(0.99996), percent(0.00001), percent(None)
    ('50.0 %', '> 99.9 %', '< 0.1 %', '–')
    >>> percent(0.934, 0), percent(0.9996, 0), percent(0.001, 0), percent(1.0, 0, counted=True)
    ('93 %', '> 99 %', '< 1 %', '100 %')
    >>> percent(0.0052, finest=3), percent(0.000052, finest=3), percent(1e-07, finest=3)
    ('0.52 %', '0.005 %', '< 0.001 %')
    """
    if share is None or math.isnan(share):
        return "–"
    while finest is not None and digits < finest and 100 * share < 10 ** (1 - digits):
        digits += 1
    shown, least = f"{100 * share:.{digits}f}", 10.0**-digits
    if not counted and float(shown) < least:
        return f"< {least:.{digits}f} %"
    if not counted and float(shown) > 100 - least:
        return f"> {100 - least:.{digits}f} %"
    return f"{shown} %"


def signed(value: float, digits: int) -> str:
    """Print a number with its sign, and with a minus that is as wide as the plus.

    >>> signed(-0.5, 2), signed(3.14159, 2)
    ('−0.50', '+3.14')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def share_of(k: int, n: int) -> str:
    """Print a counted share with its interval of 95 % (Wilson 1927).

    >>> share_of(20, 20)
    '20 of 20 (95 % interval 84 % to 100 %)'
    """
    low, high = wilson(k, n)
    ends = f"{percent(low, 0, counted=True)} to {percent(high, 0, counted=True)}"
    return f"{k} of {n} (95 % interval {ends})"


def p_value(p: float) -> str:
    """Print a p-value.

    >>> p_value(0.0207), p_value(0.748), p_value(0.00002), p_value(1.0)
    ('p = 0.021', 'p = 0.75', 'p < 0.001', 'p = 1')
    """
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def too_sure(stated: float, right: float) -> str:
    """Say which way a stated probability is off: the difference of the percentages as printed.

    >>> too_sure(0.762, 0.712), too_sure(0.839, 0.9), too_sure(0.8, 0.8)
    ('overconfident by 5.0 points', 'underconfident by 6.1 points', 'calibrated on average')
    >>> too_sure(0.47145, 0.46460)  # printed as 47.1 % and 46.5 %
    'overconfident by 0.6 points'
    """
    points = round(round(100 * stated, 1) - round(100 * right, 1), 1)
    if not points:
        return "calibrated on average"
    return f"{'overconfident' if points > 0 else 'underconfident'} by {abs(points):.1f} points"


def moment(place: int) -> str:
    """Say where on its way through the layers a vector is: layers count from 0 everywhere.

    >>> moment(0), moment(3)
    ('before the first layer', 'after layer 2')
    """
    return "before the first layer" if place == 0 else f"after layer {place - 1}"


def weights(number: int) -> str:
    """Print how many weights a model has.

    >>> weights(22_900_000), weights(53_596)
    ('22.9 M weights', '53,596 weights')
    """
    return f"{number / 1e6:.1f} M weights" if number >= 1e6 else count(number, "weight")


def shortened(text: str, limit: int = 60) -> str:
    """Cut a text that is longer than a limit, and mark the cut.

    >>> shortened("abcdef", 4), shortened("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
