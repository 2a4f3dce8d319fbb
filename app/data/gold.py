"""What a person says is right, in the forms in which data sets write it.

Labels are names, numbers or prefixes (`pos`); names in texts are tags of words (BIO), spans of
characters, or brackets as in `[LOC Rome]`; answers are a text, a list, or SQuAD's object; gaps have
a word each. What cannot be read is an error that says what was expected.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated, Any

from app.data.columns import GOLD, KINDS, Columns, TaskName, spread_columns
from app.data.judge import Name
from app.data.tables import Table, read_json
from bert_core.errors import InputError, count
from bert_core.reading.gaps import read_signs
from bert_core.reading.tagging import TagScheme

Gold = str | int | tuple[str, ...] | frozenset[Name] | tuple[tuple[str, ...], ...]
"""A label; a choice; answers, () for none; names; or the good words of each gap."""

NEXT = ("follows", "does not follow")
"""The two answers about a pair of sentences; BERT's number 0 means that the second one follows."""

_NEXT = {
    **dict.fromkeys(("isnext", "is_next", "next", "yes", "true", "follows"), NEXT[0]),
    **dict.fromkeys(("notnext", "not_next", "random", "no", "false"), NEXT[1]),
}
_NAME = re.compile(r"\[([A-Z]+) +([^\[\]]*[^\[\]\s])\s*\]")
_OPENS = re.compile(r"\[(?!MASK\])[A-Z]+ ")
_TAG = re.compile(r"[BIMELSUW][-_](\S+)|(\S+)[-_][BIMELSUW]", re.IGNORECASE)
_KINDS = ("label", "kind", "type", "entity_group", "entity", "tag")


@dataclass(frozen=True, slots=True)
class Asked:
    """A row as a model is asked about it."""

    number: Annotated[int, "by which a person finds it"]
    texts: Annotated[Mapping[str, str], "by the parts of the task"]
    choices: Annotated[tuple[str, ...], "of multiple choice"] = ()
    words: Annotated[
        tuple[tuple[int, int], ...],
        "the words that are tagged, as spans of the text; () if none are marked off",
    ] = ()
    gold: Annotated[
        Gold | None, "what is right; None if that is not said, or is none of the model's labels"
    ] = None
    wanted: Annotated[str, 'the same as a person reads it; "" for nothing'] = ""


def values_of(table: Table, column: str) -> tuple[str, ...]:
    """Return the different values of a column, in their order."""
    return tuple(dict.fromkeys(filter(None, (cell(row.get(column)) for _, row in table.rows))))


