"""Sentences with tagged names as training reads them: words as the model sees them, faults mended.

The sources split words in different ways, and the model in yet another: it reads "U.K." as four
words and labels each of them. Trained on the first piece alone, it took the four for three places.
"""

from functools import cache

from bert_core.finetuning import TaggedWords
from bert_core.text.tokenizer import BasicTokenizer
from training.rows import TAGS

_SPLIT = BasicTokenizer(do_lower_case=False)
_OUTSIDE = TAGS.index("O")
_OPENS = "@#"  # begin a name in tweets
_POSSESSIVE = (("'", "s"), ("’", "s"))


def as_read(row: TaggedWords) -> TaggedWords:
    """Return the sentence in the words that the model labels, each with its own tag.

    >>> row = TaggedWords(("In", "the", "U.K.,", "Ada's", "cat"), (0, 0, 3, 1, 0))
    >>> read = as_read(row)
    >>> " ".join(f"{word}/{TAGS[tag]}" for word, tag in zip(read.words, read.tags, strict=True))
    "In/O the/O U/B-LOC ./I-LOC K/I-LOC ./I-LOC ,/O Ada/B-PER '/O s/O cat/O"
    """
    tags = _mended(row)
    words: list[str] = []
    read: list[int] = []
    for word, tag, after in zip(row.words, tags, [*tags[1:], _OUTSIDE], strict=True):
        parts = _parts(word)
        words += parts
        read += _part_tags(parts, tag, ends=not _continues(after))
    return TaggedWords(tuple(words), tuple(read))


def _mended(row: TaggedWords) -> list[int]:
    """Return the tags with two faults of the sources mended.

    The derived names of GUM leave out the first word of "United States", and the tweets tag "@" and
    the name after it as two names.
    """
    tags = list(row.tags)
    for place in range(1, len(tags)):
        before, begins = row.words[place - 1], TAGS[tags[place]].startswith("B-")
        if begins and before == "United" and tags[place - 1] == _OUTSIDE:
            tags[place - 1] = tags[place]
            tags[place] = _inside(tags[place])
        elif begins and before == "@" and tags[place - 1] == tags[place]:
            tags[place] = _inside(tags[place])
    return tags


@cache
def _parts(word: str) -> tuple[str, ...]:
    """Split a word as the model does."""
    return tuple(_SPLIT.tokenize(word)) or (word,)


def _part_tags(parts: tuple[str, ...], tag: int, *, ends: bool) -> list[int]:
    """Return a tag for each part of a word; quotes, commas and 's around a name are outside it."""
    if tag <= _OUTSIDE or len(parts) == 1:
        return [tag] * len(parts)
    first, last = 0, len(parts)
    if not _continues(tag):
        while first < last - 1 and not parts[first].isalnum() and parts[first] not in _OPENS:
            first += 1
    if ends:
        if parts[-2:] in _POSSESSIVE and last - first > 2:
            last -= 2
        while last > first + 1 and not parts[last - 1].isalnum():
            if parts[last - 1] == "." and "." in parts[first : last - 1]:
                break  # of an abbreviation
            last -= 1
    inside = [_inside(tag)] * (last - first - 1)
    return [_OUTSIDE] * first + [tag, *inside] + [_OUTSIDE] * (len(parts) - last)


def _inside(tag: int) -> int:
    return TAGS.index(f"I-{TAGS[tag][2:]}")


def _continues(tag: int) -> bool:
    return TAGS[tag].startswith("I-")
