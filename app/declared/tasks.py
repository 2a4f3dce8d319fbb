"""Tasks as declared: what every interface except the Streamlit pages is made from.

All of them come from what exists once for each feature: the signature and the docstring of its
task, its frozen result, and `screen` in its view.

A tab of a page that computes something else is a task of its own: a function `<slug>_<name>` in
`task_<name>.py`, with `screen` and `TITLE` in `view_<name>.py`; and `EXAMPLE`, values for its form,
if no example of the page has them.
"""

import inspect
import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from app import catalog
from app.catalog import Example, Feature
from app.engine.models import Engine
from app.records.fields import Field
from app.words.screen import Screen
from bert_core.errors import InputError

T = TypeVar("T")
Value = str | int | float | bool | tuple[str, ...] | None
_PLAIN = (str, int, float, bool)
_EXPECTED = {str: "a text", int: "a whole number", float: "a number", bool: "true or false",
             list: "a list of texts, or one text with a line for each"}  # fmt: skip
_FOUND = {**_EXPECTED, list: "a list", dict: "an object", types.NoneType: "nothing"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value that a person gives to a task."""

    name: Annotated[str, "in the signature, the API and the command line"]
    kind: Annotated[type, "`str`, `int`, `float`, `bool`, or `list` for several texts"]
    field: Annotated[Field, "what a form shows"]
    about: Annotated[str, "what the docstring says"]
    required: Annotated[bool, "whether it must be given"]
    default: Annotated[Value, "otherwise"]
    optional: Annotated[bool, "whether None is allowed; its meaning is in `about`"]
    choices: Annotated[tuple[str, ...], "the texts that are allowed; () for any"]

    @property
    def key(self) -> str:
        """The page's widget for it, which links and examples name."""
        return self.field.key or self.name

    @property
    def also(self) -> tuple[str, ...]:
        """Its other names: what links call it, and "question" for a second text that may be one."""
        others = (self.key, "question" if self.name == "text_pair" else "")
        return tuple(each for each in others if each not in {"", self.name})

    @property
    def is_text(self) -> bool:
        """Whether it is a text, or several, that a visitor writes."""
        return self.kind in (str, list) and not self.choices and not self.field.model

    @property
    def limited(self) -> bool:
        """Whether more is expected than its type says."""
        return bool(self.choices) or self.field.low is not None or self.field.high is not None

    def read(self, given: object) -> Value:
        """Check a value from outside.

        Raises:
            InputError: wrong type, out of range, or none of the choices.
        """
        if given is None and self.optional:
            return None
        if self.kind is list:
            return self._texts(given)
        value = given
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON of browsers has one kind of number
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not self.kind:
            raise self._refusal(_FOUND.get(type(given), type(given).__name__))
        assert isinstance(value, _PLAIN)
        if isinstance(value, float) and not math.isfinite(value):
            raise self._refusal(str(value))
        if isinstance(value, str) and not _is_text(value):
            raise self._refusal("half of a character")
        if self.choices and value not in self.choices:
            raise self._refusal(repr(value)[:60])
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.field.low, self.field.high
            if (low is not None and value < low) or (high is not None and value > high):
                raise self._refusal(str(value)[:60])
        return value

    def expected(self) -> str:
        """Say in words what is expected."""
        if self.choices:
            return " or ".join(self.choices)
        low, high = self.field.low, self.field.high
        start = "" if low is None else f" from {low:g}"
        return _EXPECTED[self.kind] + start + ("" if high is None else f" to {high:g}")

    def _texts(self, given: object) -> tuple[str, ...]:
        if isinstance(given, list | tuple) and len(given) == 1:
            (given,) = given  # a command line gives one text so
        if isinstance(given, str):
            lines = given.removeprefix("\ufeff").splitlines()
            return tuple(line.strip() for line in lines if line.strip())
        if not isinstance(given, Sequence) or isinstance(given, bytes):
            raise self._refusal(_FOUND.get(type(given), type(given).__name__))
        if not all(isinstance(each, str) and _is_text(each) for each in given):
            raise self._refusal("a list with something else in it")
        return tuple(given)

    def _refusal(self, found: str) -> InputError:
        return InputError(f"{self.name}: found {found}; expected {self.expected()}.")


def _is_text(value: str) -> bool:
    """Return whether a text can be written; JSON can contain halves of characters (surrogates)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Declared:
    """A feature's task, ready for any interface."""

    feature: Annotated[
        Feature, "its row of the catalog; that of a tab has the name of its task as slug"
    ]
    task: Annotated[Callable[..., Any], "the function; the first argument is the engine"]
    screen: Annotated[Callable[..., Screen], "says what is shown of its result"]
    parameters: Annotated[
        tuple[Parameter, ...], "what a person gives, in the order of the signature"
    ]
    about: Annotated[str, "the first paragraph of the task's docstring"]
    result: Annotated[type, "the class of the result"]
    example: Annotated[
        Mapping[str, str], "values by key, for a tab that no example of its page has values for"
    ] = field(default_factory=dict)
    snippet: Annotated[
        Callable[..., str] | None,
        "writes the same computation in Python, given the result and the model's name; it may take"
        " settings, too",
    ] = None
    settings: Annotated[
        tuple[Parameter, ...], "what can be given to `screen`, in the order of its signature"
    ] = ()
    steps: Annotated[str, "what its progress counts, in the plural"] = "windows"
    invitation: Annotated[
        str, 'what a page says while a box is empty; "" to let the task answer'
    ] = ""

    @property
    def typed(self) -> tuple[Parameter, ...]:
        """What must be given, in the order of a command line: that of the page's boxes."""
        needed = (each for each in self.parameters if each.required)
        return tuple(sorted(needed, key=lambda each: not each.field.first))

    @property
    def examples(self) -> tuple[Example, ...]:
        """The examples of its page; for a tab without notes, and only those it can be given."""
        found = catalog.examples(self.feature.folder)
        if not self.feature.part_of:
            return found
        needed = {each.key for each in self.parameters if each.required}
        fitting = [replace(each, note="") for each in found if needed <= each.values.keys()]
        return tuple(fitting or [Example(self.feature.title, "", self.example)])

    @property
    def reports_progress(self) -> bool:
        """Whether the task takes `progress`, a function of the steps done and their number."""
        return "progress" in inspect.signature(self.task).parameters

    def on_page(self, result: object, model: str, **settings: object) -> Screen:
        """Return the screen of a result as a page shows it, where links may name the model."""
        named = (model,) if _names_model(self.screen) else ()
        return self.screen(result, *named, **settings)

    def run(self, engine: Engine, given: Mapping[str, object], **own: object) -> Any:
        """Check the values and run the task.

        What is missing takes its default; `own` is what the program itself passes to the task.

        Raises:
            InputError: a value is missing, unknown or not allowed; or the task refuses the text.
        """
        return self.task(engine, **self.read(given), **own)

    def read(self, given: Mapping[str, object]) -> dict[str, Value]:
        """Check the values alone; see `run`."""
        known = {each.name: each for each in self.parameters}
        given = self.by_name(given)
        for name in given:
            if name not in known:
                raise InputError(
                    f"{self.feature.slug} has no parameter {name[:60]!r}. "
                    f"Parameters are: {', '.join(known)}."
                )
        for each in self.parameters:
            if each.required and each.name not in given:
                raise InputError(f"{each.name} is missing; expected {each.expected()}.")
        return {name: known[name].read(value) for name, value in given.items()}

    def by_name(self, given: Mapping[str, T]) -> dict[str, T]:
        """Call values that came by another name by the name in the signature."""
        names = {each.name for each in self.parameters}
        others = {other: each.name for each in self.parameters for other in each.also}
        free = {other: name for other, name in others.items() if name not in given}
        return {
            name if name in names else free.get(name, name): value for name, value in given.items()
        }

    def example_values(self, values: Mapping[str, object]) -> dict[str, object]:
        """Turn the values of an example, which name widgets of the page, into parameters.

        A box of one line takes the first line of a text.
        """
        found = {each: values[each.key] for each in self.parameters if each.key in values}
        return {
            each.name: value.partition("\n")[0]
            if isinstance(value, str) and each.field.lines == 1
            else value
            for each, value in found.items()
        }


@cache
def declared(name: str) -> Declared:
    """Read the declaration of a task.

    `name` is the slug of a feature, or the name of a tab's task.

    Raises:
        InputError: there is no such task.
    """
    for row in catalog.FEATURES:
        if name == row.slug or (name.startswith(f"{row.slug}_") and name in tabs(row.slug)):
            return _declared(row, name)
    known = ", ".join(each.feature.slug for each in all_declared())
    raise InputError(f"There is no task named {name!r}. Tasks are: {known}.")


@cache
def tabs(slug: str) -> tuple[str, ...]:
    """Return the names of the further tasks of a feature."""
    folder = catalog.FOLDER / slug
    names = (path.stem.removeprefix("task_") for path in sorted(folder.glob("task_*.py")))
    both = (name for name in names if (folder / f"view_{name}.py").is_file())
    found = ((name, import_module(f"app.features.{slug}.task_{name}")) for name in both)
    return tuple(f"{slug}_{name}" for name, module in found if hasattr(module, f"{slug}_{name}"))


def tabs_shown(slug: str) -> tuple[str, ...]:
    """Return the tasks that a page shows in tabs: its further ones, and features without a page."""
    return (*tabs(slug), *(row.slug for row in catalog.FEATURES if row.tab_of == slug))


def _declared(row: Feature, name: str) -> Declared:
    suffix = name.removeprefix(row.slug)
    task: Callable[..., Any]
    task = getattr(import_module(f"app.features.{row.slug}.task{suffix}"), name)
    view = import_module(f"app.features.{row.slug}.view{suffix}")
    about = " ".join((inspect.getdoc(task) or "").split("\n\n")[0].split())
    if suffix:
        row = replace(row, slug=name, title=view.TITLE, see=about, part_of=row.slug)
    return Declared(
        feature=row,
        task=task,
        screen=view.screen,
        parameters=_parameters(task, 1),  # without the engine
        about=about,
        result=get_type_hints(task)["return"],
        example=getattr(view, "EXAMPLE", {}),
        snippet=getattr(view, "snippet", None),
        settings=_parameters(view.screen, 1 + _names_model(view.screen)),  # without the result
        steps=getattr(view, "STEPS", "windows"),
        invitation=getattr(view, "INVITATION", ""),
    )


def all_declared() -> tuple[Declared, ...]:
    """Return the declarations of all tasks, in the order of the menu, each page before its tabs."""
    return tuple(declared(name) for row in catalog.FEATURES for name in (row.slug, *tabs(row.slug)))


def _names_model(screen: Callable[..., Screen]) -> bool:
    """Return whether a screen takes the name of the model, which only a page gives."""
    return [*inspect.signature(screen).parameters][1:2] in (["model"], ["_"])


def _parameters(function: Callable[..., Any], skipped: int) -> tuple[Parameter, ...]:
    notes = described(inspect.getdoc(function) or "")
    hints = get_type_hints(function, include_extras=True)
    signature = list(inspect.signature(function).parameters.values())[skipped:]
    found = (_parameter(each, hints[each.name], notes.get(each.name, "")) for each in signature)
    return tuple(each for each in found if each is not None)


def _parameter(given: inspect.Parameter, hint: Any, about: str) -> Parameter | None:
    """Read one parameter; None for what only the program passes, such as a progress function."""
    field = Field(given.name.replace("_", " ").capitalize())
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        field = next((each for each in more if isinstance(each, Field)), field)
    parts = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    types_ = [each for each in parts if each is not types.NoneType]
    (one, *others) = types_
    choices: tuple[str, ...] = ()
    if get_origin(one) is Literal:
        choices, one = get_args(one), str
    if get_origin(one) is Sequence and get_args(one) == (str,):
        one = list
    if others or one not in _EXPECTED:
        return None
    required = given.default is inspect.Parameter.empty
    return Parameter(
        name=given.name,
        kind=one,
        field=field,
        about=about,
        required=required,
        default=None if required else given.default,
        optional=types.NoneType in parts,
        choices=choices,
    )


def described(docstring: str) -> dict[str, str]:
    """Read what the section "Args" of a docstring says of each name."""
    found = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", docstring, re.M | re.S)
    rows = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z)", found[1] if found else "", re.M | re.S)
    return {name: " ".join(text.split()) for name, text in rows}
