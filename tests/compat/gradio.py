"""What tests use of Gradio beyond its documentation; `app/compat/gradio.py` has the rest."""

from typing import Any

import gradio as gr


def number_of(function: gr.blocks.BlockFunction) -> int:
    """Return the number under which a browser calls a function."""
    return function._id


def queue_limits(face: gr.Blocks) -> tuple[int | None, int]:
    """Return how many calls may wait, and how many are kept for statistics."""
    return face._queue.max_size, face._queue.ANALYTICS_MAX_EVENTS


def open_sessions(face: gr.Blocks) -> int:
    """Return how many sessions are kept."""
    return len(face.state_holder.session_data)


def most_sessions(face: gr.Blocks) -> int:
    """Return how many sessions are kept at most."""
    return int(face.state_session_capacity)


def fetched_later(face: gr.Blocks) -> Any:
    """Return the answers in the queue, and places for those to come, by session."""
    return face._queue.pending_messages_per_session
