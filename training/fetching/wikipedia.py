"""Articles of Wikipedia: as wikitext, as the text of a page, or tokenised (WikiText-2)."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from bert_core.pretraining import split_sentences
from training.fetching.texts import joined, text
from training.fetching.transfer import Files
from training.sources import Piece

_CLOSING = (
    "see also|notes|notes and references|references|footnotes|citations|sources|bibliography|"
    "further reading|external links|works cited|filmography|discography"
)
_GONE = re.compile(
    r"<!--.*?-->|<ref\b[^>]*/\s*>|<(ref|gallery|math|table|timeline|imagemap)\b.*?</\1\s*>",
    re.S | re.I,
)
# What is inside goes first: links in the captions of pictures, templates in templates.
_NESTED = (
    (re.compile(r"\{\{([^{}]*)\}\}"), lambda found: _shown(found[1])),
    (re.compile(r"\{\|(?:(?!\{\|).)*?\|\}", re.S), ""),
    (re.compile(r"\[\[(?!file:|image:|category:)(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", re.I), r"\1"),
    (re.compile(r"\[\[[^\[\]]*\]\]"), ""),
)
_ADDRESS = re.compile(r"\[(?:https?:)?//[^\s\]]+ ?([^\]]*)\]")
_NO_ARTICLE = re.compile(
    r"\{\{(disambig|hndis|geodis|surname|given name)|\bmay refer to\b|^#redirect", re.I
)
_DATE = re.compile(r"(Jan|Febr)uary_\d+|(March|April|May|June|July|August)_\d+|\w+ber_\d+")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|\w+ed|can|may|became|began|refers?)\b")
_ABOUT_IT = re.compile(
    r"(this article|this is a|for other uses|for the|not to be confused|coordinates|\^)", re.I
)


def articles(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of wikitext: paragraphs of at least eight words; no closing sections."""
    return {next(iter(piece.files)): text(map(_plain, _bodies(files)))}


def pages(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of pages as a browser shows them: paragraphs that end as sentences."""
    found = []
    for body in _bodies(files):
        end = re.search(rf"^\s*({_CLOSING})\s*$", body, re.M | re.I)
        lines = body[: end.start() if end else None].split("\n")
        found.append([_tidy(one) for one in lines if _is_prose(one, 10)])
    return {next(iter(piece.files)): text(found)}


def openings(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of the first characters of pages: their whole sentences that have a verb."""
    found = []
    for body in _bodies(files):
        ends = (re.match(r".*[.!?][\"')]?(?=\s|$)", line) for line in body.split("\n"))
        lines = (end[0] for end in ends if end and _VERB.search(end[0]))
        found.append([_tidy(line) for line in lines if _is_prose(line, 6)])
    return {next(iter(piece.files)): text(found)}


def simple(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of pages whose first line is the title; no lists."""
    bodies = (body.split("\n")[1:] for body in _bodies(files))
    kept = ([line.strip() for line in body if _is_prose(line, 5)] for body in bodies)
    return {next(iter(piece.files)): text(kept)}


def wikitext2(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of WikiText-2: detokenised, without headings and sentences with <unk>."""
    documents: list[list[str]] = [[]]
    for line in "\n".join(_bodies(files)).split("\n"):
        if re.fullmatch(r" = [^=].* = \s*", line):
            documents.append([])
        elif line.strip() and not line.startswith(" ="):
            whole = joined(re.sub(r" @(.)@ ", r"\1", line).split())
            kept = (one for one in split_sentences(whole) if "<unk>" not in one)
            documents[-1].append(" ".join(kept))
    return {next(iter(piece.files)): text(documents)}


def _bodies(files: Files) -> Iterator[str]:
    """Yield the text of each article in the order of their titles."""
    for name in sorted(files, key=unquote):
        yield files[name].decode(errors="replace").replace("\r", "").lstrip('\ufeff"')


def _is_prose(line: str, words: int) -> bool:
    ends = re.search(r"[.!?:][\"')\]]?\s*$|[\")]\s*$", line)
    return len(line.split()) >= words and bool(ends) and not _ABOUT_IT.match(line)


def _plain(body: str) -> list[str]:
    """Return the paragraphs of wikitext; none of disambiguation pages and pages of days."""
    title, tab, rest = body.partition(".txt\t")  # the name of the file may come first
    body = rest if tab and "\n" not in title else body
    if _NO_ARTICLE.search(body) or (body is rest and _DATE.fullmatch(title)):
        return []
    body = _GONE.sub("", body)
    for pattern, made in _NESTED:
        for _ in range(12):
            body, count = pattern.subn(made, body)
            if not count:
                break
    body = re.sub(r"<[^>]*>", "", _ADDRESS.sub(r"\1", re.sub(r"'{2,}", "", body)))
    lines = (_tidy(line.lstrip("*#:; ")) for line in _without_closing(body).split("\n"))
    return [one for one in lines if len(one.split()) >= 8 and one[0] not in "|!{=}"]


def _shown(template: str) -> str:
    """Return what is shown of a template: foreign words, measures.

    >>> _shown("lang-grc|Ἄβαι"), _shown("convert|500|ft|m|abbr=on"), _shown("Infobox|a=1")
    ('Ἄβαι', '500 ft', '')
    """
    name, *values = (part.strip() for part in template.split("|"))
    plain = [value for value in values if "=" not in value]
    if re.match(r"(lang|transl|nowrap|sic)", name, re.I) and plain:
        return plain[-1]
    return " ".join(plain[:2]) if name.lower() in ("convert", "cvt") else ""


def _without_closing(body: str) -> str:
    """Leave out headings, and the sections at the end that are no text."""
    opening, *rest = re.split(r"^(=+)\s*(.*?)\s*\1\s*$", body, flags=re.M)
    kept, closed = [opening], 0
    for marks, heading, section in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if not closed or len(marks) <= closed:
            closed = len(marks) if re.fullmatch(_CLOSING, heading, re.I) else 0
        kept += [] if closed else [section]
    return "\n".join(kept)


def _tidy(line: str) -> str:
    """Leave out what removed templates, references and pronunciations left.

    >>> _tidy("Bern (/bɜːrn/; French: ; 1191) is a city , in Bern ( ; ).")
    'Bern (bɜːrn/; French:; 1191) is a city, in Bern.'
    """
    line = " ".join(line.replace("&nbsp;", " ").replace("&ndash;", "–").split())
    line = re.sub(r"\(\s*[/,;]+\s*", "(", re.sub(r"\s*\(\s*[;,:/\s]*\)", "", line))
    return re.sub(r"\s+([,.;:)])", r"\1", line).replace("( ", "(")
