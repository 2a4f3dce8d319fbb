"""What came out when a model was compared with what is stored beside it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file that decides what the model computes.

    Attributes:
        path: its place in the model's folder, with "/" on every system.
        expected: SHA-256 of its bytes as stored, 64 hexadecimal digits; "" where no such file was
            there when the bundle was written.
        found: that of the file that is there now; "" where there is none.
    """

    path: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        """Whether the file is the one that was there, to the bit."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class TextCheck:
    """One stored text, cut into tokens again.

    Attributes:
        text: the text.
        text_pair: the second text, or None.
        expected: the stored ids, [CLS] and [SEP] included.
        found: those that the tokenizer gives now; () where it could not be used.
    """

    text: str
    text_pair: str | None
    expected: tuple[int, ...]
    found: tuple[int, ...]

    @property
    def ok(self) -> bool:
        """Whether every id is the same."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output of one class, computed again from stored ids.

    Attributes:
        class_name: the class, for example "BertForMaskedLM".
        output: the output, by its name in `ModelOutputs`.
        texts: numbers of the stored texts that were computed together, as one batch.
        compared: how many numbers were compared.
        largest: the largest absolute value among the stored ones.
        tolerance: the largest difference that counts as the same, in the unit of the output.
        difference: the largest absolute difference found, in the unit of the output; infinite
            where a number is not finite or the output has another shape, None where the output
            could not be computed at all.
    """

    class_name: str
    output: str
    texts: tuple[int, ...]
    compared: int
    largest: float
    tolerance: float
    difference: float | None

    @property
    def ok(self) -> bool:
        """Whether the output was computed and no number differs by more than the tolerance."""
        return self.difference is not None and self.difference <= self.tolerance


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Everything that was compared.

    Attributes:
        name: the bundled name or folder that was asked for.
        files: every file that decides what the model computes.
        texts: every stored text.
        outputs: every stored output.
        failure: why outputs or tokens could not be computed, one sentence; "" where they could.
    """

    name: str
    files: tuple[FileCheck, ...]
    texts: tuple[TextCheck, ...]
    outputs: tuple[OutputCheck, ...]
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything agrees: all files, all tokens, all outputs."""
        checks: Sequence[FileCheck | TextCheck | OutputCheck]
        checks = (*self.files, *self.texts, *self.outputs)
        return not self.failure and all(check.ok for check in checks)

    @property
    def difference(self) -> float:
        """The largest difference of all outputs; infinite where one could not be computed."""
        found = [check.difference for check in self.outputs]
        return max((math.inf if each is None else each for each in found), default=0.0)

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return sum(check.compared for check in self.outputs)

    @property
    def sha256(self) -> str:
        """SHA-256 of the root's weights as found, 64 hexadecimal digits; "" without any."""
        return next((check.found for check in self.files if check.path == WEIGHTS), "")


WEIGHTS = "model.safetensors"
