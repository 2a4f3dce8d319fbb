"""Where every head looks on average over a fixed set of texts.

`head_statistics` computes it for any model, `read_head_statistics` reads what was computed when a
bundle was written. `python -m bert_core head-statistics NAME_OR_FOLDER` prints a table.
"""

from bert_core.analysis.head_statistics.computing import MEASURES, head_statistics
from bert_core.analysis.head_statistics.file import (
    measure_folder,
    read_head_statistics,
    stale_because,
    to_json,
    write_head_statistics,
)
from bert_core.analysis.head_statistics.results import HeadStatistics
from bert_core.analysis.head_statistics.texts import fixed_texts, text_digest

__all__ = [
    "MEASURES",
    "HeadStatistics",
    "fixed_texts",
    "head_statistics",
    "measure_folder",
    "read_head_statistics",
    "stale_because",
    "text_digest",
    "to_json",
    "write_head_statistics",
]
