"""The interface for programs: JSON over HTTP, and tools for assistants (MCP).

Both are made from the declarations of the tasks (`app.declared`). Nothing is kept between two
requests, and no call needs Gradio.

- `front.py`: which paths are answered here; everything else is passed on.
- `calling.py`: a request becomes a call, and its answer, or the reason why there is none, JSON.
- `routes.py`: `/api/<task>`, and the same calls where Gradio has them.
- `tools.py`: MCP.
- `described.py`: parameters and results as JSON Schema.
"""

from app.faces.api.front import API, TOOLS, Programs

__all__ = ["API", "TOOLS", "Programs"]
