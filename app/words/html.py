"""The one module that writes markup.

Everything else builds pages from `tag`, which escapes every text and every attribute it is
given; no other module may write an angle bracket or construct `Html`. Visitor input therefore
cannot become markup. `plain` does the same for Markdown.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from html import escape

import regex

_TAGS = frozenset(
    {"a", "b", "bdi", "br", "button", "caption", "code", "details", "div", "em", "figcaption"}
    | {"figure", "footer", "h1", "h2", "h3", "header", "hr", "i", "img", "label", "li", "mark"}
    | {"nav", "ol", "p", "q", "section", "small", "span", "strong", "sub", "summary", "sup"}
    | {"table", "tbody", "td", "textarea", "th", "thead", "tr", "ul"}
    | {"circle", "defs", "g", "image", "line", "path", "pattern", "polyline", "rect", "svg", "text"}
    | {"title", "tspan"}
)
# Attributes of SVG that HTML's rule for names would write in lower case.
_CAMEL = {"view-box": "viewBox", "preserve-aspect-ratio": "preserveAspectRatio",
          "pattern-units": "patternUnits"}  # fmt: skip
_VOID = frozenset({"br", "hr", "img"})
_ADDRESSES = frozenset({"href", "src", "srcset"})
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9-]*")
# A picture is its own address: a browser draws it without asking anybody for anything.
_OWN_PICTURE = re.compile(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]*")
_OWN_PIXELS = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]*")  # of an image in an SVG
_SAFE_LINK = re.compile(r"(?:[A-Za-z0-9_./?&=%#+-]*|https://[A-Za-z0-9_./?&=%#+-]*)")
# Characters without a shape, except the joiners that hold emoji and Persian words together.
_INVISIBLE = regex.compile(r"(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
# What a page kept as a file may do: apply its own style, run its own script, draw its own pictures.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src {}; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
_LIVE = "; connect-src 'self'; worker-src 'self'; manifest-src 'self'"
_MARKDOWN = re.compile(r"([\\`*_\[\]<>$~:!#|&{}^])")

_PERCENT = re.compile(r"(?<=\d) (?=%)")  # the sign stays on the line of its number
_TYPED = frozenset({"code", "textarea"})  # what is in them is left as it is

_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Html:
    """Markup that is safe to show. Only this module makes it."""

    markup: str

    def __str__(self) -> str:
        return self.markup


def tag(name: str, *children: "Html | str", **attributes: str | int | float | None) -> Html:
    """Build one element; texts and attribute values are escaped, None leaves one out.

    A trailing underscore keeps clear of Python's own words, other underscores become hyphens.

    Raises:
        ValueError: an element or attribute that this site does not use, a link elsewhere than to
            this site or to an https address, or a picture that would have to be fetched.

    >>> str(tag("span", "a < b", class_="piece", data_id=7))
    '<span class="piece" data-id="7">a &lt; b</span>'
    >>> str(tag("p", "95 % of ", tag("code", "5 % 3")))  # a number keeps its sign; code stays
    '<p>95\xa0% of <code>5 % 3</code></p>'
    """
    if name not in _TAGS:
        raise ValueError(f"<{name}> is not an element this site uses")
    opening = f"<{name}"
    for key, value in attributes.items():
        attribute = _attribute(key)
        if attribute in _ADDRESSES:
            _check_address(name, attribute, str(value))
        if value is not None:
            opening += f' {attribute}="{escape(str(value))}"'
    if name in _VOID:
        return Html(f"{opening}>")
    inside = "".join([_markup(each, typed=name in _TYPED) for each in children])
    return Html(f"{opening}>{inside}</{name}>")


def _check_address(name: str, attribute: str, value: str) -> None:
    safe = _OWN_PIXELS if name == "image" else _SAFE_LINK
    if attribute == "href" and not safe.fullmatch(value):
        raise ValueError("a link leads neither into this site nor to an https address")
    if attribute in {"src", "srcset"} and not _OWN_PICTURE.fullmatch(value):
        raise ValueError("a picture is not part of the page, but would have to be fetched")


def _markup(child: "Html | str", *, typed: bool = False) -> str:
    if type(child) is Html:
        return child.markup
    text = escape(str(child))
    return _PERCENT.sub("\u00a0", text) if " %" in text and not typed else text


@lru_cache(1024)
def _attribute(key: str) -> str:
    """Return the name of an attribute as it is written; a picture has thousands of the same few."""
    attribute = key.rstrip("_").replace("_", "-")
    if not _ATTRIBUTE.fullmatch(attribute) or attribute.startswith("on"):
        raise ValueError(f"{attribute!r} is not an attribute this site uses")
    return _CAMEL.get(attribute, attribute)


def join(*children: "Html | str", by: str = "") -> Html:
    """Put elements and texts one after another; texts are escaped.

    >>> str(join("x", tag("b", "y"), by=" & "))
    'x &amp; <b>y</b>'
    """
    return Html(escape(by).join(map(_markup, children)))


def filled(markup: Html, place: Html, by: Html) -> Html:
    """Put something into a place that was kept in markup, each time it is there.

    >>> str(filled(tag("p", "See", tag("i")), tag("i"), Html(" it")))
    '<p>See it</p>'
    """
    return Html(markup.markup.replace(place.markup, by.markup))


def visible(text: str) -> str:
    """Give every character that has no shape of its own a sign, so that it can be seen.

    Line breaks stay, so that a text keeps its lines.

    >>> visible("a\\x00b\\u202e\\tc")
    'a␀b[U+202E]→c'
    """
    if text.isprintable():  # nearly every text; what has no shape is not printable either
        return text
    return "".join(_sign(character) for character in text)


@lru_cache(4096)
def _sign(character: str) -> str:
    code = ord(character)
    if character == "\n":
        return character
    if character == "\t":
        return "→"
    if code < 0x20:
        return chr(0x2400 + code)  # the block of control pictures
    if _INVISIBLE.match(character):
        return f"[U+{code:04X}]"
    return character


def plain(text: str) -> str:
    r"""Escape a text for Streamlit's Markdown, so that it shows as it was typed.

    Without this a text could draw a picture, and the picture's address would be fetched. Addresses
    become links even so, unless a character without width (a word joiner) breaks them.

    >>> plain("![x] *c*")
    '\\!\\[x\\] \\*c\\*'
    """
    one_line = " ".join(visible(text).split("\n"))
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub("\u2060", one_line))


def document(
    title: str,
    css: str,
    *body: Html,
    header: Html | None = None,
    script: str = "",
    manifest: str = "",
    icon: bytes = b"",
    live: bool = False,
) -> bytes:
    """Write a page of its own, to be kept as one file.

    It asks for nothing from anywhere: its policy forbids the browser to load anything; one that is
    `live`, or has the address of a `manifest`, loads modules and data of its own site. Without an
    `icon` (SVG), browsers ask a server for it, which the policy forbids.

    Raises:
        ValueError: the sheet contains markup or an address, or the script ends its own element.
    """
    if "url(" in css or "@import" in css:
        raise ValueError("the style sheet of a kept page may not ask for other files")
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        raise ValueError("a script may not contain the end of its element")
    linked = f'<link rel="manifest" href="{escape(manifest)}">' if manifest else ""
    if icon:
        drawn = b64encode(icon).decode()
        linked += f'<link rel="icon" type="image/svg+xml" href="data:image/svg+xml;base64,{drawn}">'
    # No script runs except this one, which its digest names; a live page also runs and reads what
    # its own site has.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    own = f"'sha256-{digest}'" if script else "'none'"
    policy = _POLICY.format(own)
    if live or manifest:
        policy = _POLICY.format(f"{own} 'self' 'wasm-unsafe-eval'") + _LIVE
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{linked}<title>{escape(visible(title))}</title>{stylesheet(css).markup}</head><body>"
        f"{join(header or '').markup}<main>"
    )
    module = f'<script type="module">{script}</script>' if script else ""
    return f"{head}{join(*body, by=chr(10)).markup}</main>{module}</body></html>\n".encode()


def framed(page: bytes, title: str) -> Html:
    """Show a page of its own inside another one, for notebooks.

    Its style cannot reach what is around it, and its script can do nothing but save files.
    """
    return Html(
        f'<iframe srcdoc="{escape(page.decode())}" title="{escape(title)}" '
        'sandbox="allow-scripts allow-downloads" '
        'style="width: 100%; height: 40rem; border: 0; resize: vertical"></iframe>'
    )


def stylesheet(css: str) -> Html:
    """Wrap a style sheet of ours; it must not close its own element.

    Raises:
        ValueError: the sheet contains markup.
    """
    if "<" in css:
        raise ValueError("a style sheet may not contain markup")
    return Html(f"<style>{css}</style>")
