"""A task asked by its name, and what its answer becomes on paper.

- `answers.py`: asking a task; the command line, notebooks, Gradio and the API do it there.
- `opening.py`: loading the model beside the imports that an answer needs.
- `arguments.py`: the command lines that ask.
- `json.py`: a result as JSON.
- `page.py`: a report as one file that opens offline.
- `notebook.py`: the computation of a page as a notebook.
- `text.py`: a report on a terminal.
"""
