"""Complete an exported bundle once its weights are final: figures, card, verification files.

Everything is computed from the bundle itself, in an order that leaves nothing out of date:
temperatures go into the configuration, whose hash is then recorded for verification.
"""

from collections.abc import Callable
from pathlib import Path

from bert_core.analysis.statistics_file import write_head_statistics
from bert_core.verification import write_verification
from training.calibration import calibrate
from training.evaluation import measure
from training.export import describe_bundle


def finish(
    folder: Path, data: Path, device: str = "cpu", say: Callable[[str], None] = print
) -> None:
    """Complete a bundle that `export` has just written.

    Args:
        folder: the bundle's folder.
        data: the data folder.
        device: device for the measurements.
        say: called with lines of progress.
    """
    calibrate(folder, data, device, say=say)
    write_verification(folder)
    write_head_statistics(folder)
    describe_bundle(folder, measure(folder, data, device, say=say))
