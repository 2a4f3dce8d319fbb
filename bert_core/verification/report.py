"""The result of comparing a model with its stored reference values."""

import math
from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file that affects the model's computations."""

    path: Annotated[str, 'within the model\'s folder, with "/" on every system']
    expected: Annotated[str, 'its stored SHA-256, 64 hexadecimal digits; "" if it did not exist']
    found: Annotated[str, 'its current SHA-256; "" if there is no such file now']

    @property
    def ok(self) -> bool:
        """Whether the file is unchanged."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class TextCheck:
    """One stored text, tokenized again."""

    text: str
    text_pair: str | None
    expected: Annotated[tuple[int, ...], "the stored ids, including [CLS] and [SEP]"]
    found: Annotated[tuple[int, ...], "the ids of today; () if the tokenizer could not be used"]

    @property
    def ok(self) -> bool:
        """Whether all ids are equal."""
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """One output of one class, recomputed from stored ids; values are in the unit of the output."""

    class_name: Annotated[str, 'for example "BertForMaskedLM"']
    output: Annotated[str, "its name in `ModelOutputs`"]
    texts: Annotated[tuple[int, ...], "indices of the stored texts computed as one batch"]
    compared: Annotated[int, "how many numbers were compared"]
    largest: Annotated[float, "largest absolute value among the stored numbers"]
    tolerance: Annotated[float, "largest difference that counts as equal"]
    difference: Annotated[float | None, "largest; infinite if not comparable; None: no output"]

    @property
    def ok(self) -> bool:
        """Whether the output was computed and no number differs by more than the tolerance."""
        return self.difference is not None and self.difference <= self.tolerance


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of a verification."""

    name: Annotated[str, "the bundled name or folder that was verified"]
    files: Annotated[tuple[FileCheck, ...], "every file that affects the model's computations"]
    texts: Annotated[tuple[TextCheck, ...], "every stored text"]
    outputs: Annotated[tuple[OutputCheck, ...], "every stored output"]
    failure: Annotated[str, 'why outputs or tokens could not be computed; ""'] = ""

    @property
    def ok(self) -> bool:
        """Whether everything agrees: all files, all tokens, all outputs."""
        groups = (self.files, self.texts, self.outputs)
        return not self.failure and all(check.ok for group in groups for check in group)

    @property
    def difference(self) -> float:
        """The largest difference over all outputs; infinite if one could not be computed."""
        found = [check.difference for check in self.outputs]
        return max((math.inf if each is None else each for each in found), default=0.0)

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return sum(check.compared for check in self.outputs)
