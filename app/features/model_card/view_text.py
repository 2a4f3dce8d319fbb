"""The text of a model card: Markdown, treated as untrusted input.

`markdown-it-py` parses it, and each supported kind of node is drawn here with `tag`; other kinds
are not drawn. HTML markup stays visible as typed. Images and links become text with their
address, so a card loads nothing from elsewhere and contains nothing to click.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.words.blocks import record_table
from app.words.html import Html, join, tag, visible

_MOST_SECTIONS = 24


class _Reader(MarkdownIt):
    """CommonMark with tables and without HTML; addresses stay as typed."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table")

    def validateLink(self, url: str) -> bool:
        """Accept every address, because addresses are shown but never followed."""
        return True

    def normalizeLink(self, url: str) -> str:
        """Return the address unchanged."""
        return url


_READER = _Reader()


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a card."""

    title: Annotated[str, 'the heading as plain text; "" for the text before the first heading']
    blocks: Annotated[tuple[SyntaxTreeNode, ...], "the content below the heading"]


def sections(text: str) -> tuple[Section, ...]:
    r"""Split a card at its second-level headings, leaving out empty sections.

    The number of sections is limited: in a card with very many, the last one holds the rest.

    >>> [part.title for part in sections("A card.\n\n## Limits\n\nMany.\n")]
    ['', 'Limits']
    """
    parts: list[tuple[str, list[SyntaxTreeNode]]] = [("", [])]
    for block in SyntaxTreeNode(_READER.parse(text)).children:
        if block.tag == "h2" and len(parts) < _MOST_SECTIONS:
            parts.append((_words(block).strip() or "Without a title", []))
        else:
            parts[-1][1].append(block)
    return tuple(Section(title, tuple(blocks)) for title, blocks in parts if title or blocks)


def draw_section(section: Section) -> Html:
    """Draw the content of a section."""
    return tag("div", _draw_all(section.blocks), class_="bx-card-text")


def _draw_all(nodes: Sequence[SyntaxTreeNode]) -> Html:
    return join(*(_DRAWS[node.type](node) for node in nodes if node.type in _DRAWS))


def _inside(node: SyntaxTreeNode) -> Html:
    return _draw_all(node.children)


def _words(node: SyntaxTreeNode) -> str:
    """Return the words of a node without any markup."""
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    return "".join(map(_words, node.children)) if node.children else visible(node.content)


def _paragraph(node: SyntaxTreeNode) -> Html:
    """Draw a paragraph; in a list without blank lines it is the item itself."""
    return _inside(node) if node.hidden else tag("p", _inside(node))


def _code(node: SyntaxTreeNode) -> Html:
    code = tag("code", visible(node.content.rstrip("\n")))
    return tag("div", code, class_="bx-card-code", tabindex=0)


def _list(node: SyntaxTreeNode) -> Html:
    start = node.attrs.get("start")
    return tag("ul" if node.type == "bullet_list" else "ol", _inside(node), start=start)


def _table(node: SyntaxTreeNode) -> Html:
    head, *body = node.children
    columns = [_words(cell).strip() for cell in head.children[0].children]
    rows = [[_inside(cell) for cell in row.children] for part in body for row in part.children]
    # A table with many columns is wider than the window; the arrow keys scroll it without a mouse.
    table = record_table("A table of the card", columns, rows)
    return tag("div", table, class_="bx-card-wide", tabindex=0, role="group", aria_label="Table")


def _picture(node: SyntaxTreeNode) -> Html:
    alt = _words(node) or "without a description"
    return tag("em", f"[a picture, not loaded: {alt}]")


def _link(node: SyntaxTreeNode) -> Html:
    """Draw the text of a link, followed by its address if the two differ."""
    goal = visible(str(node.attrs.get("href", "")))
    if node.info == "auto":
        return tag("code", goal)
    address = join(" (", tag("code", goal), ")") if goal else join()
    return join(_inside(node), address)


_DRAWS: dict[str, Callable[[SyntaxTreeNode], Html]] = {
    "inline": _inside,
    "text": lambda node: join(visible(node.content)),
    "softbreak": lambda _: join(" "),
    "hardbreak": lambda _: tag("br"),
    "code_inline": lambda node: tag("code", visible(node.content)),
    "em": lambda node: tag("em", _inside(node)),
    "strong": lambda node: tag("strong", _inside(node)),
    "image": _picture,
    "link": _link,
    "paragraph": _paragraph,
    "heading": lambda node: tag("h2", _inside(node), class_="bx-card-title"),
    "hr": lambda _: tag("hr"),
    "fence": _code,
    "code_block": _code,
    "bullet_list": _list,
    "ordered_list": _list,
    "list_item": lambda node: tag("li", _inside(node)),
    "blockquote": lambda node: tag("div", _inside(node), class_="bx-card-quote"),
    "table": _table,
}
"""How each kind of node is drawn; a kind that is not here draws nothing."""
