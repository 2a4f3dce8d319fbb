"""The learning curve of a stage, as a table."""

from pathlib import Path

import pandas as pd


def write_curve(log: Path, target: Path) -> None:
    """Write the losses of a log (nats) as CSV: running means, a column for each part."""
    rows = pd.read_json(log, lines=True)
    parts = pd.json_normalize(rows["parts"].tolist()).set_index(rows["step"])
    means = parts.rolling(max(1, len(parts) // 40), min_periods=1).mean()
    means.iloc[:: max(1, len(means) // 400)].round(4).to_csv(target)
