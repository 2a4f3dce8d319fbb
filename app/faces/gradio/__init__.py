"""The Gradio interface: a Gradio page, and an endpoint for Gradio's clients, for each feature.

All three are made from the declarations of the tasks (`app.declared`); nothing here is written for
one feature. Importing this package does not import Gradio, which takes seconds.

- `face.py`: `build()`, all pages, and the named endpoints.
- `pages.py`: the page of a feature, and the home page.
- `widgets.py`: the form of a page.
- `carry.py`: a text that goes along by the menu.
- `written.py`: what a page shows.
- `work.py`: runs a task in its turn, and turns errors into messages.
- `routes.py`: which of Gradio's routes exist here, and how long a request may be.
- `look.py`: the style sheets, the theme and the menu.
"""
