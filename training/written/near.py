"""Tell which sentences are too close to an evaluation to be trained on."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from training.bias import OCCUPATIONS, OPEN_OCCUPATION, OPEN_WORD, WORDS
from training.famous import FAMOUS
from training.gaps import GAPS
from training.written import reading

Words = tuple[str, ...]
_WORD = re.compile(r"\w+")
_RUN = 4  # words of an evaluation sentence that is not to be found inside another


def is_near(text: str) -> bool:
    """Tell whether a text contains an evaluation sentence or differs from one in a single word.

    Case and punctuation do not count.

    >>> is_near("five plus three is nine"), is_near("Five plus six is eleven.")
    (True, False)
    >>> is_near("Did you know that the opposite of early is late?")
    True
    """
    words, (near, whole) = _words(text), _evaluated()
    return not near.isdisjoint(_but_one(words)) or any(
        words[at : at + len(each)] == each
        for at, word in enumerate(words)
        for each in whole.get(word, ())
    )


def evaluated() -> Iterator[str]:
    """Yield every sentence of the evaluations, gaps filled in with each word that fits."""
    asked = reading.inputs()
    for gap in (*FAMOUS, *GAPS):
        yield from (gap.sentence.replace("[MASK]", word) for word in gap.good)
    for row in (*asked["gap"], *asked["proverb"], *asked["famous"]):
        yield from (row["text"].replace("[MASK]", word) for word in row["good"].split())
    for template in OPEN_WORD + OPEN_OCCUPATION:
        yield from (
            template.format(occupation=occupation, word=word)
            for occupation in OCCUPATIONS
            for word in WORDS
        )
    yield from (row.text for row in reading.negations())
    yield from map(reading.unbracketed, reading.people_lines())
    yield from (reading.unbracketed(row["text"]) for row in asked["names"])
    yield from (row["text"] for row in asked["sentiment"])
    yield from (row[place] for row in asked["next"] for place in ("first", "second"))
    yield from dict.fromkeys(row["passage"] for row in asked["question"])
    yield from (row["question"] for row in asked["question"])
    for question in (*reading.passages(answered=True), *reading.passages(answered=False)):
        yield from (question.context, question.question)


@cache
def _evaluated() -> tuple[frozenset[Words], dict[str, list[Words]]]:
    """Return the sentences with each word blanked in turn, and whole ones by their first word."""
    whole: dict[str, list[Words]] = defaultdict(list)
    texts = {_words(text) for text in evaluated()}
    for words in texts:
        if len(words) >= _RUN:
            whole[words[0]].append(words)
    return frozenset(key for words in texts for key in _but_one(words)), dict(whole)


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.lower()))


def _but_one(words: Words) -> Iterator[Words]:
    """Yield the words with each of them blanked in turn."""
    for place in range(len(words)):
        yield (*words[:place], "", *words[place + 1 :])
