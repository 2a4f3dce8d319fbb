"""Articles of Wikipedia: as wikitext, as the text of a page, or tokenised (WikiText-2)."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from training.fetching.texts import joined, text
from training.fetching.transfer import Files
from training.sources import Piece

_CLOSING = (
    "see also|notes|notes and references|references|footnotes|citations|sources|bibliography|"
    "further reading|external links|works cited|filmography|discography|awards and nominations"
)
_SECTION = re.compile(r"^(=+)\s*(.*?)\s*\1\s*$", re.M)
_GONE = re.compile(
    r"<!--.*?-->|<ref\b[^>]*/\s*>|<(ref|gallery|math|table|timeline|imagemap|score)\b.*?</\1\s*>",
    re.S | re.I,
)
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_TABLE = re.compile(r"\{\|(?:(?!\{\|).)*?\|\}", re.S)
_FILE = re.compile(r"\[\[(?:file|image|category):[^\[\]]*\]\]", re.I)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_ADDRESS = re.compile(r"\[(?:https?:)?//[^\s\]]+ ?([^\]]*)\]")
_EMPTY = re.compile(r"\(\s*[;,:/\s]*\)")
_DATE = re.compile(
    r"(January|February|March|April|May|June|July|August|September|October|November|December)_\d+"
)
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|\w+ed|can|may|became|began|refers?)\b")
_NO_TEXT = re.compile(
    r"^(this article|this is a|for other uses|for the|not to be confused|coordinates|contents$|\^)",
    re.I,
)


def articles(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of wikitext: paragraphs of at least eight words; no closing sections."""
    return {next(iter(piece.files)): text(_plain(body) for _, body in _in_order(files))}


def pages(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of pages as a browser shows them: paragraphs that end as sentences."""
    return {next(iter(piece.files)): text(_paragraphs(body) for _, body in _in_order(files))}


def openings(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of the first characters of pages: their whole sentences that have a verb."""
    found = []
    for _, body in _in_order(files):
        ends = (re.match(r".*[.!?][\"')]?(?=\s|$)", line) for line in body.split("\n"))
        found.append(
            [_tidy(end[0]) for end in ends if end and _VERB.search(end[0]) and _is_prose(end[0])]
        )
    return {next(iter(piece.files)): text(found)}


def simple(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of pages whose first line is the title; no lists."""
    bodies = (body.partition("\n")[2].split("\n") for _, body in _in_order(files))
    kept = ([one for one in body if len(one.split()) >= 5 and one[-1] in ".!?)\""] for body in bodies)
    return {next(iter(piece.files)): text(kept)}


def wikitext2(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make a text of WikiText-2: detokenised, without headings and sentences with <unk>."""
    from bert_core.pretraining import split_sentences

    documents: list[list[str]] = [[]]
    for _, body in _in_order(files):
        for line in body.split("\n"):
            if re.fullmatch(r" = [^=].* = \s*", line):
                documents.append([])
            elif line.strip() and not line.startswith(" ="):
                whole = joined(re.sub(r" @(.)@ ", r"\1", line).split())
                kept = [one for one in split_sentences(whole) if "<unk>" not in one]
                documents[-1].append(" ".join(kept))
    return {next(iter(piece.files)): text(documents)}


def _in_order(files: Files) -> Iterator[tuple[str, str]]:
    """Yield title and text of each article in the order of their titles."""
    for name in sorted(files, key=unquote):
        body = files[name].decode(errors="replace").replace("\r", "")
        yield unquote(name.rpartition("/")[2].removesuffix(".txt")), body.lstrip("\ufeff\"")


def _plain(body: str) -> list[str]:
    """Return the paragraphs of wikitext; none of disambiguation pages and pages of days."""
    title, tab, rest = body.partition(".txt\t")
    if tab and "\n" not in title:
        body = rest
        if _DATE.fullmatch(title):
            return []
    if re.search(r"\{\{(disambig|hndis|geodis|surname|given name)|may refer to|^#redirect", body, re.I):
        return []
    body = _GONE.sub("", body)
    for pattern, made in ((_TEMPLATE, _shown), (_TABLE, ""), (_FILE, ""), (_LINK, r"\1")):
        for _ in range(12):  # they are nested
            body, count = pattern.subn(made, body)  # type: ignore[arg-type]
            if not count:
                break
        if pattern is _TABLE:  # links in captions first
            body = re.sub(r"\[\[(?!file|image|category)([^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\2", body, flags=re.I)
    body = re.sub(r"<[^>]*>", "", _ADDRESS.sub(r"\1", re.sub(r"'{2,}", "", body)))
    lines = (_tidy(line.lstrip("*#:; ")) for line in _without_closing(body).split("\n"))
    return [one for one in lines if len(one.split()) >= 8 and one[0] not in "|!{=}"]


def _shown(template: re.Match[str]) -> str:
    """Return what is shown of a template: foreign words, measures, quotations."""
    name, *values = (part.strip() for part in template[1].split("|"))
    plain = [value for value in values if "=" not in value]
    if re.match(r"(lang|nihongo|transl|quote|nowrap|abbr|angbr|sic)", name, re.I) and plain:
        return plain[0] if name.lower().startswith(("nihongo", "abbr")) else plain[-1]
    if name.lower() in ("convert", "cvt") and len(plain) >= 2:
        return f"{plain[0]} {plain[1]}"
    return ""


def _without_closing(body: str) -> str:
    """Leave out headings, and the sections at the end that are no text."""
    places = [*_SECTION.finditer(body)]
    kept, level = [body[: places[0].start()] if places else body], 0
    for place, after in zip(places, [*places[1:], None], strict=False):
        depth = len(place[1])
        if level and depth > level:
            continue
        level = depth if re.fullmatch(_CLOSING, place[2], re.I) else 0
        if not level:
            kept.append(body[place.end() : after.start() if after else None])
    return "\n".join(kept)


def _paragraphs(body: str) -> Iterable[str]:
    """Yield the paragraphs of a page up to the closing sections."""
    for line in body.split("\n"):
        if re.fullmatch(_CLOSING, line.strip(), re.I):
            break
        if len(line.split()) >= 10 and re.search(r"[.!?:][\"')\]]?\s*$|\"\s*$", line) and _is_prose(line):
            yield _tidy(line)


def _is_prose(line: str) -> bool:
    return len(line.split()) >= 6 and not _NO_TEXT.match(line)


def _tidy(line: str) -> str:
    """Leave out what removed templates, references and pronunciations left.

    >>> _tidy("Bern (/bɜːrn/; French: ; ) is a city , in Bern ( ).")
    'Bern (bɜːrn/; French:) is a city, in Bern.'
    """
    line = re.sub(r"\s+", " ", line.replace("&nbsp;", " ").replace("&ndash;", "–"))
    line = re.sub(r"\(\s*[/,;]+\s*", "(", line)
    line = re.sub(r"(?:\s*[,;])+\s*\)", ")", _EMPTY.sub("", line))
    return re.sub(r"\s+([,.;:)])", r"\1", line).replace("( ", "(").strip()
