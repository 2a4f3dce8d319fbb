"""The students' face of a class: one light page at `/class/<code>`, told of changes by events.

It asks the model nothing. May import `app/rooms`, never a feature or another face.

- `payloads.py`: what browsers are sent, as JSON.
- `streams.py`: the streams of events, and who is there.
- `front.py`: the addresses, and what is refused.
"""

from app.faces.classroom.front import CLASS, Classroom

__all__ = ["CLASS", "Classroom"]
