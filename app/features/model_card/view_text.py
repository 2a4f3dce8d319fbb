"""A model card's own text: Markdown that a stranger may have written, drawn without trusting it.

`markdown-it-py` reads it; what it finds is drawn here with `tag`, kind by kind, and what has no
kind below is not drawn. Markup of HTML stays visible as it was typed; pictures and links become
words with their address, so that showing a card asks for nothing from anywhere, and there is
nothing on it to click.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.words.blocks import record_table
from app.words.html import Html, join, tag, visible

_MOST_SECTIONS = 24


class _Reader(MarkdownIt):
    """CommonMark with tables and without HTML; addresses stay as they were typed."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable("table")

    def validateLink(self, url: str) -> bool:
        """Take every address for one: it is shown, and never followed."""
        return True

    def normalizeLink(self, url: str) -> str:
        """Leave an address as it is."""
        return url


_READER = _Reader()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a card.

    Attributes:
        title: its heading, as plain text; "" for what stands before the first one.
        blocks: what stands below it.
    """

    title: str
    blocks: tuple[SyntaxTreeNode, ...]


def sections(text: str) -> tuple[Section, ...]:
    r"""Cut a card at its headings of the second level; empty parts are left out.

    A card of very many parts is cut into fewer: the last one holds all the rest.

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
    """Draw what stands in a part of a card."""
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


def _text(node: SyntaxTreeNode) -> Html:
    return join(visible(node.content))


def _paragraph(node: SyntaxTreeNode) -> Html:
    """Draw a paragraph; in a list without empty lines it is the item itself."""
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
    # Of many columns, it is wider than a window; who has no mouse moves it with the arrow keys.
    table = record_table("A table of the card", columns, rows)
    return tag("div", table, class_="bx-card-wide", tabindex=0, role="group", aria_label="Table")


def _picture(node: SyntaxTreeNode) -> Html:
    alt = _words(node) or "without a description"
    return tag("em", f"[a picture, not loaded: {alt}]")


def _link(node: SyntaxTreeNode) -> Html:
    """Draw the words of a link, and its address where that is not what they say."""
    goal = visible(str(node.attrs.get("href", "")))
    if node.info == "auto":
        return tag("code", goal)
    address = join(" (", tag("code", goal), ")") if goal else join()
    return join(_inside(node), address)


_DRAWS: dict[str, Callable[[SyntaxTreeNode], Html]] = {
    "inline": _inside,
    "text": _text,
    "softbreak": lambda _: join(" "),
    "hardbreak": lambda _: tag("br"),
    "code_inline": lambda node: tag("code", visible(node.content)),
    "em": lambda node: tag("em", _inside(node)),
    "strong": lambda node: tag("strong", _inside(node)),
    "image": _picture,
    "link": _link,
    "paragraph": _paragraph,
    "heading": lambda node: tag("h3", _inside(node)),
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
