"""Running text from other places: speeches, MASC, novels, sentence pairs."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from training.fetching.transfer import Files, zipped
from training.sources import Piece

_SKIPPED = ("email", "e-mail", "spam", "twitter", "ficlets")
_HEADING = re.compile(
    r"\s*((chapter|book|part|volume|phase|letter|epoch)\b.{0,70}|[IVXLC]+\.?(\s.{0,60})?)\s*", re.I
)
# Words of each of the 41 novels, by which they are found among the hundred.
_NOVELS = """
everybody said she was the most disagreeable-looking child|Cedric himself knew nothing whatever
about it|Once on a dark winter's day, when the yellow fog|Jane Eyre by Charlotte Bronte|Of late
years an abundant shower of curates|VILLETTE. BY CHARLOTTE BRONTE|Between the silver ribbon of
morning|The human race, to which so many of my readers belong|THE suburb of Saffron Park lay|
ALMAYER'S FOLLY|NOSTROMO A TALE OF THE SEABOARD|After entering at break of day the inner roadstead|
BLEAK HOUSE by Charles Dickens|EXPECTATIONS 1867 Edition|OLIVER TWIST OR THE PARISH BOY|Mr. Sherlock
Holmes, who was usually very late in the mornings|Mr. Hungerton, her father, really|HIS STATEMENT
AS MADE TO HIS THREE GRANDCHILDREN|ADAM BEDE by George Eliot|They were all at Charing Cross to see
Lilia off|One may as well begin with Helen's letters|The Signora had no business to do it|There is
an assize-town in one|'So to-morrow, Alice,' said Dr|It is a curious thing that at my age|There are
some events of which each circumstance and surrounding|I believe it was the old Egyptians, a very
wise people|FAR FROM THE MADDING CROWD by Thomas Hardy|JUDE THE OBSCURE by Thomas Hardy|On an
evening in the latter part of May a middle-aged man|The Ambassadors, by Henry James|CAPTAINS
COURAGEOUS|Kim by Rudyard Kipling|THE LIGHT THAT FAILED|THE full African moon poured down its light
|Sir Daniel and his men lay in and about Kettley|The 25th day of August, 1751, about two|SQUIRE
TRELAWNEY, Dr. Livesey|The Rev. Septimus Harding was, a few years since|It was the last day of July.
The long hot summer|It was a Sunday evening in October, and in common with"""


def text(documents: Iterable[Iterable[str]]) -> str:
    """Return a text file: a paragraph a line, a blank line between documents; no empty ones."""
    made = ("\n".join(filter(None, paragraphs)) for paragraphs in documents)
    return "\n\n".join(filter(None, made)) + "\n"


def joined(words: Sequence[str]) -> str:
    """Join the words of a tokenised sentence.

    >>> joined('It is n\\'t " far " , he said ( Ann \\'s friend ) .'.split())
    'It isn\\'t "far", he said (Ann\\'s friend).'
    """
    line = " ".join(words).replace("``", '"').replace("''", '"')
    for bracket, sign in (("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]")):
        line = line.replace(bracket, sign)
    parts = line.split('"')
    line = '"'.join(part.strip() if number % 2 else part for number, part in enumerate(parts))
    line = re.sub(r" (n't|'(?:s|re|ve|ll|d|m)\b|[,.;:!?%)\]}])", r"\1", line)
    return re.sub(r"([(\[{$]) ", r"\1", line).strip()


def speeches(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of the zipped addresses, one document each; inaugural ones come first."""
    found = []
    for archive in sorted(files):
        for _, raw in sorted(zipped(files[archive], ["*/[0-9]*.txt"]).items()):
            try:
                body = raw.decode()
            except UnicodeDecodeError:
                body = raw.decode("cp1252", "replace")
            found.append(_blocks(body, 5))
    return {next(iter(piece.files)): text(found)}


def masc(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of MASC's written part, one sentence a line, without its word classes."""
    [raw] = files.values()
    inside = zipped(raw, ["*.txt"])
    kinds = next(body for name, body in inside.items() if name.endswith("categories.txt")).decode()
    skipped = {
        row.split()[0]
        for row in kinds.splitlines()
        if row and any(kind in row.partition(" ")[2] for kind in _SKIPPED)
    }
    found = []
    for name, body in sorted(inside.items()):
        path = name.partition("/")[2]
        if path.startswith("written/") and path not in skipped:
            lines = body.decode(errors="replace").splitlines()
            words = ([word.rpartition("_")[0] for word in line.split()] for line in lines)
            found.append([joined(row) for row in words])
    return {next(iter(piece.files)): text(found)}


def novels(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of 41 of the novels, one document a chapter where headings can be seen."""
    marks = [_letters(mark) for mark in " ".join(_NOVELS.split("\n")).split("|")]
    found = []
    for _, raw in sorted(files.items()):
        body = raw.decode(errors="replace").replace("\r", "")
        letters = _letters(body)
        if any(mark in letters for mark in marks):
            lines = body.split("\n")
            starts = [at for at, line in enumerate(lines) if _HEADING.fullmatch(line)]
            for start, end in zip([-1, *starts], [*starts, len(lines)], strict=True):
                found.append(_blocks("\n".join(lines[start + 1 : end]), 1))
    return {next(iter(piece.files)): text(found)}


def pairs(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of the English sides of sentence pairs, one sentence a document."""
    lines = (line for raw in files.values() for line in raw.decode(errors="replace").splitlines())
    english = {line.partition("\t")[0].strip() for line in lines}
    kept = sorted(one for one in english if one.isascii() and len(one.split()) >= 4)
    return {next(iter(piece.files)): text([one] for one in kept)}


def _blocks(body: str, least: int) -> list[str]:
    """Return the paragraphs between blank lines that have some words."""
    whole = (" ".join(block.split()) for block in re.split(r"\n\s*\n", body))
    return [block for block in whole if len(block.split()) >= least]


def _letters(body: str) -> str:
    return re.sub(r"[\W_]+", "", body.lower())
