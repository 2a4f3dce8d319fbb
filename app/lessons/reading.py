"""A file becomes a lesson, claims or terms; or a sentence about what is wrong with it.

Everything is checked when a file is read: its keys, the values of the task, every quantity, claim
and term that it names. So what a visitor opens can be computed.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints
from urllib.parse import quote

from app.catalog import feature
from app.declared import Declared, declared
from app.lessons.heads import NAMED
from app.lessons.looking import CLAIM, GAP, HEAD, check_known, filled_words
from app.lessons.quantities import QUANTITIES
from app.lessons.quantities_inside import OF_HEADS
from app.lessons.quantity import refer
from app.lessons.records import (
    Another,
    At,
    Change,
    Choice,
    Claim,
    Condition,
    Kind,
    Lesson,
    Look,
    Question,
    Step,
    Term,
    Values,
)
from app.settings import settings
from bert_core.errors import InputError, count

TERM = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]")
"""A word with an entry in the glossary: `[[piece]]`, or `[[pieces|piece]]` in another form."""

SLUG = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MOST_STEPS, _MOST_BYTES = 6, 200_000
_KINDS, _AT = get_args(Kind), get_args(At)
_INSIDE = ("attention", "xray")  # pages on which pieces and heads can be pointed at
_TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false",
          list: "a list", dict: "a table"}  # fmt: skip
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known:
    """What a lesson may name."""

    claims: Annotated[Mapping[str, Claim], "the claims"]
    terms: Annotated[Collection[str], "the entries of the glossary"]

    @property
    def roles(self) -> frozenset[str]:
        """What heads are called for which a claim holds most often."""
        return frozenset(each.role for each in self.claims.values() if each.role)


@dataclass(slots=True)
class Table:
    """A table of a file, read key by key."""

    place: Annotated[str, "the file and where in it"]
    rest: Annotated[dict[str, Any], "what has not been read"]

    def wrong(self, says: str) -> InputError:
        """Say where something is wrong."""
        return InputError(f"{self.place}: {says}.")

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return a value.

        Raises:
            InputError: it is missing, or of another type.
        """
        if key not in self.rest:
            if default is None:
                raise self.wrong(f"{key} is missing; expected {_TYPES[kind]}")
            return default
        value = self.rest.pop(key)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            found = _TYPES.get(type(value), type(value).__name__)
            raise self.wrong(f"{key}: found {found}; expected {_TYPES[kind]}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text, its lines joined."""
        return " ".join(self.take(key, str, default).split())

    def table(self, key: str) -> "Table | None":
        """Return a table in this one; None if it is not given."""
        return Table(f"{self.place}, {key}", self.take(key, dict)) if key in self.rest else None

    def tables(self, key: str) -> list["Table"]:
        """Return a list of tables; [] if it is not given."""
        rows = self.take(key, list, [])
        if not all(isinstance(row, dict) for row in rows):
            raise self.wrong(f"{key}: expected tables, in braces")
        return [Table(f"{self.place}, {key} {n}", dict(row)) for n, row in enumerate(rows, 1)]

    def names(self, key: str) -> tuple[str, ...]:
        """Return one text or several; () if they are not given."""
        value = self.rest.pop(key, [])
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.wrong(f"{key}: expected a text, or a list of texts")
        return tuple(found)

    def record(self, kind: type[T], /, **given: Any) -> T:
        """Read all that is left into a record: each field under its name, and of its type.

        Args:
            kind: a dataclass; a field with a default can be missing.
            given: fields that have been read.

        Raises:
            InputError: a value is missing or of another type, or there is one too many.
        """
        hints = get_type_hints(kind)
        for each in fields(kind):  # type: ignore[arg-type]
            if each.name not in given:
                default = None if each.default is MISSING else each.default
                given[each.name] = self._value(each.name.rstrip("_"), hints[each.name], default)
        self.done()
        return kind(**given)

    def _value(self, key: str, kind: Any, default: Any) -> object:
        if kind is str:
            return self.text(key, default)
        if kind == tuple[str, ...]:
            return self.names(key)
        if kind == float | None:
            return self.take(key, float) if key in self.rest else None
        return self.take(key, kind, default)

    def done(self) -> None:
        """Refuse keys that nothing has read.

        Raises:
            InputError: there are some.
        """
        if self.rest:
            raise self.wrong(f"found {', '.join(sorted(self.rest))}; no such key is known here")


def read_file(path: Path) -> Table:
    """Read a file of TOML.

    Raises:
        InputError: it is too large, or no TOML.
    """
    data = path.read_bytes()
    if len(data) > _MOST_BYTES:
        raise InputError(
            f"{path.name}: found {len(data):,} bytes; expected at most {_MOST_BYTES:,}."
        )
    try:
        return Table(path.name, tomllib.loads(data.decode()))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name}: this is not TOML: {error}.") from None


