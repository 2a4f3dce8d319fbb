"""What `live/` needs beside its sources: its C compiled, and the tables of the tokenizer.

`python -m tools.live` writes bert.wasm, lab.wasm and tables.json in live/; tests compare them. The
C is compiled by clang and lld of one version (Debian and Ubuntu: `apt install clang-19 lld-19`),
because another version writes other bytes.
"""

import argparse
import json
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import regex

from app.settings import LIVE
from bert_core.errors import ConfigError
from bert_core.reading.unread import script_of
from bert_core.text import characters
from bert_core.text.borders import JOINED
from bert_core.text.characters import Role

COMPILER, VERSION = "clang-19", "19.1.7"
_FLAGS = (
    *("--target=wasm32", "-O3", "-msimd128", "-mbulk-memory", "-nostdlib", "-ffreestanding"),
    *("-Wall", "-Wextra", "-Werror", "-Wl,--no-entry", "-Wl,--stack-first", "-Wl,--strip-all"),
    "-Wl,-z,stack-size=65536",
)


def compiled(name: str) -> bytes:
    """Compile `bert.c` or `lab.c`.

    Raises:
        ConfigError: there is no compiler of the version that wrote the committed files.
    """
    if not has_compiler():
        raise ConfigError(f"There is no {COMPILER} {VERSION} with lld; see `python -m tools.live`.")
    with TemporaryDirectory() as folder:
        target = Path(folder, f"{name}.wasm")
        subprocess.run([COMPILER, *_FLAGS, "-o", target, LIVE / f"{name}.c"], check=True)
        return target.read_bytes()


def has_compiler() -> bool:
    """Return whether the compiler and the linker of the right version are installed."""
    names = (COMPILER, COMPILER.replace("clang", "wasm-ld"))
    return all(shutil.which(name) for name in names) and all(
        VERSION in subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        for name in names
    )


def tables() -> bytes:
    """Write the tables that the tokenizer and the remarks on a text read, as JSON.

    Sets of characters are ranges of hexadecimal numbers, lower case is in runs
    `first-last/step+distance` (without U+0130, which becomes two characters). Those after
    `unicode` come from this Python's Unicode, for what is said about a text.
    """
    every = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    apart = {char: parts for char in every if (parts := characters.decomposed(char)) != char}
    lower = {ord(char): characters.lowered(char) for char in every if char != "\u0130"}
    ordered = (char for char in every if char not in apart and characters.combining_class(char))
    sets: dict[str, Callable[[str], object]] = {
        "removed": lambda char: not characters.cleaned(char),
        "blank": lambda char: characters.cleaned(char) == " ",
        "chinese": characters.is_chinese,
        "nonspacing": characters.is_accent,
        "punctuation": lambda char: characters.role(char) is Role.PUNCTUATION,
    }
    scripts = _grouped(filter(str.isalpha, every), script_of)
    found = {name: _ranges(filter(holds, every)) for name, holds in sets.items()} | {
        "lowered": _lower_runs({p: ord(new) - p for p, new in lower.items() if new != chr(p)}),
        # Hangul syllables decompose by arithmetic.
        "decomposed": {char: apart[char] for char in apart if not "\uac00" <= char <= "\ud7a3"},
        "classes": _grouped(ordered, characters.combining_class),
        "unicode": unicodedata.unidata_version,
        "letters": _ranges(filter(str.isalpha, every)),
        "words": _ranges(char for char in every if char.isalnum() or char == "_"),
        "joined": _ranges(regex.findall(JOINED, "".join(every), regex.V1)),
        "scripts": {name: ranges for name, ranges in scripts.items() if name},
    }
    return f"{json.dumps(found, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def _lower_runs(distances: dict[int, int]) -> str:
    runs: list[list[int]] = []  # [first, last, step, distance]
    for point, distance in sorted(distances.items()):
        last = runs[-1] if runs else [-9, -9, 1, 0]
        step = point - last[1]
        if last[3] == distance and (step == last[2] if last[0] != last[1] else step in (1, 2)):
            last[1:3] = [point, step]
        else:
            runs.append([point, point, 1, distance])
    return " ".join(f"{a:x}-{b:x}/{step}{distance:+x}" for a, b, step, distance in runs)


def _grouped(chars: Iterable[str], key: Callable[[str], object]) -> dict[str, str]:
    """Return ranges of characters by what a function says of them."""
    groups: dict[str, list[str]] = {}
    for char in chars:
        groups.setdefault(str(key(char)), []).append(char)
    return {name: _ranges(group) for name, group in groups.items()}


def _ranges(chars: Iterable[str]) -> str:
    """Write characters as ranges, "61-7a e9"."""
    bounds: list[list[int]] = []
    for point in sorted(map(ord, chars)):
        if bounds and bounds[-1][1] == point - 1:
            bounds[-1][1] = point
        else:
            bounds.append([point, point])
    return " ".join(f"{a:x}-{b:x}" if a < b else f"{a:x}" for a, b in bounds)


def main() -> None:
    """Write the files."""
    argparse.ArgumentParser(prog="python -m tools.live", description=__doc__).parse_args()
    made = {"bert.wasm": compiled("bert"), "lab.wasm": compiled("lab"), "tables.json": tables()}
    for name, content in made.items():
        (LIVE / name).write_bytes(content)


if __name__ == "__main__":
    main()
