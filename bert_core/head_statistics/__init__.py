"""Where every head looks on average over a fixed set of texts.

`head_statistics` computes it for any model, `read_head_statistics` reads what was computed when a
bundle was written. `python -m bert_core head-statistics NAME_OR_FOLDER` prints a table.
"""

from bert_core.head_statistics.results import HeadStatistics

__all__ = ["HeadStatistics"]
