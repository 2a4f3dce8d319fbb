"""Everyday facts, orders, sums, sayings and occupations as sentences with a word to hide.

A quarter of the subjects and a quarter of the frames are kept back: the first measure whether what
frames teach carries over to other facts, the second whether it carries over to other wordings.
"""

import random
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np

from bert_core.text.tokenizer import BertTokenizer
from training.corpus import plain_ids
from training.frames.filling import SLOT, filled, slots, sounded, table
from training.hiding import FUNCTION_WORDS
from training.templates import MEN_ONLY, USUAL_OCCUPATIONS, WELL_KNOWN
from training.unseen import Sentence
from training.written import reading
from training.written.near import is_near

KEPT_BACK = 4  # one subject and one frame in so many
LONGEST = 4  # pieces in a hidden word, at most
SUMS = ("sum", "difference", "double", "half")
MASK = "[MASK]"
_OFTEN = ("day", "month", "number", *SUMS)
_PRONOUNS = (
    {"he": "he", "his": "his", "him": "him", "himself": "himself"},
    {"he": "she", "his": "her", "him": "her", "himself": "herself"},
)
_WORD = re.compile(r"[A-Za-z][A-Za-z-]+")
Row = Mapping[str, str]
Gaps = list[tuple[str, frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Kind:
    """Facts of one kind and the frames that state them.

    Attributes:
        name: name of the kind.
        rows: facts; the values of the fields.
        frames: sentences with slots for fields.
        hidden: fields that may be hidden, those asked for most first.
        kept: whether a fact is kept back from training.
    """

    name: str
    rows: Sequence[Row]
    frames: Sequence[str]
    hidden: Sequence[str]
    kept: Sequence[bool]

    def trained(self) -> list[str]:
        """Return the frames that are trained on; a quarter are not."""
        back = set(self.kept_frames())
        return [frame for frame in self.frames if frame not in back]

    def kept_frames(self) -> list[str]:
        """Return the frames that are kept back: the first by checksum that hide the main field."""
        return sorted(filter(self.asks, self.frames), key=_checksum)[
            : len(self.frames) // KEPT_BACK
        ]

    def asks(self, frame: str) -> bool:
        """Tell whether a frame has the main field, once."""
        return frame.count(f"{{{self.hidden[0]}}}") == 1

    def good(self, frame: str, row: Row, slot: str, *, trained: bool = False) -> frozenset[str]:
        """Return the words that are right in a slot, the others of the frame being as in a row.

        `trained` leaves out what only the facts that are kept back give.
        """
        rest = slots(frame) - {slot}
        return frozenset(
            other[slot].lower()
            for other, kept in zip(self.rows, self.kept, strict=True)
            if slot in other and all(other.get(name) == row[name] for name in rest)
            if not (trained and kept)
        )


class Everyday:
    """Draws sentences with a word to hide; see `training.relations.Relations.draw`.

    Args:
        tokenizer: turns text into ids.
        lines: sentences that must not be generated, beside the evaluations.
    """

    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "sayings": 3.0,
        "said": 2.5,
        "occupations": 3.0,
        "chases": 2.0,
    }

    def __init__(self, tokenizer: BertTokenizer, lines: set[Sentence]) -> None:
        self.lines = lines
        self.kinds = [
            (kind, kind.trained(), [row for row, kept in zip(kind.rows, kind.kept, strict=True)
                                    if not kept])
            for kind in kinds()
        ]  # fmt: skip
        self.said = {name: trained_lines(name) for name in ("sayings", "said")}
        names = [kind.name for kind, _, _ in self.kinds] + [*self.said, "occupations"]
        usual = {**{kind.name: _usual(kind) for kind, _, _ in self.kinds}, **self.WEIGHTS}
        weights = np.array([usual[name] for name in names])
        self.names, self.weights = names, weights / weights.sum()
        self.tokenizer = tokenizer
        self._known: dict[str, Sentence] = {}

    def _ids(self, text: str) -> Sentence:
        """Encode a part of a sentence; the same parts come often."""
        if text not in self._known:
            self._known[text] = tuple(plain_ids(self.tokenizer, [text])[0])
        return self._known[text]

    def draw(self, source: np.random.Generator) -> tuple[list[int], list[int]]:
        """Return a sentence as ids without special tokens, and the positions to hide."""
        while True:
            before, hidden, after = _split(self.text(random.Random(int(source.integers(2**62)))))
            ids = [self._ids(part) if part else () for part in (before, hidden, after)]
            whole = [each for part in ids for each in part]
            if len(ids[1]) <= LONGEST and tuple(whole) not in self.lines:
                return whole, list(range(len(ids[0]), len(ids[0]) + len(ids[1])))

    def text(self, source: random.Random) -> str:
        """Draw a sentence, the word to hide in brackets."""
        while True:
            [at] = source.choices(range(len(self.names)), self.weights)
            name = self.names[at]
            if name == "occupations":
                text = _at_work(source)
            elif name in self.said:
                text = _cut(source.choice(self.said[name]), source)
            else:
                kind, frames, rows = self.kinds[at]
                frame, row = source.choice(frames), source.choice(rows)
                if not slots(frame) <= row.keys():
                    continue  # the end of an order
                text = _stated(frame, row, _slot(kind, frame, source))
            if not is_near(text):
                return text


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds of facts, with orders and sums."""
    return (*_facts(), *_orders(), *_sums())


def kept_back_gaps() -> dict[str, dict[str, Gaps]]:
    """Return, by kind, sentences with a gap and the words that are right there.

    Returns:
        "subjects": facts that are kept back, each in a wording that is trained and in one that is
        not; "frames": facts that are trained, in a wording that is not.
    """
    found: dict[str, dict[str, Gaps]] = {"subjects": {}, "frames": {}}
    for kind in kinds():
        back, trained = kind.kept_frames(), list(filter(kind.asks, kind.trained()))
        for row, kept in zip(kind.rows, kind.kept, strict=True):
            gaps = found["subjects" if kept else "frames"].setdefault(kind.name, [])
            for frames in (trained, back) if kept else (back,):
                gaps += _asked(kind, frames, row, kept=kept)
    return found


def _asked(kind: Kind, frames: Sequence[str], row: Row, *, kept: bool) -> Gaps:
    """Ask for a fact in one of the frames, unless one that is trained answers it too."""
    slot = kind.hidden[0]
    fitting = [frame for frame in frames if slots(frame) <= row.keys()]
    if not fitting:
        return []
    frame = fitting[_checksum(str(row)) % len(fitting)]
    if kept and kind.good(frame, row, slot, trained=True):
        return []
    return [(_gap(_stated(frame, row, slot)), kind.good(frame, row, slot))]


def order_gaps() -> dict[str, Gaps]:
    """Return orders and sums in the wordings written before training; sums are kept-back ones."""
    written, found = reading.order_frames(), dict[str, Gaps]()
    for kind in kinds():
        frames = written["orders"].get(kind.name, []) + written["sums"].get(kind.name, [])
        rows = [
            row
            for row, kept in zip(kind.rows, kind.kept, strict=True)
            if kept or kind.name not in SUMS
        ]
        for frame, row in product(frames, rows):
            [slot] = re.findall(r"\[(\w)\]", frame)
            plain = frame.replace(f"[{slot}]", f"{{{slot}}}")
            gap = _gap(_stated(plain, row, slot))
            found.setdefault(kind.name, []).append((gap, kind.good(plain, row, slot)))
    return found


@cache
def trained_lines(name: str) -> list[str]:
    """Return the lines of a text file; of `said` a quarter are kept back."""
    return [line for line in all_lines(name) if name != "said" or _checksum(line) % KEPT_BACK]


@cache
def all_lines(name: str) -> list[str]:
    """Return the lines of a text file of this folder, except those near an evaluation."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not is_near(line)]


# -- kinds -----------------------------------------------------------------------------------------


def _facts() -> Iterator[Kind]:
    for each in table("everyday")["kind"]:
        fields = each["fields"].split()
        rows = [dict(zip(fields, line.split("|"), strict=True)) for line in _lines(each["rows"])]
        if each.get("symmetric"):
            rows += [{"s": row["o"], "o": row["s"]} for row in rows]
        kept = [
            each.get("keeps", True)
            and _is_kept(each["name"], row, both=each.get("symmetric", False))
            for row in rows
        ]
        yield Kind(each["name"], rows, _lines(each["frames"]), each["hide"].split(), kept)


def _is_kept(name: str, row: Row, *, both: bool) -> bool:
    """Tell whether a fact is kept back: by its subject, or by its two ends if they can change.

    A third of those that visitors are not likely to ask about is a quarter of all.
    """
    ends = sorted((row["s"], row["o"])) if both else [next(iter(row.values()))]
    if (WELL_KNOWN | set(table("everyday")["well_known"].split("|"))) & set(ends):
        return False
    return _checksum(f"{name} {' '.join(ends)}") % (KEPT_BACK - 1) == 0


def _orders() -> Iterator[Kind]:
    """Yield orders; no word of them is kept back, only frames."""
    for name, each in table("orders")["orders"].items():
        words = each["words"].split("|")
        rows = []
        for place in range(len(words) if each.get("round") else len(words) - 1):
            row = {}
            for slot, further in zip("sorq", range(4), strict=True):
                if place + further < len(words) or each.get("round"):
                    row[slot] = words[(place + further) % len(words)]
            rows.append(row)
        frames = _lines(each["frames"])
        yield Kind(name, rows, frames, ("o", "s", "r", "q"), [False] * len(rows))


def _sums() -> Iterator[Kind]:
    """Yield sums to twenty; a pair of numbers is kept back from all four kinds."""
    read = table("orders")["sums"]
    words = read["words"].split("|")
    for name in SUMS:
        rows, kept = [], []
        for a, b in product(range(1, len(words)), repeat=2):
            if a + b < len(words) and (name in SUMS[:2] or a == b):
                digits = {"A": str(a), "B": str(b), "C": str(a + b)}
                rows.append({"a": words[a], "b": words[b], "c": words[a + b], **digits})
                kept.append(is_kept_pair(a, b))
        hidden = "cabCAB" if name in ("sum", "double") else "abcABC"
        yield Kind(name, rows, _lines(read[name]), tuple(hidden), kept)


def is_kept_pair(a: int, b: int) -> bool:
    """Tell whether the sums of a pair of numbers are kept back; those of the smallest are not.

    >>> is_kept_pair(2, 2), is_kept_pair(7, 9) == is_kept_pair(9, 7)
    (False, True)
    """
    low, high = sorted((a, b))
    return high > 3 and _checksum(f"{low}+{high}") % KEPT_BACK == 0


# -- sentences -------------------------------------------------------------------------------------


def _slot(kind: Kind, frame: str, source: random.Random) -> str:
    """Choose the field to hide: mostly the first that the frame has."""
    able = [slot for slot in kind.hidden if frame.count(f"{{{slot}}}") == 1]
    return able[0] if len(able) == 1 or source.random() < 0.6 else source.choice(able[1:])


def _stated(frame: str, row: Row, hidden: str) -> str:
    """Fill in a frame, with the hidden word in brackets; elsewhere its row must have it."""
    return filled(frame, {**row, hidden: f"[{row[hidden]}]"})


def _at_work(source: random.Random) -> str:
    """Say something about a person at work, he and she equally often, a pronoun hidden."""
    able = [name for name in USUAL_OCCUPATIONS if name not in MEN_ONLY]
    frame = source.choice(all_lines("occupations"))
    words = {**source.choice(_PRONOUNS), "o": source.choice(able)}
    asked = [slot for slot in SLOT.findall(frame) if slot in _PRONOUNS[0]]
    hidden = source.choice([*asked, *asked, "o"])
    text = frame.replace(f"{{{hidden}}}", f"[{{{hidden}}}]", 1)
    return filled(text, words)


def _cut(line: str, source: random.Random) -> str:
    """Hide a content word of a saying, or one of the words marked for it."""
    if "[" in line:
        marked = source.choice(re.findall(r"\[([^\]]+)\]", line))
        plain = line.replace(f"[{marked}]", "\0", 1).replace("[", "").replace("]", "")
        return plain.replace("\0", f"[{marked}]")
    words = [word for word in _WORD.finditer(line) if word[0].lower() not in FUNCTION_WORDS]
    word = source.choice(words or list(_WORD.finditer(line)))
    return f"{line[: word.start()]}[{word[0]}]{line[word.end() :]}"


def _split(text: str) -> tuple[str, str, str]:
    before, hidden, after = re.split(r"[\[\]]", text)
    return before, hidden, after


def _gap(text: str) -> str:
    before, _, after = _split(text)
    return sounded(f"{before}{MASK}{after}") if not before else f"{before}{MASK}{after}"


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def _usual(kind: Kind) -> float:
    """Return how often to draw a kind: by the root of its size, common orders and sums more."""
    return 2.0 if kind.name in _OFTEN else min(1.0, len(kind.rows) ** 0.5 / 8)


def _checksum(text: str) -> int:
    return zlib.crc32(text.encode())
