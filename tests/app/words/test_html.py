"""Markup: what a visitor typed never becomes any."""

import ast
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from app.settings import ASSETS, ROOT
from app.words.html import document, join, plain, stylesheet, tag, visible
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


def test_drawings_are_written_so_that_html_and_xml_read_them_alike() -> None:
    written = {
        "view_box": "viewBox", "preserve_aspect_ratio": "preserveAspectRatio",
        "stroke_width": "stroke-width", "data_at": "data-at", "class_": "class",
    }  # fmt: skip
    for given, name in written.items():
        assert str(tag("rect", **{given: "1"})) == f'<rect {name}="1"></rect>'


@pytest.mark.parametrize(
    ("name", "attributes", "says"),
    [
        *((name, {}, "not an element") for name in ("script", "iframe", "style", "use", "P")),
        *(("img", {key: source}, "would have to be fetched")
          for key in ("src", "srcset")
          for source in ("https://a.example/x.png", "x.png", "data:text/html;base64,aa",
                         "data:image/svg+xml,<svg/>")),
        *(("p", {key: "x"}, "not an attribute") for key in ("onclick", "onerror", 'x"y', "x y")),
        *(("a", {"href": link}, "a link leads neither into this site")
          for link in ("javascript:alert(1)", "http://a.example", "data:text/html,x",
                       "data:image/png;base64,iVBORw0KGgo=")),
        ("image", {"href": "data:image/svg+xml;base64,AA=="}, "neither into this site"),
    ],
)  # fmt: skip
def test_what_runs_leads_astray_or_would_be_fetched_is_refused(
    name: str, attributes: dict[str, str], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        tag(name, **attributes)


def test_a_picture_has_its_pixels_with_it() -> None:
    own = tag("img", src="data:image/svg+xml;base64,PHN2Zy8+", alt="<")
    assert str(own) == '<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="&lt;">'
    assert 'href="data:image/png;base64,iVBO="' in str(
        tag("image", href="data:image/png;base64,iVBO=")
    )


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


def test_the_style_sheet_fetches_nothing_and_may_not_close_its_element() -> None:
    with pytest.raises(ValueError, match="style sheet"):
        stylesheet("p { } </style><script>")
    css = (ASSETS / "site.css").read_text(encoding="utf-8")
    assert str(stylesheet(css)).count("<") == 2
    assert "url(" not in css and "@import" not in css


def test_one_module_writes_markup_and_none_allows_it_in_markdown() -> None:
    # The name of a group in a pattern, "(?P<name>", is none.
    a_tag = re.compile(r"(?<!\(\?P)</?[a-zA-Z][a-zA-Z0-9]*(\s[^<>]*)?/?>")
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    sources = {each: each.read_text(encoding="utf-8") for each in files}
    del sources[ROOT / "app" / "words" / "html.py"]
    written = [
        f"{path}:{node.lineno} {node.value[:40]!r}"
        for path, source in sources.items()
        if a_tag.search(source)
        for node in _strings_outside_docstrings(ast.parse(source))
        if a_tag.search(str(node.value))
    ]
    assert written == []
    for path, source in sources.items():
        assert not re.search(r"(?<!case )\bHtml\(|\bunsafe_allow", source), path


def _strings_outside_docstrings(tree: ast.Module) -> list[ast.Constant]:
    """Every string of a module that is not a statement of its own."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [each for each in strings if isinstance(each.value, str) and id(each) not in statements]


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
