"""What a probability on a page is worth: the temperature it was made with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """How logits became probabilities: softmax(logits / temperature).

    Attributes:
        temperature: T; 1 leaves the logits as they are.
        named: whether the model's configuration names it; if not, nobody fitted one.
        fitted_on: which data, as the configuration says; "" where it does not.
    """

    temperature: float = 1.0
    named: bool = False
    fitted_on: str = ""
