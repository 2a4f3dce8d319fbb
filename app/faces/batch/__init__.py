"""Every row of a file through a task: `python -m app batch TASK FILE --out OUT`.

- `command.py`: the command, and how far it is.
- `reading.py`: rows of text, CSV, JSONL and Parquet files; what is no row says why.
- `answering.py`: chunks of rows over the cores; another function may answer a chunk elsewhere.
- `keeping.py`: what has been answered, so that a run goes on after a kill.
- `writing.py`: the answers as one table.
"""
