"""Read annotated text, one word and its tag per line, and compare it with a model's tags."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.features.ner.result_agreement import Agreement, Counts, Difference, Named, Verdict
from bert_core.errors import InputError
from bert_core.reading.tagging import TagScheme

_TAG = re.compile(r"O|[BIMELSUW][-_](\S+)|(\S+)[-_][BIMELSUW]", re.IGNORECASE)
_DOCUMENT = "-DOCSTART-"  # starts a document in CoNLL-2003 files


@dataclass(frozen=True, slots=True)
class Annotated:
    """Sentences of tagged words.

    Attributes:
        text: the words, separated by spaces, one sentence per line.
        words: the W words as spans of the text: first character, and the one after the last.
        tags: the W tags.
        starts: the first word of every sentence.
    """

    text: str
    words: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]
    starts: tuple[int, ...]

    @property
    def sentences(self) -> list[range]:
        """The words of every sentence."""
        stops = (*self.starts[1:], len(self.words))
        return [range(*each) for each in zip(self.starts, stops, strict=True)]


def read_annotated(lines: str) -> Annotated:
    """Read words and their tags from the first and last column of each line.

    Columns are separated by TAB, or by spaces in lines without one; a blank line ends a sentence.

    Raises:
        InputError: there is no word, a line has only one column, or a tag is not valid.
    """
    text: list[str] = []
    words: list[tuple[int, int]] = []
    tags: list[str] = []
    starts: list[int] = []
    place, opens = 0, True
    for number, line in enumerate(lines.removeprefix("\ufeff").splitlines(), start=1):
        columns = line.split("\t") if "\t" in line.strip() else line.split()
        if not line.strip() or columns[0].strip() == _DOCUMENT:
            opens = True
            continue
        word, tag = columns[0].strip(), columns[-1].strip()
        _check(number, word, tag, len(columns))
        if opens:
            starts.append(len(words))
        gap = "" if not words else "\n" if opens else " "
        place += len(gap)
        text += [gap, word]
        words.append((place, place + len(word)))
        tags.append(tag)
        place, opens = place + len(word), False
    if not words:
        raise InputError("There is no annotated word. Write a word, a TAB and its tag per line.")
    return Annotated("".join(text), tuple(words), tuple(tags), tuple(starts))


def _check(number: int, word: str, tag: str, columns: int) -> None:
    if columns < 2 or not word:
        raise InputError(
            f"Line {number} has one column only; expected a word, a TAB and its tag, such as O or "
            "B-PER. A sentence ends with a blank line."
        )
    if not _TAG.fullmatch(tag):
        raise InputError(
            f"Line {number} ends with {tag[:40]!r}; expected a tag: O outside of names, or one "
            "like B-PER for the beginning of a name and I-PER for the rest of it."
        )


def entities(
    annotated: Annotated, tags: Sequence[str], names: Sequence[str]
) -> list[tuple[int, Named]]:
    """Join tags into entities, none of which crosses a sentence boundary.

    Args:
        annotated: the words.
        tags: the W tags.
        names: every possible tag; together they determine what a prefix means.

    Returns:
        For each entity, the number of its sentence, counted from 1, and the entity.
    """
    scheme = TagScheme(names)
    numbers = {name: number for number, name in enumerate(names)}
    found = []
    for number, sentence in enumerate(annotated.sentences, start=1):
        labels = [numbers[tags[word]] for word in sentence]
        for s in scheme.stretches(labels):
            first, last = sentence[s.start], sentence[s.stop - 1]
            place = annotated.words[first][0], annotated.words[last][1]
            found.append((number, Named(s.kind, *place)))
    return found


def _every(tags: Sequence[str]) -> list[str]:
    """Return the tags plus B and I of each kind; S-PER alone would not be recognised."""
    found = [match for match in map(_TAG.fullmatch, tags) if match]
    before = {f"{mark}-{each[1]}" for each in found if each[1] for mark in "BI"}
    after = {f"{each[2]}-{mark}" for each in found if each[2] for mark in "BI"}
    return sorted({*tags, *before, *after})


def compare(
    annotated: Annotated, tags: Sequence[str], names: Sequence[str], kinds: Sequence[str]
) -> Agreement:
    """Compare annotations with a model's tags of the same words, entity by entity.

    An entity is right if its first word, last word and kind all match (as in the evaluation of
    Tjong Kim Sang 2002).

    Args:
        annotated: words with the tags that a person assigned.
        tags: the model's W tags.
        names: every label of the model.
        kinds: the kinds of entity that these labels cover.
    """
    gold = entities(annotated, annotated.tags, _every(annotated.tags))
    found = entities(annotated, tags, names)
    return agreement(
        annotated.text, (len(annotated.words), len(annotated.starts)), gold, found, kinds
    )


def agreement(
    text: str,
    counted: tuple[int, int],
    gold: Sequence[tuple[int, Named]],
    found: Sequence[tuple[int, Named]],
    kinds: Sequence[str],
) -> Agreement:
    """Compare the entities of a person with those of a model.

    Args:
        text: all sentences.
        counted: its words and its sentences.
        gold: what a person marked, each with the number of its sentence.
        found: what the model marked.
        kinds: the kinds of entity that the model can find; a person may write them in any case.
    """
    known = {kind.casefold(): kind for kind in kinds}
    gold = [
        (number, replace(named, kind=known.get(named.kind.casefold(), named.kind)))
        for number, named in gold
    ]
    right = {named for _, named in gold} & {named for _, named in found}
    used = sorted({named.kind for _, named in (*gold, *found)})
    counts = [
        Counts(
            kind,
            sum(named.kind == kind for _, named in gold),
            sum(named.kind == kind for _, named in found),
            sum(named.kind == kind for named in right),
        )
        for kind in used
    ]
    return Agreement(
        text=text,
        words=counted[0],
        sentences=counted[1],
        annotated=tuple(named for _, named in gold),
        found=tuple(named for _, named in found),
        total=Counts("", len(gold), len(found), len(right)),
        kinds=tuple(counts),
        differences=tuple(
            _differences(
                [each for each in gold if each[1] not in right],
                [each for each in found if each[1] not in right],
            )
        ),
        unknown=tuple(sorted({named.kind for _, named in gold} - set(kinds))),
    )


def _differences(
    gold: Sequence[tuple[int, Named]], found: Sequence[tuple[int, Named]]
) -> list[Difference]:
    """Pair overlapping entities in order, and list the unpaired ones individually."""
    left = list(found)
    told = []
    for sentence, named in gold:
        partner = next(
            (each for each in left if each[1].start < named.end and named.start < each[1].end), None
        )
        if partner is None:
            told.append(Difference("missed", sentence, named, None))
            continue
        left.remove(partner)
        same = (partner[1].start, partner[1].end) == (named.start, named.end)
        verdict: Verdict = "other kind" if same else "other ends"
        told.append(Difference(verdict, sentence, named, partner[1]))
    told += [Difference("invented", sentence, None, named) for sentence, named in left]
    return sorted(told, key=lambda each: each.start)