def read_lesson(path: Path, known: Known, *, own: bool = False) -> Lesson:
    """Read a lesson.

    Args:
        path: the file; its name is the lesson's in addresses.
        known: what it may name.
        own: whether it is the operator's.

    Raises:
        InputError: something is wrong with it; the message names the place.
    """
    table = read_file(path)
    if not SLUG.fullmatch(path.stem):
        raise table.wrong("expected a file name of small letters, digits and hyphens")
    steps = tuple(
        _Step(Table(f"{path.name}, step {number}", each.rest), known).read()
        for number, each in enumerate(table.tables("step"), 1)
    )
    lesson = table.record(Lesson, slug=path.stem, steps=steps, own=own)
    if not 1 <= len(lesson.steps) <= _MOST_STEPS:
        raise table.wrong(f"found {count(len(lesson.steps), 'step')}; expected 1 to {_MOST_STEPS}")
    for name in lesson.claims:
        _known(table, "claim", name, known.claims)
    for says in (lesson.goal, lesson.last, lesson.larger):
        _check_terms(table, says, known)
    return lesson


def _known(table: Table, what: str, name: str, among: Collection[str]) -> None:
    if name not in among:
        raise table.wrong(f"found the {what} {name[:60]!r}; expected one of {', '.join(among)}")


def _check_terms(table: Table, says: str, known: Known) -> None:
    for match in TERM.finditer(says):
        _known(table, "term", match[2] or match[1], known.terms)


def _declared(table: Table, name: str) -> Declared:
    """Return the task of a step or claim, which must be one whose results have quantities."""
    _known(table, "page", name, QUANTITIES)
    return declared(name)


class _Step:
    """Reads one step; everything in it is checked against its page and its texts."""

    def __init__(self, table: Table, known: Known) -> None:
        self.table, self.known = table, known
        self.page = _declared(table, table.text("page"))
        spare = (_look(each, self.page, known.roles, close=True) for each in table.tables("spare"))
        self.looks = (_look(table, self.page, known.roles), *spare)
        for each in self.looks[1:]:
            if each.beside.keys() != self.looks[0].beside.keys() or (
                each.words.keys() != self.looks[0].words.keys()
            ):
                raise table.wrong("a spare text has other names in beside or words than the first")

    def read(self) -> Step:
        table = self.table
        question, why = table.table("question"), table.table("why")
        change, another = table.table("change"), table.table("another")
        step = table.record(
            Step,
            page=self.page.feature.slug,
            looks=self.looks,
            holds=_conditions(table, "holds", self.quantity),
            question=self.question(question) if question else None,
            why=self.question(why, reason=True) if why else None,
            change=self.change(change) if change else None,
            another=self.another(another) if another else None,
        )
        self.said(table, step.heading, step.say, step.reveal)
        return step

    def said(self, table: Table, *templates: str) -> None:
        """Check the gaps and terms of templates."""
        for text in templates:
            words = filled_words(text, self.looks[0].names)
            for gap in GAP.finditer(words):
                self.quantity(table, gap[1])
            _check_terms(table, words, self.known)

    def quantity(self, table: Table, reference: str) -> None:
        reference = filled_words(reference, self.looks[0].names)
        try:
            check_known(self.page.feature.slug, reference, tuple(self.looks[0].beside))
        except InputError as error:
            raise table.wrong(str(error)) from None
        found = refer(reference)
        if found is not None and found.name == CLAIM:
            _check_figure(table, found.about, self.known.claims)
        if found is not None and found.name == HEAD:
            _known(table, "role", found.about, self.known.roles)

    def question(self, table: Table, *, reason: bool = False) -> Question:
        kind = table.text("kind", "choose")
        if kind not in _KINDS:
            raise table.wrong(f"kind: found {kind[:60]!r}; expected one of {', '.join(_KINDS)}")
        if kind == "word" and self.page.feature.slug != "fill_mask":
            raise table.wrong("kind: only fill_mask can be asked for a word of one's own")
        at = table.text("at", "words")
        if at not in _AT or (at != "words" and self.page.feature.slug not in _INSIDE):
            where = " and ".join(_INSIDE)
            raise table.wrong(
                f"at: found {at[:60]!r}; expected words, or on {where} also pieces or heads"
            )
        choices = tuple(self.choice(each, reason) for each in table.tables("choices"))
        of = table.text("of", "")
        ends = _ends(table, kind, of)
        found = table.record(Question, kind=kind, of=of, choices=choices, ends=ends, at=at)
        self.said(table, found.ask)
        for each in (found.of, found.minus, *(choice.of for choice in choices)):
            if each:
                self.quantity(table, each)
        _check_question(table, found, reason)
        return found

    def choice(self, table: Table, reason: bool) -> Choice:
        if "right" in table.rest and not reason:
            raise table.wrong(
                "right: which choice is right is computed; give it is, least, most or otherwise"
            )
        made = table.record(Choice)
        self.said(table, made.say, made.reply)
        return made

    def change(self, table: Table) -> Change:
        made = table.record(Change)
        self.said(table, made.ask, made.watch)
        texts = [each.name for each in self.page.parameters if each.kind is str]
        for each in made.edits:
            _known(table, "parameter", each, texts)
        return made

    def another(self, table: Table) -> Another:
        made = table.record(Another)
        _known(table, "claim", made.claim, self.known.claims)
        claim = self.known.claims[made.claim]
        if claim.task != self.page.feature.slug:
            raise table.wrong(f"the claim {made.claim} is about {claim.task}, not about this page")
        for text in (made.ask, made.yes, made.no, made.say):
            _check_item_gaps(table, text, claim)
        return made


