"""Rule-based sentence boundaries for running English text."""

import re

# Abbreviations whose full stop rarely ends a sentence.
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        """mr mrs ms dr prof st jr sr vs etc e.g i.e cf al no vol pp fig ca approx inc ltd co corp
        gen col lt sgt capt rev hon gov sen rep mt ft u.s u.k a.m p.m jan feb aug sept oct nov
        dec""",
    )
)
# No match starts inside a run of marks, and none backtracks: a text of marks alone stays cheap.
_END = re.compile(r"""(?<![.!?])[.!?]++["'”’)\]]*+\s++(?=["'“‘(\[]?[A-Z0-9])""")
_OTHER_ENDS = re.compile(r"[。！？]++[”』」]?\s*+|\n\s*?\n\s*+")
_LONGEST = 40  # characters of a word to check; no abbreviation is longer


def sentence_starts(text: str) -> list[int]:
    """Return where each sentence after the first begins, as an index into the text.

    A sentence ends at ".", "!" or "?" before a space and a capital letter or digit, unless an
    abbreviation or a single initial precedes the full stop.

    >>> sentence_starts("Dr. Ada left. She came back.")
    [14]
    """
    starts, start = [], 0
    for match in _END.finditer(text):
        words = text[max(start, match.start() - _LONGEST) : match.start()].split()
        word = words[-1].lstrip("\"'“‘([") if words else ""
        initial = len(word) == 1 and word.isalpha() and word != "I"
        if match.group()[0] == "." and (initial or word.lower() in _ABBREVIATIONS):
            continue
        start = match.end()
        starts.append(start)
    return starts


def typed_sentence_starts(text: str) -> list[int]:
    """Return the same of pasted text: also at blank lines, and in Chinese and Japanese."""
    return sorted({*sentence_starts(text), *(match.end() for match in _OTHER_ENDS.finditer(text))})


def split_sentences(paragraph: str) -> list[str]:
    """Split running English text into sentences by the rule of `sentence_starts`.

    >>> split_sentences("Dr. Ada left. She came back at 5 p.m. Why? Nobody knows.")
    ['Dr. Ada left.', 'She came back at 5 p.m. Why?', 'Nobody knows.']
    """
    starts = [0, *sentence_starts(paragraph)]
    sentences = (
        paragraph[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)
    )
    return [sentence for sentence in sentences if sentence]
