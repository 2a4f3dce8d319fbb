"""Tables of rows: every row through one task, and a judge that counts where the model is right.

- `tables.py`: rows of text, CSV, TSV, JSONL and Parquet; what is no row says why.
- `columns.py`: the tasks, and which column of a table is what.
- `gold.py`: what a person says is right, in the forms in which data sets write it.
- `answering.py`: rows through a model in batches; each answer is that of the task for one row.
- `judge.py`: counts, without a word on texts: precision, recall, F1, exact match, intervals.
- `judged.py`: an answer beside its gold, and the report of a whole table.
- `slices.py`: the same counts for parts of a table.
- `samples.py`: two tables of our own.
- `kept.py`: tables and answers of all visitors, bounded together.

This package knows no feature and no interface.
"""