def _check_question(table: Table, found: Question, reason: bool) -> None:
    """Check that a question can be answered."""
    if found.kind in {"choose", "order"} and len(found.choices) < 2:
        raise table.wrong(f"found {count(len(found.choices), 'choice')}; expected 2 or more")
    if found.kind == "order":
        if not all(each.of for each in found.choices):
            raise table.wrong("every choice of an order needs of, the quantity it is ordered by")
    elif reason:
        if not any(each.right for each in found.choices):
            raise table.wrong("no choice is right")
    elif not found.of:
        raise table.wrong("of is missing; expected the quantity that is the truth")
    elif found.kind == "choose" and not any(
        each.is_ or each.otherwise or each.least is not None or each.most is not None
        for each in found.choices
    ):
        raise table.wrong("no choice can be right; give one of them is, least, most or otherwise")


def _ends(table: Table, kind: str, of: str) -> tuple[int, int]:
    counted = of.startswith(f"{CLAIM}:") and of.endswith(".k") and "to" not in table.rest
    if kind != "number" or counted:  # a count goes from none to all
        return 0, 0
    low, high = table.take("from", int), table.take("to", int)
    if low >= high:
        raise table.wrong(f"from {low} to {high} is no scale")
    return low, high


def _look(
    table: Table, page: Declared, roles: Collection[str] = (), *, close: bool = False
) -> Look:
    """Read what is looked at, and check it against the task."""
    values = _values(table, table.take("values", dict), page, roles)
    beside = {
        name: _values(table, given, page, roles)
        for name, given in table.take("beside", dict, {}).items()
    }
    words = table.take("words", dict, {})
    if not all(isinstance(each, str) for each in words.values()):
        raise table.wrong("words: expected texts")
    if close:
        table.done()
    return Look(values, beside, words)


def _values(table: Table, given: object, page: Declared, roles: Collection[str]) -> Values:
    """Check the values of a task."""
    if not isinstance(given, dict):
        raise table.wrong("beside: expected tables of values, in braces")
    given = page.by_name(given)
    try:
        page.read({name: _some_head(table, name, value, roles) for name, value in given.items()})
    except InputError as error:
        raise table.wrong(str(error).rstrip(".")) from None
    limit = settings().address_chars
    for name, value in given.items():
        if isinstance(value, str) and len(quote(value)) > limit:
            raise table.wrong(
                f"{name} takes {len(quote(value)):,} characters in an address; expected at most "
                f"{limit:,}"
            )
    return given


def _some_head(table: Table, name: str, value: object, roles: Collection[str]) -> object:
    """Return a value as it could be when the heads that it names are known."""
    if not isinstance(value, str) or not (found := NAMED.search(value)):
        return value
    if found[1] == HEAD:
        _known(table, "role", found[2], roles)
    elif not found[2].isdigit() and found[0] != "{layer:last}":
        raise table.wrong(f"{name}: found {found[0][:60]}; expected a number of heads")
    return 0 if name in {"layer", "head"} else NAMED.sub("0.0", value)


