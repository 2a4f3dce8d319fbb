"""The computation of a page as a Jupyter notebook."""

import json


def notebook(title: str, source: str) -> bytes:
    """Write a notebook of two cells: what it computes, and the program (nbformat 4.5)."""
    needs = "It needs `bert_core`: `pip install .` in a checkout."
    about = f"# {title}\n\nWritten by BERT Explorer. {needs}"
    cells = [
        {"cell_type": "markdown", "id": "about", "metadata": {}, "source": about},
        {"cell_type": "code", "id": "program", "metadata": {}, "source": source.strip("\n"),
         "execution_count": None, "outputs": []},
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    found = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(found, ensure_ascii=False, indent=1).encode()
