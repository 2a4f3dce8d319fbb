"""Markup: what a visitor typed never becomes any."""

import ast
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from app.settings import ASSETS, ROOT
from app.words.html import Html, document, join, plain, stylesheet, tag, visible
from app.words.pictures import svg

HOSTILE = [
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onfocus='x",
    "</p><img src=x onerror=alert(1)>",
    "<!--",
    "&lt;b&gt;",
    "a\x00b",
]


class Seen(HTMLParser):
    """What a browser would make of some markup."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_a_text(text: str) -> None:
    seen = Seen(str(tag("p", text, title=text)))
    assert seen.tags == ["p"]
    assert seen.attributes == [("title", text)]
    assert seen.text == text


def test_markup_inside_markup_is_kept_and_texts_beside_it_are_escaped() -> None:
    assert str(join("<", tag("b", "x"), ">")) == "&lt;<b>x</b>&gt;"
    assert str(tag("p", tag("em", "a & b"))) == "<p><em>a &amp; b</em></p>"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_in_a_drawing_stays_a_text(text: str) -> None:
    shown = visible(text)
    drawing = svg(100, 50, tag("title", shown), tag("text", shown, x=1, data_at=text))
    if shown == text:  # XML has no character without a shape; the pictures show signs for them
        root = ElementTree.fromstring(str(drawing))  # noqa: S314 - what we wrote ourselves
        names = [element.tag.rpartition("}")[2] for element in root.iter()]
        assert names == ["svg", "title", "text"]
        assert [element.text for element in root] == [shown, shown]
        assert root[1].get("data-at") == text
    seen = Seen(str(drawing))
    assert seen.tags == ["svg", "title", "text"]
    assert [value for key, value in seen.attributes if key.startswith("on")] == []


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("view_box", "viewBox"),
        ("preserve_aspect_ratio", "preserveAspectRatio"),
        ("pattern_units", "patternUnits"),
        ("stroke_width", "stroke-width"),
        ("data_at", "data-at"),
        ("class_", "class"),
    ],
)
def test_attributes_of_drawings_are_written_as_svg_has_them(given: str, written: str) -> None:
    assert str(tag("rect", **{given: "1"})) == f'<rect {written}="1"></rect>'


@pytest.mark.parametrize("name", ["circle", "defs", "g", "line", "path", "pattern", "polyline"])
def test_shapes_are_closed_so_that_html_and_xml_read_them_alike(name: str) -> None:
    assert str(tag(name)) == f"<{name}></{name}>"


@pytest.mark.parametrize(
    "name", ["script", "iframe", "object", "style", "foreignObject", "use", "animate", "P"]
)
def test_elements_that_the_site_does_not_use_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not an element"):
        tag(name)


@pytest.mark.parametrize(
    "source",
    ["https://a.example/x.png", "x.png", "data:text/html;base64,aa", "data:image/svg+xml,<svg/>"],
)
def test_pictures_that_would_have_to_be_fetched_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="would have to be fetched"):
        tag("img", src=source, alt="")
    with pytest.raises(ValueError, match="would have to be fetched"):
        tag("img", srcset=source, alt="")
    own = tag("img", src="data:image/svg+xml;base64,PHN2Zy8+", alt="<")
    assert str(own) == '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="&lt;">'


@pytest.mark.parametrize("key", ["onclick", "onerror", 'x"y', "x y"])
def test_attributes_that_run_code_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="not an attribute"):
        tag("p", **{key: "x"})


@pytest.mark.parametrize("link", ["javascript:alert(1)", "http://a.example", "data:text/html,x"])
def test_links_that_lead_astray_are_refused(link: str) -> None:
    with pytest.raises(ValueError, match="a link leads"):
        tag("a", "x", href=link)


def test_invisible_characters_get_a_sign_and_joiners_stay() -> None:
    assert visible("a\x07\u202eb\n") == "a␇[U+202E]b\n"
    assert visible("👩\u200d🚀") == "👩\u200d🚀"


def test_markdown_of_a_text_is_inert() -> None:
    shown = plain("![x](http://a.example/x.png) **b** :red[x] <b> $x$ `c`\n# h")
    assert re.search(r"(?<!\\)[`*_\[\]<>$:!#|]", shown) is None
    assert "\n" not in shown
    assert "://" not in shown
    assert "www." not in plain("WWW.a.example www.b.example")
    assert plain("a@b.example") == "a\u2060@b.example"


def test_a_style_sheet_may_not_close_its_element() -> None:
    with pytest.raises(ValueError, match="style sheet"):
        stylesheet("p { } </style><script>")
    css = (ASSETS / "site.css").read_text(encoding="utf-8")
    assert str(stylesheet(css)).count("<") == 2


def test_the_style_sheet_fetches_nothing() -> None:
    css = (ASSETS / "site.css").read_text(encoding="utf-8")
    assert "url(" not in css
    assert "@import" not in css


def _sources() -> dict[str, ast.Module]:
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    return {f.relative_to(ROOT).as_posix(): ast.parse(f.read_text(encoding="utf-8")) for f in files}


def test_markup_is_written_in_one_module_only() -> None:
    # The name of a group in a pattern, "(?P<name>", is none.
    looks_like_a_tag = re.compile(r"(?<!\(\?P)</?[a-zA-Z][a-zA-Z0-9]*(\s[^<>]*)?/?>")
    found = [
        f"{name}:{node.lineno} {node.value[:40]!r}"
        for name, tree in _sources().items()
        if name != "app/words/html.py"
        for node in _strings_outside_docstrings(tree)
        if looks_like_a_tag.search(str(node.value))
    ]
    assert found == []


def test_no_other_module_makes_html_or_allows_it_in_markdown() -> None:
    calls, keywords = [], []
    for name, tree in _sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == Html.__name__:
                calls.append(name)
            if isinstance(node, ast.keyword) and str(node.arg).startswith("unsafe_allow"):
                keywords.append(name)
    assert set(calls) == {"app/words/html.py"}
    assert keywords == []


def _strings_outside_docstrings(tree: ast.Module) -> list[ast.Constant]:
    """Every string of a module that is not a statement of its own."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in statements
    ]


