"""The learning rate schedule: linear warm-up, an optional plateau, then linear decay to zero.

Source: Devlin et al. 2019, appendix A.2 (linear warm-up and linear decay). A late decay leaves a
plateau before it, in which a training can be resumed or extended without a new warm-up (Hu et al.
2024, "MiniCPM", section 4).
"""

from dataclasses import dataclass

from bert_core.errors import InputError


@dataclass(frozen=True, slots=True)
class Budget:
    """The length of a training: either a number of steps or minutes of computing time.

    Only with steps is a resumed training bit-for-bit equal to an uninterrupted one.

    Raises:
        InputError: not exactly one of the two is given, or it is not positive.
    """

    steps: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        limits = [value for value in (self.steps, self.minutes) if value is not None]
        if len(limits) != 1 or limits[0] <= 0:
            raise InputError(
                f"The budget has steps={self.steps} and minutes={self.minutes}; expected one."
            )

    def progress(self, step: int, seconds: float) -> float:
        """Return the used share of the budget, 0 to 1.

        >>> Budget(steps=8).progress(2, 0.0), Budget(minutes=2).progress(7, 60.0)
        (0.25, 0.5)
        """
        used = step / self.steps if self.steps else seconds / (60.0 * (self.minutes or 1.0))
        return min(1.0, used)


def linear_decay(step: int, progress: float, warmup_steps: int, share: float = 1.0) -> float:
    """Return the factor by which to multiply the peak learning rate for the next step.

    `share` is the share of the training, from its end, over which the rate decays.

    >>> linear_decay(0, 0.0, 4), linear_decay(10, 0.5, 4), linear_decay(10, 1.0, 4)
    (0.25, 0.5, 0.0)
    >>> [linear_decay(10, progress, 4, 0.25) for progress in (0.5, 0.75, 0.875)]
    [1.0, 1.0, 0.5]
    """
    warm = min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0
    return warm * min(1.0, (1.0 - progress) / share)
