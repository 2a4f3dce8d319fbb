"""Rooms of classes: what one is, how it changes, and where all of them are.

- `records.py`: a room, its boards, the question, the votes.
- `turns.py`: the state machine; each turn takes a room and returns the next one.
- `store.py`: all rooms of this process, in memory, with their bounds.
- `tries.py`: limits on attempts per minute.

This package knows no interface, no model and no lesson. Rooms are values, so that a store that
several processes share can keep them in the same way.
"""
