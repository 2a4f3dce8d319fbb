"""Numbers as words: one rule for each kind of number, whichever page shows it."""


def percent(share: float) -> str:
    """Print a probability so that neither end claims certainty.

    >>> percent(0.5), percent(0.99996), percent(0.00001)
    ('50.0 %', '> 99.9 %', '< 0.1 %')
    """
    if share > 0.999:
        return "> 99.9 %"
    if share < 0.001:
        return "< 0.1 %"
    return f"{share:.1%}".replace("%", " %")


def signed(value: float, digits: int) -> str:
    """Print a number with its sign, and with a minus that is as wide as the plus.

    >>> signed(-0.5, 2), signed(3.14159, 2)
    ('−0.50', '+3.14')
    """
    return f"{value:+.{digits}f}".replace("-", "−")
