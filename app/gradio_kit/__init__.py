"""The second face: a Gradio page, an API endpoint and an MCP tool for each feature.

All three are made from the declarations of the tasks (`app.declared`); nothing here is written for
one feature. Importing this package does not import Gradio, which takes seconds.

- `later.py`: `mounted()`, the face as a part of the site's server, loaded in the background.
- `face.py`: `build()`, all pages and endpoints.
- `pages.py`: the page of a feature, and the home page.
- `endpoints.py`: the named endpoints.
- `work.py`: runs a task for either, and turns errors into messages.
- `routes.py`: which of Gradio's routes exist here, and how long a request may be.
- `tools.py`: the MCP tools.
- `look.py`: the style sheets, the theme and the menu.
"""

from app.gradio_kit.later import Later, mounted

__all__ = ["Later", "mounted"]
