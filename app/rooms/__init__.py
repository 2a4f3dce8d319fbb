"""Rooms of classes: what one is, how it changes, and where all of them are.

- `records.py`: a room, its boards, the question, the votes.
- `turns.py`: the state machine; each turn takes a room and returns the next one.
- `written.py`: a room as JSON, and back.
- `store.py`: all rooms, with their bounds.

This package knows no interface, no model and no lesson. Rooms are values, so that servers can share
them (`app/shared`).
"""
