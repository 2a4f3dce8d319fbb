"""`python -m training fetch`: bring the sources one by one, make the files, say what is missing.

What was read and made is recorded in `fetched.json` with its digests; a source whose files are
there as recorded is not fetched again. Files appear complete or not at all.
"""

import importlib
import json
import lzma
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bert_core.errors import BertError, InputError, MissingFileError
from bert_core.small_files import file_digest, parse_json, read_small, replacing
from training.fetching.made import hold_out
from training.fetching.transfer import ARCHIVES, Got, archive, digest, single
from training.sources import Piece, Source, all_sources

RECORD = "fetched.json"
REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+) @(\w+)")
_UNFORESEEN = (ValueError, LookupError, TypeError, AttributeError, RuntimeError, StopIteration)
Say = Callable[[str], None]


def listing() -> list[str]:
    """Return a line for each source: origin, licence, files, what the recipe lacks without it."""
    return [
        f"{each.text}: {each.origin}; {each.licence}; gives {', '.join(each.piece.files)}; "
        f"without it: {each.piece.without}"
        for each in all_sources()
        if each.piece
    ]


def fetch(data: Path, names: Sequence[str] = (), base: str = "", say: Say = print) -> None:
    """Fetch all sources, or those of which a file has one of these names, into a data folder.

    Args:
        data: the folder; what is there as it was made stays.
        names: names of files, with or without folder and ending.
        base: address of a copy of everything, instead of the public places.
        say: called with lines of progress text.

    Raises:
        InputError: a name is of no file in the table.
        MissingFileError: something could not be had; everything else was made.
    """
    sources = [each for each in all_sources() if each.piece]
    if names:
        sources = [each for each in sources if each.piece and _named(each.piece) & set(names)]
        known = set().union(*(_named(each.piece) for each in sources if each.piece))
        if unknown := set(names) - known:
            raise InputError(
                f"No source gives {sorted(unknown)[0]!r}. Without a folder, the command lists all."
            )
    data.mkdir(parents=True, exist_ok=True)
    missing, fresh = [], False
    for number, source in enumerate(sources, start=1):
        piece = source.piece
        assert piece is not None
        say(f"{number} of {len(sources)}: {source.text}")
        derived = not (piece.paths or piece.addresses)
        if _is_there(piece, data, say) and not (derived and fresh):
            say("  there already, as it was made")
            continue
        refused = _refused(source, piece, data, base, say)
        fresh |= not refused
        if refused:
            say(f"  not to be had: {refused}")
            missing.append(f"{source.text} ({piece.without})")
    if missing:
        raise MissingFileError(
            f"{len(missing)} of {len(sources)} could not be had: {'; '.join(missing)}. The same "
            "command goes on from here."
        )


def _named(piece: Piece) -> set[str]:
    """Return the names of a piece's files, with and without folders and endings."""
    return {one for name in piece.files for one in (name, Path(name).stem)}


def _is_there(piece: Piece, data: Path, say: Say) -> bool:
    """Return whether all files are there; say which are not as they were made."""
    made = _record(data)["files"]
    for name in piece.files:
        path = data / f"{name}.xz"
        if not path.is_file():
            return False
        if file_digest(path) != made.get(name):
            say(f"  {name} is not as it was made; it is made again")
            return False
    return True


def _refused(source: Source, piece: Piece, data: Path, base: str, say: Say) -> str:
    """Make the files of a source; return in one line why it could not be done, or ""."""
    try:
        _make(source, piece, data, base, say)
    except (BertError, OSError) as error:
        return " ".join(str(error).split())
    except _UNFORESEEN as error:
        said = " ".join(str(error).split())[:80]
        return f"not in the form that was expected ({type(error).__name__}: {said})"
    return ""


def _make(source: Source, piece: Piece, data: Path, base: str, say: Say) -> None:
    """Fetch a source, make its files, and record both."""
    got = _got(source, piece, data, base)
    files = {name: body for each in got for name, body in each.files.items()}
    module, _, name = piece.convert.partition(".")
    convert = getattr(importlib.import_module(f"training.fetching.{module}"), name)
    made = hold_out(convert(files, piece, data))
    if empty := [name for name in piece.files if not made.get(name, "").strip()]:
        raise MissingFileError(f"nothing came of it for {', '.join(empty)}.")
    record = _record(data)
    read = {
        "versions": [each.version for each in got],
        "files": len(files),
        "sha256": digest(files),
    }
    before = record["sources"].get(source.text)
    if files and before not in (None, read):
        say("  these are not the bytes that were read before")
    for name, body in made.items():
        path = data / f"{name}.xz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft:
            draft.write_bytes(lzma.compress(body.encode()))
        record["files"][name] = file_digest(path)
        if name in piece.files:
            say(f"  {name}: {compared(name, body, piece.files[name])}")
    if piece.paths or piece.addresses:
        say(f"  the converter was compared on the real source with: {piece.compared}")
    if piece.differs:
        say(f"  known to differ: {piece.differs}")
    record["sources"][source.text] = read
    with replacing(data / RECORD) as draft:
        draft.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _got(source: Source, piece: Piece, data: Path, base: str) -> list[Got]:
    """Fetch the archives or files of a source; nothing if its files are made of other files."""
    part = data / "parts" / f"{Path(next(iter(piece.files))).stem}.part"
    if piece.addresses:
        places = [
            re.sub(r"^https://[^/]+", base, each) if base else each for each in piece.addresses
        ]
        return [single(each, piece.sha256, part) for each in places]
    wanted = REPOSITORY.findall(source.origin) if piece.paths else []
    return [
        archive(name, commit, piece.paths, base or ARCHIVES, part)
        for name, commit in wanted
        if not piece.repositories or name in piece.repositories
    ]


def _record(data: Path) -> dict[str, dict[str, Any]]:
    """Read what was recorded; empty at first."""
    path = data / RECORD
    if not path.is_file():
        return {"sources": {}, "files": {}}
    found: dict[str, dict[str, Any]] = parse_json(read_small(path, 2**24), RECORD)
    return found


def counts(name: str, body: str) -> dict[str, int]:
    """Count what a file has.

    >>> counts("text/a.txt", "Two words.\\nMore.\\n\\nThe end.\\n")
    {'documents': 2, 'paragraphs': 3, 'words': 5}
    >>> counts("ner/a.conll", "A\\tO\\nB\\tO\\n\\nC\\tO\\n"), counts("a.tsv", "head\\nrow\\n")
    ({'sentences': 2, 'tokens': 3}, {'rows': 1})
    """
    lines = [line for line in body.split("\n") if line]
    blocks = len(re.findall(r"(?<=\n)\n+(?=[^\n])", body)) + bool(lines)
    if name.endswith(".txt"):
        return {"documents": blocks, "paragraphs": len(lines), "words": len(body.split())}
    if name.endswith(".conll"):
        return {"sentences": blocks, "tokens": len(lines)}
    return {"rows": len(lines) - name.endswith(".tsv")}


def compared(name: str, body: str, stated: Sequence[int]) -> str:
    """Say how many were made, beside the counts of the bundled model's data; 0 is unknown."""
    made = counts(name, body)
    before = dict(zip(made, stated, strict=False))
    return ", ".join(
        f"{count:,} {kind}" + (f" (as stated: {before[kind]:,})" if before.get(kind) else "")
        for kind, count in made.items()
    )
