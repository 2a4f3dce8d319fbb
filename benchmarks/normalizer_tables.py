"""Measure the character tables of the reference tokenizer, code point by code point.

    python -m benchmarks.normalizer_tables bert_core/text/normalizer_tables.py

The reference (the Rust package `tokenizers`) is compiled with character tables of several Unicode
versions: old ones for categories and decompositions, a new one for lower case. No Python version
has that mixture, so it is measured here once and stored as data, which gives the same pieces on
every Python. Run this again when the reference changes its tables; the tests will fail then.
"""

import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

import tokenizers
from tokenizers import normalizers, pre_tokenizers

POINTS = [point for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]

HEADER = '''"""Characters that the reference removes, pads, strips, splits and lower-cases.

Written by `python -m benchmarks.normalizer_tables`, measured on `tokenizers` {version}; do not
edit. Ranges are hexadecimal and include both ends. Read by `bert_core.text.normalizer`.
"""

'''


def ranges(points: Iterable[int]) -> str:
    """Write a set of code points as hexadecimal ranges.

    >>> ranges([1, 2, 3, 31])
    '1-3 1f'
    """
    runs: list[list[int]] = []
    for point in sorted(points):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return " ".join(f"{low:x}" if low == high else f"{low:x}-{high:x}" for low, high in runs)


def lower_runs(lowered: dict[int, int]) -> str:
    """Write a map of code points as runs `first-last/step+distance`."""
    runs: list[list[int]] = []  # [first, last, step, distance]
    for point, target in sorted(lowered.items()):
        distance = target - point
        last = runs[-1] if runs else [-9, -9, 1, 0]
        step = point - last[1]
        fits = step == last[2] if last[0] != last[1] else step in (1, 2)
        if last[3] == distance and fits:
            last[1:3] = [point, step]
        else:
            runs.append([point, point, 1, distance])
    return " ".join(f"{a:x}-{b:x}/{step}{distance:+x}" for a, b, step, distance in runs)


def measure() -> dict[str, str]:
    """Apply the reference to every code point; return table name -> ranges."""

    def bert(clean: bool, chinese: bool, accents: bool) -> Callable[[str], str]:
        return normalizers.BertNormalizer(
            clean_text=clean, handle_chinese_chars=chinese, strip_accents=accents, lowercase=False
        ).normalize_str

    clean, chinese, accents = (bert(*(n == k for k in range(3))) for n in range(3))
    nfd, lower = normalizers.NFD().normalize_str, normalizers.Lowercase().normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    decomposed = {point: nfd(chr(point)) for point in POINTS}
    lowered = {point: lower(chr(point)) for point in POINTS}
    tilde, iota = "\u0334", "\u0345"  # the lowest and the highest combining class, 1 and 240
    return {
        "REMOVED": ranges(p for p in POINTS if clean(chr(p)) == ""),
        "BLANK": ranges(p for p in POINTS if clean(chr(p)) == " "),
        "CHINESE": ranges(p for p in POINTS if chinese(chr(p)) != chr(p)),
        "NONSPACING": ranges(p for p in POINTS if accents(chr(p)) == ""),
        "PUNCTUATION": ranges(p for p in POINTS if len(split(f"a{chr(p)}b")) == 3),
        # Hangul syllables decompose by arithmetic and are left out.
        "DECOMPOSED": ranges(
            p for p in POINTS if decomposed[p] != chr(p) and not 0xAC00 <= p <= 0xD7A3
        ),
        "REORDERED": ranges(
            p
            for p in POINTS
            if decomposed[p] == chr(p)
            and (
                nfd(f"a{iota}{chr(p)}") != f"a{iota}{chr(p)}"
                or nfd(f"a{chr(p)}{tilde}") != f"a{chr(p)}{tilde}"
                or chr(p) in (tilde, iota)
            )
        ),
        "LOWERED": lower_runs(
            {p: ord(v) for p, v in lowered.items() if v != chr(p) and len(v) == 1}
        ),
    }


COMMENTS = {
    "REMOVED": "Control, format and private-use characters, NUL and U+FFFD: dropped by cleaning.",
    "BLANK": "Whitespace: replaced by U+0020.",
    "CHINESE": "Surrounded by spaces, so that each becomes a word.",
    "NONSPACING": "Accents: dropped after decomposition.",
    "PUNCTUATION": "Punctuation: each character becomes a word.",
    "DECOMPOSED": "Characters with a canonical decomposition (without Hangul syllables).",
    "REORDERED": "Characters with a combining class above 0: canonical ordering can move them.",
    "LOWERED": "Lower case as first-last/step+distance. U+0130 (two characters) is left out.",
}


def write(path: Path) -> None:
    """Measure the tables and write the module."""
    parts = [HEADER.format(version=tokenizers.__version__)]
    for name, spec in measure().items():
        lines = textwrap.wrap(spec, 90, break_on_hyphens=False)
        quoted = "\n".join(f'    "{line} "' for line in lines[:-1]) + f'\n    "{lines[-1]}"'
        parts.append(f"# {COMMENTS[name]}\n{name} = (\n{quoted.lstrip(chr(10))}\n)\n\n")
    path.write_text("".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