def test_a_page_of_its_own_escapes_its_title_and_asks_for_nothing() -> None:
    page = document("</title><script>", "p { margin: 0 }", tag("p", "a < b"), tag("p", "c"))
    seen = Seen(page.decode())
    heads = ["html", "head", "meta", "meta", "meta", "title", "style"]
    assert seen.tags == [*heads, "body", "main", "p", "p"]
    assert "a < b" in seen.text
    assert ("http-equiv", "Content-Security-Policy") in seen.attributes
    assert any(value and value.startswith("default-src 'none'") for _, value in seen.attributes)
    for css in ("p { background: url(x.png) }", '@import "x.css";', "</style>"):
        with pytest.raises(ValueError):
            document("x", css)


@pytest.mark.parametrize("script", ["x</script>", "x</SCRIPT >", "<!-- x"])
def test_a_script_may_not_end_its_element(script: str) -> None:
    with pytest.raises(ValueError, match="end of its element"):
        document("x", "", script=script)
    page = document("x", "", tag("p", "y"), script="let a = 1 < 2;").decode()
    assert page.count('<script type="module">let a = 1 < 2;</script></body>') == 1


def test_a_picture_inside_a_drawing_has_its_pixels_with_it() -> None:
    own = "data:image/png;base64,iVBORw0KGgo="
    assert f'href="{own}"' in str(tag("image", href=own, preserve_aspect_ratio="none"))
    for address in ("https://example.org/x.png", "x.png", "data:image/svg+xml;base64,AA=="):
        with pytest.raises(ValueError, match="neither into this site"):
            tag("image", href=address)
    with pytest.raises(ValueError, match="neither into this site"):
        tag("a", "x", href=own)