def _conditions(
    table: Table, key: str, check: Callable[[Table, str], None]
) -> tuple[Condition, ...]:
    """Read conditions; each has one thing to compare with."""
    found = []
    for row in table.tables(key):
        made = row.record(Condition)
        for each in (*made.of, *made.more, made.same, made.other):
            if each:
                check(row, each)
        compared = [made.is_, made.more, made.same, made.other]
        if not made.of or not (any(compared) or made.least is not None or made.most is not None):
            raise row.wrong("expected of, and one of is, least, most, more, same, other")
        found.append(made)
    return tuple(found)


# -- claims ----------------------------------------------------------------------------------------

FIGURES = ("k", "n", "share", "interval")
_OF_TOLD = ("mean", "lowest", "highest")


def read_claims(paths: Sequence[Path]) -> dict[str, Claim]:
    """Read files of claims.

    Raises:
        InputError: something is wrong with one, or a name is given twice.
    """
    found: dict[str, Claim] = {}
    for path in paths:
        file = read_file(path)
        for name in list(file.rest):
            table = file.table(name)
            assert table is not None
            if name in found:
                raise table.wrong("there is another claim of this name")
            found[name] = _claim(name, table, found)
    return found


def _claim(name: str, table: Table, before: Mapping[str, Claim]) -> Claim:
    page = _declared(table, table.text("task"))
    shared = table.text("items_of", "")
    if shared:
        _known(table, "claim", shared, before)
    items = before[shared].items if shared else _items(table)
    look = _look(table, page, Known(before, ()).roles)
    role = table.text("role", "")
    of_heads = OF_HEADS.get(page.feature.slug, {}) if role else None

    def check(of: Table, reference: str) -> None:
        columns = {str(number): text for number, text in enumerate(items[0])}
        named = filled_words(reference, columns)
        try:
            check_known(page.feature.slug, named, tuple(look.beside), of_heads)
        except InputError as error:
            raise of.wrong(str(error)) from None

    tell = table.take("tell", dict, {})
    for each in tell.values():
        check(table, str(each))
    return table.record(
        Claim,
        name=name,
        task=page.feature.slug,
        items=items,
        look=look,
        where=_conditions(table, "where", check),
        counts=_conditions(table, "counts", check),
        tell=tell,
        test=_conditions(table, "test", lambda of, figure: _check_told(of, figure, tell)),
        role=role,
    )


def _items(table: Table) -> tuple[tuple[str, ...], ...]:
    rows = table.take("items", list)
    made = [(row,) if isinstance(row, str) else row for row in rows]
    if not made or not all(
        isinstance(row, list | tuple) and all(isinstance(cell, str) for cell in row)
        and len(row) == len(made[0]) for row in made
    ):  # fmt: skip
        raise table.wrong("items: expected texts, or lists of equally many texts")
    return tuple(tuple(row) for row in made)


def _check_told(table: Table, figure: str, tell: Mapping[str, str]) -> None:
    """Check the name of a figure: k, n, share, interval, or mean, lowest or highest of one told."""
    kind, _, of = figure.partition(".")
    if figure in FIGURES or (kind in _OF_TOLD and of in tell):
        return
    told = ", ".join(f"mean.{each}" for each in tell)
    raise table.wrong(
        f"found the figure {figure[:60]!r}; expected {', '.join(FIGURES)} {told}".rstrip()
    )


def _check_figure(table: Table, about: str, claims: Mapping[str, Claim]) -> None:
    name, _, figure = about.partition(".")
    _known(table, "claim", name, claims)
    _check_told(table, figure, claims[name].tell)


def _check_item_gaps(table: Table, text: str, claim: Claim) -> None:
    """Check a template about an item of a claim."""
    columns = {str(number): cell for number, cell in enumerate(claim.items[0])}
    for gap in GAP.finditer(filled_words(text, columns)):
        try:
            check_known(claim.task, gap[1], tuple(claim.look.beside))
        except InputError as error:
            raise table.wrong(str(error)) from None


# -- the glossary ----------------------------------------------------------------------------------


def read_glossary(path: Path) -> dict[str, Term]:
    """Read the terms; of each, what it means and where it can be seen.

    Raises:
        InputError: something is wrong with the file.
    """
    file = read_file(path)
    found = {}
    for name in list(file.rest):
        table = file.table(name)
        assert table is not None
        found[name] = table.record(Term, values=table.take("values", dict, {}))
        feature(found[name].page)
    return found
