"""Questions to ask about a passage, found by rules on its words; no model takes part.

Each rule looks for one form of sentence and fills it into a question: "The bridge was built in
1902" gives "When was the bridge built?". A rule that finds nothing gives no question.
"""

import re
from collections.abc import Iterator

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

# Forms of sentences and what they answer: {1} to {3} are groups, {0} the first in mid-sentence.
_RULES = tuple(
    (re.compile(pattern), question)
    for pattern, question in (
        (
            rf"\b({_THING}|It) (lasted|took) (?:only |about |nearly )?{_NUMBER} ",
            "How long did {0} {2}?",
        ),
        (rf"\b({_NAME}|He|She|They) (lived|worked|studied) (?:in|at|near) ", "Where did {0} {2}?"),
        (rf"\b({_NAME}|He|She) (was) born (?:in|at|near) (?!\d)", "Where was {0} born?"),
        (
            rf"\b({_NAME}|He|She|They) (was|were) ([a-z]+ing [^.,;!?]{{3,70}}?),? because ",
            "Why {2} {0} {3}?",
        ),
        (
            rf"\b({_THING}) (was|were) ([a-z]+(?:ed|lt|nt|en)) (?:in|on) "
            rf"(?:[12]\d{{3}}\b|{_TIMES})",
            "When {2} {0} {3}?",
        ),
        (
            rf"\b({_THING}|{_NAME}|It) (is|was) {_NUMBER} [a-z]+ (high|long|wide|tall|deep)\b",
            "How {3} {2} {0}?",
        ),
        (rf"\b({_NAME}) (was|is) (?:[a-z]+ing )?(?:at|in|on|near|under) the ", "Where {2} {1}?"),
        (rf"\b(?:[a-z]+|,) {_NUMBER} ([a-z]{{3,}}s)\b(?! of the)", "How many {1}?"),
        (r"\b(?:[Ii]n|[Ss]ince) (1\d{3}|20\d\d)\b", "What happened in {1}?"),
        (rf"\b([Oo]n|[Ii]n) ({_TIMES})\b", "What happened {0} {2}?"),
        # what says who it is follows, or is before it: "Tom, a baker"; "her uncle Tom"
        (
            rf"\b({_NAME})(?: (?:is|was)|,) (?:an?|the|[Hh]is|[Hh]er) [a-z]{{3,}}",
            "Who or what is {1}?",
        ),
        (
            rf"\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir) (?:[a-z]+ )?[a-z]{{3,}} ({_NAME})",
            "Who or what is {1}?",
        ),
    )
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
    lists = [
        [_asked(match, question) for match in rule.finditer(text) if _fits(match)]
        for rule, question in _RULES
    ]
    for number in range(max(map(len, lists))):
        yield from (questions[number] for questions in lists if number < len(questions))
    yield _ALWAYS


def _asked(match: re.Match[str], question: str) -> str:
    first, *more = match.groups()
    start, _, rest = first.partition(" ")
    small = f"{start.lower() if start in {*_PRONOUNS, 'On', 'In'} else start} {rest}".strip()
    return question.format(small, first, *(_PLAIN_FORM.get(each, each) for each in more))


def _fits(match: re.Match[str]) -> bool:
    """Return whether a question can be made of a match: what looks like a name must be one."""
    subject = match[1].split()[0]
    if match.re in (_RULES[-1][0], _RULES[-2][0]):
        return subject not in _NO_NAMES and not re.match(_TIMES, subject)
    return subject in _PRONOUNS or subject not in _NO_NAMES
