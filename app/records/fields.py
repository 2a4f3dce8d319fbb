"""How people give the values of a task: in a form, in a link, on a command line.

The types of a task's signature say what a value is; `Annotated[int, Field(...)]` adds what a form
needs. `app.declared` reads both.
"""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Field:
    """What a form shows for one parameter of a task."""

    label: Annotated[str, "its name on the screen"]
    key: Annotated[
        str,
        'of the page\'s widget that holds the value, in links and in examples; "" for the name of'
        " the parameter",
    ] = ""
    low: Annotated[float | None, "the smallest number allowed, or None"] = None
    high: Annotated[float | None, "the largest number allowed, or None"] = None
    lines: Annotated[int, "height of its text box; 0 for what is not a text"] = 0
    first: Annotated[
        bool,
        "whether it is above the other boxes on the page, and so given first on a command line",
    ] = False
    most: Annotated[
        str | float,
        "what limits the number further on a page: a number, or a property that has it: of the "
        "model for a task, of the result for a screen. The widget of a screen is drawn only where "
        "that leaves a choice",
    ] = ""
    start: Annotated[float | None, "what the page has at first, if not the default"] = None
    names: Annotated[
        tuple[tuple[str, str], ...], "choices with their names on the screen, in their order there"
    ] = ()
    hint: Annotated[str, "what an empty text box suggests"] = ""
    layer: Annotated[
        bool, "whether it is a layer of the model, and -1 the input of the first one"
    ] = False
    model: Annotated[bool, "whether it is the name of a second model on offer"] = False


# The number of another order of a text's words, for tasks that can read one.
SHUFFLE = Field("Shuffle the words (0: as written)", key="mixed", low=0, high=20)