def label_names(
    values: Iterable[str], labels: Sequence[str], written: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """Say which label of the model each value means; "" for none.

    Args:
        values: as a column has them: names in any case, unique prefixes, or numbers from 0. If a
            number is too large for a label, such as five stars, no number is one.
        labels: of the model.
        written: what a person says they mean, which comes first.

    >>> label_names(["pos", "0", "mixed"], ["negative", "positive"], [("mixed", "positive")])
    {'pos': 'positive', '0': 'negative', 'mixed': 'positive'}
    >>> label_names(["1", "5"], ["negative", "positive"])
    {'1': '', '5': ''}
    """
    meant, values = dict(written), tuple(values)
    numbers = [value for value in values if value.isdecimal()]
    numbered = all(len(each) < 6 and int(each) < len(labels) for each in numbers)
    if wrong := next((each for each in meant.values() if each and each not in labels), ""):
        raise InputError(f"labels: found {wrong!r}; expected one of {', '.join(labels)[:300]}.")
    return {
        value: meant[value] if value in meant else _label(value, labels, numbered=numbered)
        for value in values
    }


def _label(value: str, labels: Sequence[str], *, numbered: bool) -> str:
    small = value.casefold()
    same = [each for each in labels if each.casefold() == small]
    begun = [each for each in labels if each.casefold().startswith(small)] or [
        each for each in labels if len(each) > 2 and small.startswith(each.casefold())
    ]
    if tuple(labels) == NEXT and small in _NEXT:
        return _NEXT[small]
    if found := same or (begun if len(begun) == 1 else []):
        return value if value in labels else found[0]
    return labels[int(value)] if numbered and value.isdecimal() else ""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the rows of a table for a task."""

    task: Annotated[TaskName, "the task"]
    columns: Annotated[Columns, "the column of each part"]
    names: Annotated[
        Mapping[str, str], "what the values of the gold mean: labels, or kinds of names"
    ]
    labels: Annotated[tuple[str, ...], "of the model; its tags, if it finds names"]
    bracketed: Annotated[
        bool, "whether names are in brackets, so that a text without any has no name"
    ] = False

    def read(self, table: Table) -> tuple[tuple[Asked, ...], tuple[str, ...]]:
        """Return the rows that can be asked, and why the others cannot, each with its number."""
        asked, bad, reader = list[Asked](), list(table.bad), self
        if self.task == "ner" and GOLD not in self.columns:
            texts = (cell(row.get(self.columns["text"])) for _, row in table.rows)
            reader = replace(self, bracketed=any(map(_NAME.search, texts)))
        for number, row in table.rows:
            try:
                asked.append(reader.row(number, row))
            except InputError as error:
                bad.append(f"Row {number:,}: {error}")
        if not asked:
            raise InputError(f"No row can be asked. {bad[0]}")
        return tuple(asked), tuple(bad)

    def row(self, number: int, row: Mapping[str, Any]) -> Asked:
        """Return a row as it can be asked.

        Raises:
            InputError: it cannot.
        """
        raw = row.get(self.columns.get(GOLD, ""))
        if self.task == "ner":
            return self._names(number, row, raw)
        kind, choices = KINDS[self.task], tuple[str, ...]()
        parts = [part for part in kind.parts if part in self.columns and part != GOLD]
        texts = {each: cell(row.get(self.columns[each])) for each in parts if each != "choices"}
        for part, text in texts.items():
            if not text.strip() and part not in kind.optional:
                raise InputError(f"found nothing in {self.columns[part]!r}; expected a text.")
        if self.task == "multiple_choice":
            choices = self._choices(row)
        if self.task == "fill_mask":
            texts = {"text": read_signs(texts["text"])[0]}
            if "[MASK]" not in texts["text"]:
                raise InputError("found no gap; expected [MASK] or ___ in place of a word.")
        found = Asked(number, texts, choices)
        return found if raw is None or raw == "" else self._with_gold(found, raw)

    def _with_gold(self, asked: Asked, raw: Any) -> Asked:
        if self.task == "qa":
            answers = _answers(raw)
            return replace(asked, gold=answers, wanted=" | ".join(answers) or "no answer")
        if self.task == "fill_mask":
            words = _words(raw, asked.texts["text"].count("[MASK]"))
            return replace(asked, gold=words, wanted=", ".join(map(" | ".join, words)))
        if self.task == "multiple_choice":
            place = _chosen(cell(raw), asked.choices)
            return replace(asked, gold=place, wanted=asked.choices[place])
        label = self.names.get(cell(raw), "")
        return replace(asked, gold=label or None, wanted=label or cell(raw))

    def _choices(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        name = self.columns["choices"]
        if name.endswith("*"):
            found = [cell(row.get(each)) for each in spread_columns(name, list(row))]
        else:
            value = _unpacked(row.get(name))
            value = value.get("text") if isinstance(value, dict) else value
            found = list(map(cell, value)) if isinstance(value, list) else cell(value).split("|")
        choices = tuple(each.strip() for each in found if each.strip())
        if not 2 <= len(choices) <= 8:
            raise InputError(f"found {count(len(choices), 'choice')}; expected 2 to 8.")
        return choices

    def _names(self, number: int, row: Mapping[str, Any], raw: Any) -> Asked:
        """Read a text and the names in it: brackets, spans, or tags of words."""
        text, tags = cell(row.get(self.columns["text"])), _unpacked(raw)
        tokens = _unpacked(row.get(self.columns["text"]))
        if isinstance(tokens, list):
            tokens = list(map(cell, tokens))
            text = " ".join(tokens)
            ends = accumulate((len(each) for each in tokens), lambda end, size: end + 1 + size)
            words = tuple((end - len(t), end) for t, end in zip(tokens, ends, strict=True))
        else:
            words = tuple(match.span() for match in re.finditer(r"\S+", text))
        if not text.strip():
            raise InputError("found nothing; expected a text.")
        if tags is None or tags == "":
            text, names = unbracketed(text)
            words, tags = (), names if self.bracketed else None
        elif isinstance(tags, list) and all(isinstance(each, dict | list) for each in tags):
            words, tags = (), [_span(each, len(text)) for each in tags]
        else:
            tags = list(map(cell, tags)) if isinstance(tags, list) else cell(tags).split()
            if len(tags) != len(words):
                raise InputError(
                    f"found {count(len(words), 'word')} and {count(len(tags), 'tag')}."
                )
            tags = [
                self.labels[int(tag)] if tag.isdecimal() and int(tag) < len(self.labels) else tag
                for tag in tags
            ]
            tags = stretches(tags, tags, words)
        if tags is None:
            return Asked(number, {"text": text})
        # kinds are called as the model calls them, where it is said or only the case differs
        gold = frozenset((self.names.get(kind) or kind, start, end) for kind, start, end in tags)
        return Asked(number, {"text": text}, words=words, gold=gold, wanted=shown_names(text, gold))


def stretches(
    tags: Sequence[str], names: Iterable[str], words: Sequence[tuple[int, int]]
) -> list[Name]:
    """Join the tags of words into names, as conlleval and seqeval do.

    >>> stretches(["B-PER", "I-PER", "O"], ["B-PER", "O"], [(0, 3), (4, 9), (10, 12)])
    [('PER', 0, 9)]
    """
    matches = [match for match in map(_TAG.fullmatch, names) if match]
    kinds = {match[1] or match[2] for match in matches}
    after = bool(matches) and all(match[2] for match in matches)
    both = {f"{kind}-{mark}" if after else f"{mark}-{kind}" for kind in kinds for mark in "BI"}
    every = sorted({*names, *tags, *both})
    numbers = {name: number for number, name in enumerate(every)}
    found = TagScheme(every).stretches([numbers[tag] for tag in tags])
    return [(each.kind, words[each.start][0], words[each.stop - 1][1]) for each in found]


def kinds_in(asked: Iterable[Asked]) -> tuple[str, ...]:
    """Return the kinds of the names that are wanted."""
    golds = (each.gold for each in asked if isinstance(each.gold, frozenset))
    return tuple(sorted({kind for gold in golds for kind, *_ in gold}))


def unbracketed(text: str) -> tuple[str, list[Name]]:
    """Return a sentence without its brackets, and the names that were in them.

    >>> unbracketed("[PER Ada] lives in [LOC Rome].")
    ('Ada lives in Rome.', [('PER', 0, 3), ('LOC', 13, 17)])
    """
    plain, done, names = "", 0, list[Name]()
    for match in _NAME.finditer(text):
        plain += text[done : match.start()]
        names.append((match[1], len(plain), len(plain) + len(match[2])))
        plain, done = plain + match[2], match.end()
    plain += text[done:]
    if _OPENS.search(plain):
        raise InputError("found a bracket that is not closed; expected names as in [LOC Rome].")
    return plain, names


def shown_names(text: str, names: Iterable[Name]) -> str:
    """Write names with their kinds, in the order of the text."""
    ordered = sorted(names, key=lambda name: name[1:])
    return ", ".join(f"{text[start:end]} ({kind})" for kind, start, end in ordered)


def cell(value: object) -> str:
    """Write a value of a table as a text.

    >>> cell(None), cell(1.0), cell(True), cell("a")
    ('', '1', 'true', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).strip()


def _unpacked(value: object) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        try:
            return read_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def _span(value: object, length: int) -> Name:
    start: Any
    end: Any
    kind: Any
    if isinstance(value, dict):
        kind = next((value[key] for key in _KINDS if key in value), None)
        start, end = value.get("start"), value.get("end")
    else:
        start, end, kind = value if isinstance(value, list) and len(value) == 3 else (0, 0, None)
    known = isinstance(start, int) and isinstance(end, int) and isinstance(kind, str)
    if not known or not 0 <= start < end <= length:
        raise InputError("found a span that is none; expected start, end and label of each name.")
    return kind, start, end


def _answers(value: object) -> tuple[str, ...]:
    """Read answers: a text, a list of texts, or SQuAD's object; "-" or an empty list for none."""
    found = _unpacked(value)
    if isinstance(found, dict):
        found = found.get("text", found.get("answers"))
    texts = found if isinstance(found, list) else [] if found is None else cell(found).split(" | ")
    texts = [each.get("text") if isinstance(each, dict) else each for each in texts]
    return tuple(dict.fromkeys(cell(each) for each in texts if cell(each) not in {"", "-"}))


def _words(value: object, gaps: int) -> tuple[tuple[str, ...], ...]:
    """Read the good words of each gap: commas between gaps, bars between words."""
    found = _unpacked(value)
    parts = found if isinstance(found, list) else [cell(found)]
    if len(parts) == 1 and gaps > 1:
        parts = str(parts[0]).split(",")
    if len(parts) != gaps:
        raise InputError(f"found {count(gaps, 'gap')} and {count(len(parts), 'word')} for them.")
    return tuple(tuple(e.strip() for e in cell(each).split("|") if e.strip()) for each in parts)


def _chosen(value: str, choices: Sequence[str]) -> int:
    if value in choices:
        return choices.index(value)
    place = int(value) if value.isdecimal() and len(value) < 3 else -1
    if len(value) == 1 and value.isalpha():
        place = ord(value.upper()) - ord("A")
    if not 0 <= place < len(choices):
        raise InputError(
            f"found the right choice {value[:40]!r}; expected its text, its letter, or its number "
            f"from 0 to {len(choices) - 1}."
        )
    return place
