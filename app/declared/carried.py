"""Which boxes of a page a visitor's text fills, so that it goes along from page to page.

Both interfaces have a menu, and on both the menu leads to the same text where it fits. Here is what
goes where; how a text is remembered on the way is up to the interface.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

from app.catalog import examples, feature
from app.declared import declared
from app.features.fill_mask.task import mask_at_end
from app.features.qa.task_suggested import suggested
from bert_core.reading.gaps import read_signs
from bert_core.reading.sentences import split_sentences

HOME, LESSONS = "home", "lessons"  # the home page and the lessons, which are no features

# The boxes that hold a visitor's texts, by their key, which is the same on all pages.
TEXT_KEYS = ("text", "text_pair", "question", "choices")

UNFIT = {  # what a page says if a visitor's text does not fit it
    "senses": "This page compares a word in several sentences. Your text stays on the other pages."
}

_GAP = "[MASK]"
_WORD = re.compile(r"[^\W\d_]{4,}")

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Carried:
    """What a visitor wrote on one page."""

    texts: Annotated[Texts, "the texts"]
    whole: Annotated[
        str,
        'the first one before words of it were hidden; "" if it has no gap, or if it was written '
        "with it",
    ] = ""

    @classmethod
    def after(cls, before: Self | None, texts: Texts) -> Self:
        """Return what is carried when a visitor has changed it."""
        earlier = "" if before is None else before.whole or before.texts.get("text", "")
        return cls(dict(texts), earlier if hides(texts.get("text", ""), earlier) else "")


def boxes(slug: str) -> tuple[str, ...]:
    """Return the keys of a page's text boxes."""
    if slug == HOME:
        return ("text", "question")
    if slug == LESSONS or not feature(slug).takes_text:
        return ()
    keys = {each.key for each in declared(slug).parameters}
    return tuple(key for key in TEXT_KEYS if key in keys)


def boxes_for(slug: str, carried: Carried) -> dict[str, str]:
    """Return what goes into the boxes of a page, by key; {} if the text does not fit it.

    Pages that read gaps get the text with its gaps, others the whole text if it is known. A box
    that the visitor has written nothing for becomes empty: what an example left in it would not
    belong to the text.
    """
    keys = boxes(slug)
    gaps = slug != HOME and feature(slug).gaps
    text = carried.texts.get("text", "") if gaps else carried.whole or carried.texts.get("text", "")
    given = {key: {**carried.texts, "text": text}.get(key, "") for key in keys}
    if slug == "next_sentence" and not given["text_pair"].strip():
        return _in_two(text)
    if slug == "qa" and not given["question"].strip():
        return {**given, "question": next(iter(suggested(text, "", 1)), "")}
    if slug == "why" and not given["text_pair"]:
        return {**given, "text_pair": carried.texts.get("question", "")}
    return _in_lines(text) if slug == "senses" else given


def is_ours(slug: str, texts: Texts) -> bool:
    """Return whether the texts of a page are those of its examples, with words hidden or not."""
    known = [
        str(value)
        for row in (examples(slug) if slug != HOME else ())
        for key, value in row.values.items()
        if key in TEXT_KEYS
    ]
    mine = (texts.get(key, "") for key in ("text", "text_pair"))
    return all(
        not text.strip() or any(text == one or hides(text, one) for one in known) for text in mine
    )


def hides(text: str, whole: str) -> bool:
    """Return whether a text is another one with words hidden, or with a gap put at its end.

    >>> hides("I [MASK] tea.", "I like tea."), hides("I like ___.", "I like tea.")
    (True, True)
    >>> hides("I like tea.", "I like tea."), hides("I [MASK].", "I like tea.")
    (False, False)
    """
    gapped = read_signs(text)[0]
    if _GAP not in gapped or not whole.strip():
        return False
    words, others = gapped.split(), whole.split()
    hidden = len(words) == len(others) and all(map(_hides_in, words, others))
    return hidden or gapped == mask_at_end(whole)


def _hides_in(word: str, whole: str) -> bool:
    """Return whether a word is another one, or parts of it in their order around gaps."""
    first, *rest = word.split(_GAP)
    if not rest:
        return word == whole
    here = len(first)
    for part in rest[:-1]:
        here = whole.find(part, here) + len(part)
        if here < len(part):
            return False
    return whole.startswith(first) and whole[here:].endswith(rest[-1])


def _in_two(text: str) -> dict[str, str]:
    *before, last = split_sentences(text) or [text]
    if not before:
        return {"text": text, "text_pair": ""}
    start = text.rstrip().rfind(last)
    return {"text": text[:start].rstrip(), "text_pair": last}


def _in_lines(text: str) -> dict[str, str]:
    """Put each sentence on a line, and take the word that most of them have; {} if none has it."""
    lines = [line for each in text.splitlines() for line in split_sentences(each)]
    found = Counter(word for line in lines for word in {w.lower() for w in _WORD.findall(line)})
    word, times = max(found.items(), key=lambda item: (item[1], len(item[0])), default=("", 0))
    return {"text": "\n".join(lines), "target": word} if times > 1 else {}
