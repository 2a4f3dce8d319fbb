"""Learning rates over a training: warm-up, perhaps a level stretch, a straight line down to zero.

Source: Devlin et al. 2019, appendix A.2 (linear warm-up and linear decay). Progress is a share of
the whole training, counted in steps or in minutes, so that a training on a busy machine can end
on time with its learning rate at zero. A line that begins late leaves a level stretch before it,
which a training may be resumed in, or prolonged, without being warmed up again (Hu et al. 2024,
"MiniCPM", section 4).
"""

from dataclasses import dataclass

from bert_core.errors import InputError


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a training lasts: a number of steps, or minutes of computing time.

    Exactly one of the two is given. Only a budget of steps makes a resumed training equal an
    uninterrupted one bit for bit; minutes depend on the machine.

    Raises:
        InputError: none or both are given, or one is not positive.
    """

    steps: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.steps, self.minutes) if value is not None]
        if len(given) != 1 or given[0] <= 0:
            raise InputError(
                f"The budget has steps={self.steps} and minutes={self.minutes}; give exactly one "
                "of them, above 0."
            )

    def progress(self, step: int, seconds: float) -> float:
        """Return the share of the budget used up, 0 to 1.

        Args:
            step: steps done.
            seconds: computing time so far, without pauses.

        >>> Budget(steps=8).progress(2, 0.0)
        0.25
        >>> Budget(minutes=2).progress(7, 60.0)
        0.5
        """
        if self.steps is not None:
            return min(1.0, step / self.steps)
        assert self.minutes is not None
        return min(1.0, seconds / (60.0 * self.minutes))


def linear_decay(step: int, progress: float, warmup_steps: int, share: float = 1.0) -> float:
    """Return the factor on the peak learning rate for the step to come.

    Args:
        step: steps done so far.
        progress: share of the training done, 0 to 1.
        warmup_steps: steps until the peak.
        share: of the training, at its end, over which the rate falls; before, it is level.

    >>> linear_decay(0, 0.0, 4), linear_decay(10, 0.5, 4), linear_decay(10, 1.0, 4)
    (0.25, 0.5, 0.0)
    >>> [linear_decay(10, progress, 4, 0.25) for progress in (0.5, 0.75, 0.875)]
    [1.0, 1.0, 0.5]
    """
    warm = min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0
    return warm * min(1.0, (1.0 - progress) / share)
