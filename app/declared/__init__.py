"""The tasks as declared: what every interface but the hand-made pages is made from.

- `tasks.py`: parameters, result and report of a task, read from its signature and its view.
- `carried.py`: which boxes of a page a visitor's text fills when it goes along by the menu.
"""

from app.declared.tasks import (
    Declared,
    Parameter,
    all_declared,
    declared,
    tabs,
    tabs_shown,
)

__all__ = ["Declared", "Parameter", "all_declared", "declared", "tabs", "tabs_shown"]
