"""Questions to ask about a passage, found by rules on its words; no model takes part.

Each rule looks for one form of sentence and fills it into a question: "The bridge was built in
1902" gives "When was the bridge built?". A rule that finds nothing gives no question.
"""

import re
from collections.abc import Callable, Iterator

_NUMBER = (
    r"(?:\d[\d.,]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)"
)
_NAME = (  # a whole one: not the end of "the University of Leeds", nor its beginning
    r"(?<!of )(?<!-)\b[A-Z][a-z]+(?: [A-Z][a-z]+)*\b"
    r"(?!(?: (?:of|de|van|von|and|&))? [A-Z]|[-'’]\w)"
)
_THING = r"(?:[Tt]he|[Ii]ts?)(?: [a-z]+){1,3}?"
_PRONOUNS = frozenset({"The", "It", "Its", "He", "She", "They"})
_NO_NAMES = _PRONOUNS | {"An", "And", "As", "But", "That", "Then", "There", "This", "When", "While"}
_TIMES = (
    "(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|June|July|August|"
    "September|October|November|December)"
)
_PLAIN_FORM = {
    "lasted": "last", "took": "take", "lived": "live", "worked": "work", "studied": "study",
}  # fmt: skip

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_RULES: tuple[Rule, ...] = (
    (
        re.compile(rf"\b({_THING}|It) (lasted|took) (?:only |about |nearly )?{_NUMBER} "),
        lambda m: f"How long did {_small(m[1])} {_PLAIN_FORM[m[2]]}?",
    ),
    (
        re.compile(rf"\b({_NAME}|He|She|They) (lived|worked|studied) (?:in|at|near) "),
        lambda m: f"Where did {_small(m[1])} {_PLAIN_FORM[m[2]]}?",
    ),
    (
        re.compile(rf"\b({_NAME}|He|She) was born (?:in|at|near) (?!\d)"),
        lambda m: f"Where was {_small(m[1])} born?",
    ),
    (
        re.compile(rf"\b({_NAME}|He|She|They) (was|were) ([a-z]+ing [^.,;!?]{{3,70}}?),? because "),
        lambda m: f"Why {m[2]} {_small(m[1])} {m[3]}?",
    ),
    (
        re.compile(
            rf"\b({_THING}) (was|were) ([a-z]+(?:ed|lt|nt|en)) (?:in|on) (?:[12]\d{{3}}\b|{_TIMES})"
        ),
        lambda m: f"When {m[2]} {_small(m[1])} {m[3]}?",
    ),
    (
        re.compile(
            rf"\b({_THING}|{_NAME}|It) (is|was) {_NUMBER} [a-z]+ (high|long|wide|tall|deep)\b"
        ),
        lambda m: f"How {m[3]} {m[2]} {_small(m[1])}?",
    ),
    (
        re.compile(rf"\b({_NAME}) (was|is) (?:[a-z]+ing )?(?:at|in|on|near|under) the "),
        lambda m: f"Where {m[2]} {m[1]}?",
    ),
    (
        re.compile(rf"\b(?:[a-z]+|,) {_NUMBER} ([a-z]{{3,}}s)\b(?! of the)"),
        lambda m: f"How many {m[1]}?",
    ),
    (re.compile(r"\b(?:[Ii]n|[Ss]ince) (1\d{3}|20\d\d)\b"), lambda m: f"What happened in {m[1]}?"),
    (
        re.compile(rf"\b(?:[Oo]n|[Ii]n) ({_TIMES})\b"),
        lambda m: f"What happened {m[0][:2].lower()} {m[1]}?",
    ),
    (  # what says who it is follows, or is before it: "Tom, a baker"; "her uncle Tom"
        re.compile(rf"\b({_NAME})(?: (?:is|was)|,) (?:an?|the|[Hh]is|[Hh]er) [a-z]{{3,}}"),
        lambda m: f"Who or what is {m[1]}?",
    ),
    (
        re.compile(
            rf"\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z]+ )?[a-z]{{3,}} ({_NAME})"
        ),
        lambda m: f"Who or what is {m[1]}?",
    ),
)
_ALWAYS = "What is this text about?"


_LONGEST = 50  # characters; longer questions do not fit a line


def suggested(passage: str, asked: str, most: int = 2) -> tuple[str, ...]:
    """Suggest questions about a passage, the most specific first.

    Args:
        passage: the text; only its first 4,000 characters are searched.
        asked: the questions that are asked already.
        most: number of questions at most.

    >>> suggested("The old bridge was built in 1902 by Clara Dunn.", "")
    ('When was the old bridge built?', 'What happened in 1902?')
    """
    found: list[str] = []
    for question in _found(" ".join(passage[:4000].split())):
        if len(found) == most:
            break
        if len(question) <= _LONGEST and question not in found and question not in asked:
            found.append(question)
    return tuple(found)


def _found(text: str) -> Iterator[str]:
    """Yield the first question of every rule, then the second ones; last, one for any passage."""
    lists = [[ask(match) for match in rule.finditer(text) if _fits(match)] for rule, ask in _RULES]
    for number in range(max(map(len, lists))):
        yield from (questions[number] for questions in lists if number < len(questions))
    yield _ALWAYS


def _fits(match: re.Match[str]) -> bool:
    """Return whether a question can be made of a match: what looks like a name must be one."""
    subject = match[1].split()[0]
    if match.re in (_RULES[-1][0], _RULES[-2][0]):
        return subject not in _NO_NAMES and not re.match(_TIMES, subject)
    return subject in _PRONOUNS or subject not in _NO_NAMES


def _small(subject: str) -> str:
    """Write a subject as in the middle of a sentence.

    >>> _small("The bridge"), _small("Tom")
    ('the bridge', 'Tom')
    """
    first, _, rest = subject.partition(" ")
    small = first.lower() if first in _PRONOUNS else first
    return f"{small} {rest}".strip()
