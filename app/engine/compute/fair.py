"""Whose turn it is: that of the visitor who has been served least."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Waiting(Generic[T]):
    """What waits for a turn."""

    visitor: str
    job: T
    number: int  # in order of arrival


class FairQueue(Generic[T]):
    """A queue that is fair between visitors, whatever they have waiting (start-time fair queueing).

    A visitor who has not been served lately starts where the others are: turns do not add up.
    It has no lock: the caller holds one.
    """

    def __init__(self) -> None:
        self.waiting: list[Waiting[T]] = []
        self.served: dict[str, float] = {}  # by visitor, counted from a common start
        self._start = 0.0  # where a visitor starts who has not been served lately
        self._arrived = 0

    def join(self, visitor: str, job: T) -> Waiting[T]:
        """Put a job at the end of its visitor's line."""
        self._arrived += 1
        own = Waiting(visitor, job, self._arrived)
        self.waiting.append(own)
        return own

    def first(self, may: Callable[[str], bool] = lambda _: True) -> Waiting[T] | None:
        """Return who is next of the visitors who may be; None if no one waits."""
        able = (each for each in self.waiting if may(each.visitor))
        return min(able, key=self._rank, default=None)

    def before(self, own: Waiting[T]) -> int:
        """Return how many are before one."""
        return sum(self._rank(each) < self._rank(own) for each in self.waiting)

    def leave(self, own: Waiting[T]) -> None:
        """Take one out of the queue, if it is still in it."""
        if own in self.waiting:
            self.waiting.remove(own)

    def begin(self, own: Waiting[T]) -> float:
        """Take one out for its turn; return how much its visitor has been served."""
        self.leave(own)
        self._start, _ = self._rank(own)
        self.served = {who: at for who, at in self.served.items() if at > self._start}
        return self._start

    def _rank(self, one: Waiting[T]) -> tuple[float, int]:
        return max(self._start, self.served.get(one.visitor, 0.0)), one.number
