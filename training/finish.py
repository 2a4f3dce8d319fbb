"""What an exported bundle gets once its weights stand: figures, card, what it is verified with.

Everything here is computed from the bundle itself, in an order in which nothing is out of date
at the end: temperatures become part of the configuration, whose hash is kept for verification.
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
        device: what measurements run on.
        say: gets a line of text now and then.
    """
    calibrate(folder, data, device, say=say)
    write_verification(folder)
    write_head_statistics(folder)
    describe_bundle(folder, measure(folder, data, device, say=say))
