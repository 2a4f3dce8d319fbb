"""Every face but the Streamlit pages, made from the declarations of the tasks (`app.declared`).

>>> from app.faces import ask
>>> answer = ask("tokenizer", "Unbelievable!")
>>> answer.report.headline
'The model reads 2 words as 2 pieces.'

- `answers.py`: asking a task; the command line, the notebook, Gradio and the API do it there.
- `json.py`: a result as JSON.
- `page.py`: a report as one file that opens offline.
- `notebook.py`: the computation of a page as a notebook.
- `text.py`: a report on a terminal.
- `terminal.py`: `python -m app TASK TEXT`.
"""

from app.declared.answers import Answer, ask

__all__ = ["Answer", "ask"]
