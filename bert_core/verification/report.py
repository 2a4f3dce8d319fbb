"""The result of comparing a model with its stored reference values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file that affects the model's computations.

    Attributes:
        path: its path within the model's folder, with "/" on every system.
        expected: its stored SHA-256, 64 hexadecimal digits; "" if the file did not exist when the
            reference values were written.
        found: its current SHA-256; "" if there is no such file now.
    """

    path: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        """Whether the file is unchanged."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class TextCheck:
    """One stored text, tokenized again.

    Attributes:
        text: the text.
        text_pair: the second text, or None.
        expected: the stored ids, including [CLS] and [SEP].
        found: the ids that the tokenizer gives now; () if it could not be used.
    """

    text: str
    text_pair: str | None
    expected: tuple[int, ...]
    found: tuple[int, ...]

    @property
    def ok(self) -> bool:
        """Whether all ids are equal."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output of one class, recomputed from stored ids.

    Attributes:
        class_name: the class, for example "BertForMaskedLM".
        output: name of the output in `ModelOutputs`.
        texts: indices of the stored texts that were computed as one batch.
        compared: how many numbers were compared.
        largest: largest absolute value among the stored numbers.
        tolerance: largest difference that counts as equal, in the unit of the output.
        difference: largest absolute difference, in the unit of the output; infinite if a number
            is not finite or the shapes differ, None if the output could not be computed.
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
    """The result of a verification.

    Attributes:
        name: the bundled name or folder that was verified.
        files: every file that affects the model's computations.
        texts: every stored text.
        outputs: every stored output.
        failure: why outputs or tokens could not be computed; "" if all could be.
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
        """The largest difference over all outputs; infinite if one could not be computed."""
        found = [check.difference for check in self.outputs]
        return max((math.inf if each is None else each for each in found), default=0.0)

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return sum(check.compared for check in self.outputs)

    @property
    def sha256(self) -> str:
        """Current SHA-256 of `model.safetensors`, 64 hexadecimal digits; "" if there is none."""
        return next((check.found for check in self.files if check.path == WEIGHTS), "")


WEIGHTS = "model.safetensors"
