"""Sentences with names: CoNLL files of several sources, and names derived from GUM."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from training.fetching.transfer import Files
from training.sources import Piece

_KINDS = {
    "PER": "per person musicalartist writer politician scientist researcher",
    "LOC": "loc location country",
    "ORG": "org organisation organization corporation group politicalparty university band",
    "MISC": "misc creative-work product award election book album event poem conference song "
    "journal academicjournal magazine language",
}
_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
# Paths in the sources and the files that are made of them.
_TARGETS = {
    "*/en_ewt-ud-dev.iob2": "ewt-dev",
    "*/en_ewt-ud-test.iob2": "ewt-test",
    "*/en_pud-ud-test.iob2": "pud",
    "*/wikigold.conll.txt": "wikigold",
    "*/wnut17train.conll": "wnut17-train",
    "*/emerging.dev.conll": "wnut17-dev",
    "*/emerging.test.annotated": "wnut17-test",
    "*/btc.train": "btc-train",
    "*/ner_data/*/train.txt": "crossner-train",
    "*/ner_data/*/dev.txt": "crossner-dev",
    "*/ner_data/*/test.txt": "crossner-test",
}
_TITLES = re.compile(r"(Mr|Mrs|Ms|Dr|Prof|Sir|St|President|Professor|Judge|Justice|King|Queen)\.?")
Row = list[tuple[str, str]]


def conll(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make files of words and IOB2 tags of four kinds."""
    made: dict[str, list[Row]] = {}
    for name, body in sorted(files.items()):
        path = next((each for each in _TARGETS if fnmatchcase(name, each)), None)
        if path and "/conll2003/" not in name:
            made.setdefault(f"ner/by-source/{_TARGETS[path]}.conll", []).extend(_rows(body))
    if "ner/by-source/ewt-dev.conll" in made:
        made["ner/dev.conll"] = made["ner/by-source/ewt-dev.conll"]
    return {name: _written(rows) for name, rows in made.items()}


def _written(rows: list[Row]) -> str:
    return "\n".join("".join(f"{word}\t{tag}\n" for word, tag in row) for row in rows)


def _rows(body: bytes) -> Iterator[Row]:
    """Yield the sentences of a file with two columns, or with numbers in a column before them."""
    row: Row = []
    for line in (*body.decode(errors="replace").splitlines(), ""):
        columns = line.split("\t") if "\t" in line else line.split()
        if not line.strip():
            if row:
                yield row
            row = []
        elif len(columns) >= 2 and columns[0] != "-DOCSTART-" and not _comment(line):
            numbered = len(columns) >= 4 and columns[0].isdigit()
            word, tag = columns[1:3] if numbered else (columns[0], columns[-1])
            row.append((word, _tag(tag.strip(), row)))


def _comment(line: str) -> bool:
    return line.startswith("# ") and "\t" not in line


def _tag(tag: str, before: Row) -> str:
    """Return a tag in IOB2 of the four kinds; in IOB1 a name may begin with I.

    >>> _tag("I-PER", [("by", "O")]), _tag("I-band", [("The", "B-ORG")]), _tag("B-OTH", [])
    ('B-PER', 'I-ORG', 'O')
    """
    mark, _, name = tag.partition("-")
    kind = _OF.get(name.lower())
    if kind is None:
        return "O"
    inside = mark == "I" and before and before[-1][1][2:] == kind
    return f"{'I' if inside else 'B'}-{kind}"


# -- GUM ---------------------------------------------------------------------------------------


def gum(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Derive names from mentions of persons, places and organisations headed by a proper noun."""
    rows = []
    for _, body in sorted(files.items()):
        for block in body.decode(errors="replace").split("\n\n"):
            lines = (line.split("\t") for line in block.splitlines() if line[:1].isdigit())
            words = [row for row in lines if len(row) == 10 and row[0].isdigit()]
            if words:
                rows.append(_named(words))
    [target] = piece.files
    return {target: _written(rows)}


def _named(words: list[list[str]]) -> Row:
    """Return the words of a sentence with the tags of its names; inner mentions go first."""
    tags = ["O"] * len(words)
    for start, end, kind in sorted(_mentions(words), key=lambda each: each[1] - each[0]):
        heads = [i for i in range(start, end) if not start < int(words[i][6]) <= end]
        if not heads or words[heads[0]][3] != "PROPN":
            continue
        first = last = heads[0]
        while first > start and words[first - 1][3] == "PROPN":
            first -= 1
        while last + 1 < end and words[last + 1][3] == "PROPN":
            last += 1
        while kind == "PER" and first < last and _TITLES.fullmatch(words[first][1]):
            first += 1
        if all(tag == "O" for tag in tags[first : last + 1]):
            tags[first : last + 1] = [f"B-{kind}"] + [f"I-{kind}"] * (last - first)
    return [(word[1], tag) for word, tag in zip(words, tags, strict=True)]


def _mentions(words: list[list[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of the mentions that `Entity=` brackets open and close."""
    kinds = {"person": "PER", "place": "LOC", "organization": "ORG"}
    open_at: list[tuple[str, int, str]] = []
    for place, word in enumerate(words):
        marks = re.search(r"(?:^|\|)Entity=([^|]+)", word[9])
        for opens, name, closes in re.findall(r"(\()?([^()]+)(\))?", marks[1] if marks else ""):
            parts = name.split("-")
            key = parts[0] if parts[0].isdigit() else parts[-1] if len(parts) == 2 else name
            kind = next((kinds[part] for part in parts[:2] if part in kinds), "")
            if opens:
                open_at.append((key, place, kind))
            if closes:
                index = max((i for i, each in enumerate(open_at) if each[0] == key), default=None)
                if index is not None:
                    _, start, kind = open_at.pop(index)
                    if kind:
                        yield start, place + 1, kind
