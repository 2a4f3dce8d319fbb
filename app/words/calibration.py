"""What a stated probability is worth, in one sentence for every page."""

from app.results import Calibration
from app.words.html import Html, join, visible


def calibrated(calibration: Calibration, cases: str = "answers") -> Html:
    """Say whether 70 % means right seven times in ten, and by which temperature.

    Args:
        calibration: what the probabilities were made with.
        cases: what is right or wrong, in the plural.
    """
    if not calibration.named:
        return join(
            "Not calibrated: the configuration of this model names no temperature (it is 1), so "
            f"{cases} given 70 % need not be right seven times in ten."
        )
    data = f" on {visible(calibration.fitted_on)}" if calibration.fitted_on else ""
    return join(
        f"Calibrated with temperature {calibration.temperature:.2f}, fitted{data}: logits are "
        f"divided by it before the softmax, so that of {cases} like those, given 70 %, about "
        "seven in ten are right."
    )
