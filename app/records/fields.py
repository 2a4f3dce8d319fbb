"""How people give the values of a task: in a form, in a link, on a command line.

The types of a task's signature say what a value is; `Annotated[int, Field(...)]` adds what a form
needs. `app.declared` reads both.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """What a form shows for one parameter of a task.

    Attributes:
        label: its name on the screen.
        key: of the page's widget that holds the value, in links and in examples; "" for the name
            of the parameter.
        low: the smallest number allowed, or None.
        high: the largest number allowed, or None.
        lines: height of its text box; 0 for what is not a text.
        first: whether it is above the other boxes on the page, and so given first on a command
            line.
        most: what limits the number further on a page: a number, or a property that has it: of
            the model for a task, of the result for a screen. The widget of a screen is drawn only
            where that leaves a choice.
        start: what the page has at first, if not the default.
        names: choices with their names on the screen, in their order there.
        hint: what an empty text box suggests.
        layer: whether it is a layer of the model, and -1 the input of the first one.
        model: whether it is the name of a second model on offer.
    """

    label: str
    key: str = ""
    low: float | None = None
    high: float | None = None
    lines: int = 0
    first: bool = False
    most: str | float = ""
    start: float | None = None
    names: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    layer: bool = False
    model: bool = False


SHUFFLE = Field("Shuffle the words (0: as written)", key="mixed", low=0, high=20)
"""The number of another order of a text's words, for tasks that can read one."""
