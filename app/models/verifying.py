"""Compare a model's files with what is stored beside them, once for all who ask meanwhile."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.compute.processor import PROCESSOR
from app.compute.shared import SharedRuns
from bert_core.verification import VerificationReport

_ONE_SHARE = 1  # a verification takes one share of the processor, as a short text does


@dataclass(frozen=True, slots=True)
class Verification:
    """A report, and when it was made.

    Attributes:
        report: what was compared.
        fingerprint: that of the weights as they lie in the folder now; see `Provenance`.
        began: when reading the files began.
        seconds: how long it took.
    """

    report: VerificationReport
    fingerprint: str
    began: datetime
    seconds: float


class Verifier:
    """Runs the verification of one model, never two at a time.

    Nothing is kept: who asks when none is under way has every file read again. Who asks while
    one is, a whole class at once for example, waits for that one and is told when it began.

    Args:
        verify: reads and compares the files.
        fingerprint: hashes the weights.
    """

    def __init__(
        self, verify: Callable[[], VerificationReport], fingerprint: Callable[[], str]
    ) -> None:
        self._verify = verify
        self._fingerprint = fingerprint
        self._runs = SharedRuns[None, Verification]()

    def run(self) -> Verification:
        """Verify, or wait for the verification that is under way.

        Raises:
            BertError: there is nothing to compare with, or it cannot be read.
        """
        return self._runs.run(None, lambda: PROCESSOR.run(self._work, tokens=_ONE_SHARE))

    def _work(self) -> Verification:
        began, start = datetime.now(UTC), time.perf_counter()
        report = self._verify()
        fingerprint = self._fingerprint()
        return Verification(report, fingerprint, began, time.perf_counter() - start)
