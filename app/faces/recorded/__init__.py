"""The recorded site: every example of every page with its results, as plain files.

It needs no server, no network and no model, so it is the form that costs nothing and cannot be
attacked: a folder for a stick, a file share or a static Space. `python -m app record OUT` writes
it.

- `entries.py`: which examples there are, and what each is called.
- `drawing.py`: one page: menu, what was given, the results, and what was recorded with.
- `live.py`: what a browser needs to answer by itself; its program is `live/`.
- `playing.py`: a step of a lesson as data, for its player in `live/`.
- `writing.py`: the folder.
- `command.py`: the command line.
"""
