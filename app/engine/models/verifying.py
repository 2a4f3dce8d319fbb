"""Compare a model's files with the reference stored next to them, once for all requests."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.shared import SharedRuns
from bert_core.verification import VerificationReport

_ONE_SHARE = 1  # share of the processor that a verification takes, the same as a short text


@dataclass(frozen=True, slots=True)
class Verification:
    """A report, and when it was made."""

    report: Annotated[VerificationReport, "what was compared"]
    fingerprint: Annotated[str, "fingerprint of the weights now in the folder; see `Provenance`"]
    began: Annotated[datetime, "when reading the files began"]
    seconds: Annotated[float, "how long it took"]


class Verifier:
    """Runs the verification of one model, never twice at the same time.

    Nothing is cached: a request while none is running reads every file again. Requests while
    one is running, for example from a whole class at once, wait for it and learn when it began.

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
        """Verify, or wait for the verification in progress.

        Raises:
            BertError: the reference is missing or cannot be read.
        """
        return self._runs.run(None, lambda: PROCESSOR.run(self._work, tokens=_ONE_SHARE))

    def _work(self) -> Verification:
        began, start = datetime.now(UTC), time.perf_counter()
        report = self._verify()
        fingerprint = self._fingerprint()
        return Verification(report, fingerprint, began, time.perf_counter() - start)
