"""A model card's text: what is drawn, and what can never be."""

import re

import pytest

from app.features.model_card.view_text import Section, draw_section, sections

MARKUP = re.compile(r"</?(\w+)")
ALLOWED = {
    "div", "p", "h2", "hr", "ul", "ol", "li", "code", "em", "strong",
    "table", "thead", "tbody", "tr", "th", "td", "span",
}  # fmt: skip


def drawn(text: str) -> str:
    return "".join(str(draw_section(part)) for part in sections(text))


def test_a_card_is_cut_at_its_headings() -> None:
    card = "# Name\nA model.\n\n## Data *here*\n\nBooks.\n## Limits\n- many\n"
    assert [part.title for part in sections(card)] == ["", "Data here", "Limits"]
    assert sections("\n \n") == ()
    assert sections("## \n")[0].title == "Without a title"


def test_a_heading_inside_a_code_block_is_code() -> None:
    card = "```\n## no heading\n~~~\n```\n## heading\n"
    assert [part.title for part in sections(card)] == ["", "heading"]
    assert "## no heading\n~~~" in drawn(card)


def test_a_card_of_many_parts_is_cut_into_fewer_and_nothing_is_lost() -> None:
    card = "\n".join(f"## part {number}\nwords {number}" for number in range(300))
    parts = sections(card)
    assert len(parts) == 23
    text = drawn(card)
    assert all(f"words {number}<" in text for number in range(300))
    assert "part 299" in str(draw_section(parts[-1]))


def test_a_table_becomes_a_table_whose_rows_have_as_many_cells_as_its_head() -> None:
    text = drawn("| a | `b` |\n|---|--:|\n| 1 \\| 2 | **3** | left over |\n| 4 |\n\nafter")
    assert text.count("<tr") == 3
    assert 'data-label="b"><span><strong>3</strong></span>' in text
    assert 'data-label="b"><span></span>' in text
    assert "1 | 2" in text and "left over" not in text  # as on the Hub
    assert "<p>after</p>" in text


@pytest.mark.parametrize("text", ["a | b", "a | b\nc | d", "a\n---", "a | b\n|", "| a\nb-"])
def test_what_only_looks_like_a_table_is_none(text: str) -> None:
    assert "<table" not in drawn(text)


def test_lists_keep_their_depth_and_their_numbers() -> None:
    text = drawn("- one\n  carried on\n  - deep\n\n- two\n\nafter\n\n3) third")
    assert "one carried on" in text
    assert "<ul><li><p>one carried on</p><ul><li>deep</li></ul></li>" in text
    assert '<ol start="3"><li>third</li></ol>' in text
    assert text.count("<ul") == 2 and "<p>after</p>" in text


def test_code_keeps_its_lines_and_its_signs() -> None:
    text = drawn("words\n\n    x = a < b\n\n    y = *z*\n\nmore\n\n```python\nunclosed **b**\n")
    assert "x = a &lt; b\n\ny = *z*" in text
    assert "unclosed **b**" in text and "<strong" not in text


def test_running_text_has_emphasis_and_code() -> None:
    assert "<p><strong>a</strong> <em>b</em> <code>c*d*</code> snake_case_name *e*</p>" in drawn(
        "**a** _b_ `c*d*` snake_case_name \\*e\\*"
    )
    assert "<p><code>a ` b</code></p>" in drawn("``a ` b``")


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://elsewhere.example/x.png)",
        "[![badge](https://a.example/b.svg)](https://a.example)",
        "[click](javascript:alert(1))",
        "<https://elsewhere.example>",
        "[x]: https://elsewhere.example",
        '<img src="https://elsewhere.example/x.png">',
        "<script>alert(1)</script>",
        "<a href='https://elsewhere.example' onclick='x'>y</a>",
        "| <img src=x> |\n|---|\n| ![a](//b.example/c) |",
        "## ![x](http://elsewhere.example/x.png)\n",
        "> <iframe src=x>\n> ![x](y)",
        "```\n</code></div><script>\n```",
        "&lt;script&gt;",
        "a\x00b\u202ec",
    ],
)
def test_nothing_on_a_card_can_be_fetched_clicked_or_run(text: str) -> None:
    found = drawn(f"{text}\n\nend")
    assert set(MARKUP.findall(found)) <= ALLOWED
    assert not re.search(r"<[^>]*\s(href|src|on\w+)=", found)
    assert "\x00" not in found and "\u202e" not in found
    assert "<p>end</p>" in found


def test_a_picture_becomes_its_description_and_a_link_its_address() -> None:
    assert "[a picture, not loaded: a cat]" in drawn("![a cat](http://a.example/cat.png)")
    assert "not loaded: without a description" in drawn("![](cat.png)")
    text = drawn("see [the paper](https://a.example/p?q=1&r=2 'title')")
    assert "the paper (<code>https://a.example/p?q=1&amp;r=2</code>)" in text


LONG = 20_000
HARD = [
    "[" * LONG, "*" * LONG, "`" * LONG, "_a " * LONG, "![a" * LONG, "[a](b" * LONG, "> " * LONG,
    "- " * LONG, "## " + " " * LONG + "x", "a|b\n" + " " * LONG + "x|-", "|" * LONG + "\n|-",
    "- a\n" * LONG, "```\n" * LONG, "    \n" * LONG + "x", "**a" * LONG, "``a" * LONG, "#" * LONG,
    "\\" * LONG, "<https://" * LONG, "a\n" * LONG,
]  # fmt: skip


@pytest.mark.parametrize("text", HARD, ids=lambda text: repr(text[:6]))
def test_texts_made_to_take_forever_are_drawn(text: str) -> None:
    """With a pattern that tries everything, each of these would run for minutes."""
    assert drawn(text).startswith("<div")


def test_an_empty_section_is_drawn_empty() -> None:
    assert str(draw_section(Section("x", ()))) == '<div class="bx-card-text"></div>'
