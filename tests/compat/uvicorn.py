"""What tests use of uvicorn beyond its documentation; `app/compat/uvicorn.py` has the rest."""

import uvicorn


def open_now(server: uvicorn.Server) -> tuple[int, int]:
    """Return how many connections a server has, and how many requests it is answering."""
    state = server.server_state
    return len(state.connections), len(state.tasks)
