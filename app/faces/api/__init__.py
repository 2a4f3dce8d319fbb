"""The interface for programs: JSON over HTTP, and tools for assistants (MCP).

Both are made from the declarations of the tasks (`app.declared`). Nothing is kept between two
requests but an answer that is fetched in a second step, and no call needs Gradio.

- `front.py`: which paths are answered here; everything else is passed on.
- `calling.py`: a request becomes a call, and its answer, or the reason why there is none, JSON.
- `routes.py`: `/api/<task>`, with its description and documentation.
- `gradio_routes.py`: the same calls at the addresses, and in the form, that Gradio gives them.
- `tools.py`: MCP.
- `described.py`: parameters and results as JSON Schema, and all of them as OpenAPI.
- `pages.py`: the documentation as a page.
"""

from app.faces.api.front import API, TOOLS, Programs

__all__ = ["API", "TOOLS", "Programs"]
