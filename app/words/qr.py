"""A QR code as a drawing."""

import segno

from app.words.html import Html, tag

_QUIET = 4  # modules around the code, as the standard wants


def qr(text: str) -> Html:
    """Draw the QR code of an address: dark on white in every theme, as cameras expect."""
    rows = [list(row) for row in segno.make(text, micro=False).matrix_iter(border=_QUIET)]
    dark = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, each in enumerate(row) if each
    )
    size = len(rows)
    return tag(
        "svg",
        tag("rect", width=size, height=size, fill="#fff"),
        tag("path", d=dark, fill="#000"),
        view_box=f"0 0 {size} {size}", role="img", aria_label=f"QR code of {text}",
        shape_rendering="crispEdges", class_="bx-qr",
    )  # fmt: skip
