"""A model card's own text: Markdown that a stranger may have written, drawn without trusting it.

Only what gives a text its shape is read: headings, lists, tables, code, emphasis. Markup of HTML
stays visible as it was typed; pictures and links become words with their address, so that showing
a card asks for nothing from anywhere, and there is nothing on it to click.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.words.blocks import record_table
from app.words.html import Html, join, tag, visible

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t](.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)")
_UNDER_A_HEAD = re.compile(r":?-+:?")
_DEEPEST = 3  # levels of lists that are drawn apart
_MOST_SECTIONS = 24
# Every repetition has an end, so that no text takes longer than its length deserves.
_INLINE = re.compile(
    r"(?P<code>``[^\n]{1,400}?``|`[^`\n]{1,400}`)"
    r"|(?P<picture>!\[(?P<alt>[^\[\]]{0,300})\]\((?P<source>[^()\s]{0,600})[^()\n]{0,200}\))"
    r"|(?P<link>\[(?P<words>[^\[\]]{1,300})\]\((?P<goal>[^()\s]{0,600})[^()\n]{0,200}\))"
    r"|(?P<address><https?://[^<>\s]{1,600}>)"
    r"|(?P<bold>(?P<b>\*\*|__)(?=\S)(?P<strong>[^*_\n]{1,400}?)(?<=\S)(?P=b))"
    r"|(?P<slant>(?<![\w*])(?P<i>[*_])(?=\S)(?P<em>[^*_\n]{1,400}?)(?<=\S)(?P=i)(?![\w*]))"
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a card.

    Attributes:
        title: its heading, as plain text; "" for what stands before the first one.
        lines: what stands below it.
    """

    title: str
    lines: tuple[str, ...]


def sections(text: str) -> tuple[Section, ...]:
    """Cut a card at its headings of the second level; empty parts are left out.

    A card of very many parts is cut into fewer: the last one holds all the rest.

    >>> [part.title for part in sections("A card.\\n\\n## Limits\\n\\nMany.\\n")]
    ['', 'Limits']
    """
    parts: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.splitlines():
        fence = _after(line, fence)
        heading = None if fence else _HEADING.fullmatch(line)
        if heading and len(heading[1]) == 2 and len(parts) < _MOST_SECTIONS:
            parts.append((_plain_words(_title(heading)), []))
        else:
            parts[-1][1].append(line)
    return tuple(
        Section(title, tuple(lines))
        for title, lines in parts
        if title or any(line.strip() for line in lines)
    )


def draw_section(section: Section) -> Html:
    """Draw what stands in a part of a card."""
    return tag("div", *_blocks(list(section.lines)), class_="bx-card-text")


def _after(line: str, fence: str) -> str:
    """Return the sign of the code block that is open after a line; "" for none."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    closes = found[1][0] == fence[0] and len(found[1]) >= len(fence)
    return "" if closes and not line.strip().strip(fence[0]) else fence


def _blocks(lines: list[str]) -> Iterator[Html]:
    """Draw lines block by block."""
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        for reads, draws in _KINDS:
            length = reads(lines, at)
            if length:
                yield draws(lines[at : at + length])
                at += length
                break


def _fenced(lines: Sequence[str], at: int) -> int:
    """Count the lines of a code block between fences; one that never closes ends the text."""
    fence = _after(lines[at], "")
    if not fence:
        return 0
    for end in range(at + 1, len(lines)):
        if not _after(lines[end], fence):
            return end - at + 1
    return len(lines) - at


def _indented(lines: Sequence[str], at: int) -> int:
    """Count the lines of a code block that is set in by four spaces."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(("    ", "\t"))):
        end += 1
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end - at


def _headed(lines: Sequence[str], at: int) -> int:
    """Count the lines of a heading: one."""
    return 1 if _HEADING.fullmatch(lines[at]) else 0


def _ruled(lines: Sequence[str], at: int) -> int:
    """Count the lines of a rule across the page: one."""
    signs = "".join(lines[at].split())
    return 1 if len(signs) >= 3 and signs[0] in "-*_" and set(signs) == {signs[0]} else 0


def _tabular(lines: Sequence[str], at: int) -> int:
    """Count the lines of a table."""
    if "|" not in lines[at] or at + 1 == len(lines) or "|" not in lines[at + 1]:
        return 0
    if not all(_UNDER_A_HEAD.fullmatch(cell) for cell in _cells(lines[at + 1]) or [""]):
        return 0
    end = at + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end - at


def _listed(lines: Sequence[str], at: int) -> int:
    """Count the lines of a list: items, and lines that carry them on."""
    if not _ITEM.fullmatch(lines[at]):
        return 0
    end = at + 1
    while end < len(lines):
        goes_on = _ITEM.fullmatch(lines[end]) or (lines[end].strip() and not _starts(lines, end))
        if not goes_on and not _is_gap_in_list(lines, end):
            break
        end += 1
    return end - at


def _is_gap_in_list(lines: Sequence[str], at: int) -> bool:
    """Tell an empty line between two items from one that ends the list."""
    is_last = at + 1 == len(lines)
    return not lines[at].strip() and not is_last and bool(_ITEM.fullmatch(lines[at + 1]))


def _starts(lines: Sequence[str], at: int) -> bool:
    """Tell whether something else than a paragraph begins at a line that is not set in."""
    readers = (_fenced, _headed, _ruled, _tabular)
    return any(reads(lines, at) for reads in readers) or lines[at].lstrip().startswith(">")


def _paragraph(lines: Sequence[str], at: int) -> int:
    """Count the lines of a paragraph: at least one."""
    end = at + 1
    while end < len(lines) and lines[end].strip():
        if _starts(lines, end) or _ITEM.fullmatch(lines[end]):
            break
        end += 1
    return end - at


def _quoted(lines: Sequence[str], at: int) -> int:
    """Count the lines of a quotation."""
    end = at
    while end < len(lines) and lines[end].lstrip().startswith(">"):
        end += 1
    return end - at


def _draw_fenced(lines: Sequence[str]) -> Html:
    closed = len(lines) > 1 and not _after(lines[-1], _after(lines[0], ""))
    return _code(lines[1:-1] if closed else lines[1:])


def _draw_indented(lines: Sequence[str]) -> Html:
    return _code([line.removeprefix("\t").removeprefix("    ") for line in lines])


def _code(lines: Sequence[str]) -> Html:
    return tag("div", tag("code", visible("\n".join(lines))), class_="bx-card-code", tabindex=0)


def _draw_heading(lines: Sequence[str]) -> Html:
    found = _HEADING.fullmatch(lines[0])
    return tag("h3", inline(_title(found) if found else lines[0]))


def _title(heading: re.Match[str]) -> str:
    """Return the words of a heading without the signs around them."""
    return heading[2].strip().rstrip("#").strip()


def _draw_rule(_: Sequence[str]) -> Html:
    return tag("hr")


def _draw_table(lines: Sequence[str]) -> Html:
    columns = [_unmarked(cell) for cell in _cells(lines[0])]
    rows = [_filled(_cells(line), len(columns)) for line in lines[2:]]
    # Of many columns, it is wider than a window; who has no mouse moves it with the arrow keys.
    table = record_table("A table of the card", columns, rows)
    return tag("div", table, class_="bx-card-wide", tabindex=0, role="group", aria_label="Table")


def _filled(cells: list[str], width: int) -> list[Html]:
    """Draw the cells of a row: as many as there are heads, the last one with all that is over."""
    drawn = [inline(cell) for cell in cells]
    drawn += [join()] * (width - len(drawn))
    return [*drawn[: width - 1], join(*drawn[width - 1 :], by=" | ")]


def _cells(line: str) -> list[str]:
    r"""Cut a row of a table into its cells; `\|` is no border.

    >>> _cells("| a | b \\| c |")
    ['a', 'b \\| c']
    """
    inner = line.strip().removeprefix("|")
    cells = re.split(r"(?<!\\)\|", inner)
    return [cell.strip() for cell in (cells[:-1] if not cells[-1].strip() else cells)]


def _draw_list(lines: Sequence[str]) -> Html:
    items: list[tuple[int, str, list[str]]] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        if found:
            depth = len(found[1].expandtabs(4)) // 2
            items.append((min(depth, _DEEPEST), found[2], [found[3]]))
        elif line.strip():
            items[-1][2].append(line.strip())
    drawn = [
        tag(
            "li",
            "" if sign in "-*+" else f"{sign} ",
            inline(" ".join(words)),
            class_=f"bx-card-in{depth}" if sign in "-*+" else f"bx-card-in{depth} bx-card-number",
        )
        for depth, sign, words in items
    ]
    return tag("ul", *drawn)


def _draw_quote(lines: Sequence[str]) -> Html:
    words = [line.lstrip().removeprefix(">").strip() for line in lines]
    return tag("p", inline(" ".join(words)), class_="bx-card-quote")


def _draw_paragraph(lines: Sequence[str]) -> Html:
    return tag("p", inline(" ".join(line.strip() for line in lines)))


_KINDS: tuple[tuple[Callable[[Sequence[str], int], int], Callable[[Sequence[str]], Html]], ...] = (
    (_fenced, _draw_fenced),
    (_headed, _draw_heading),
    (_ruled, _draw_rule),
    (_tabular, _draw_table),
    (_listed, _draw_list),
    (_quoted, _draw_quote),
    (_indented, _draw_indented),
    (_paragraph, _draw_paragraph),
)


def inline(text: str) -> Html:
    """Draw a stretch of running text.

    >>> str(inline("a *b* [c](https://d.example)"))
    'a <em>b</em> c (<code>https://d.example</code>)'
    """
    parts: list[Html | str] = []
    at = 0
    for found in _INLINE.finditer(text):
        parts += [visible(text[at : found.start()]), _piece(found)]
        at = found.end()
    return join(*parts, visible(text[at:]))


def _piece(found: re.Match[str]) -> Html:
    """Draw one stretch that is more than words."""
    kind = found.lastgroup
    if found["code"]:
        return tag("code", visible(found["code"].strip("`").strip()))
    if found["picture"]:
        words = f"[a picture, not loaded: {visible(found['alt']) or 'without a description'}]"
        return tag("em", words)
    if found["link"]:
        words, goal = found["words"], found["goal"]
        address = join(" (", tag("code", visible(goal)), ")") if goal not in ("", words) else ""
        return join(inline_words(words), address)
    if found["address"]:
        return tag("code", visible(found["address"].strip("<>")))
    if found["bold"]:
        return tag("strong", inline_words(found["strong"]))
    if found["slant"]:
        return tag("em", inline_words(found["em"]))
    assert kind == "escape"
    return join(found["escape"][1:])


def inline_words(text: str) -> Html:
    """Draw words inside something else: code is still code, the rest is only words."""
    parts = re.split(r"`([^`\n]{1,400})`", text)
    return join(
        *(tag("code", visible(part)) if at % 2 else visible(part) for at, part in enumerate(parts))
    )


def _plain_words(text: str) -> str:
    """Take the signs out of a heading that is shown where no markup can be."""
    return _unmarked(text) or "Without a title"


def _unmarked(text: str) -> str:
    return visible(re.sub(r"[*_`]", "", text)).strip()
