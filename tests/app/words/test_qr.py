"""A QR code is drawn as it was made: every dark module, and the quiet zone around them."""

import re

import segno

from app.words.qr import qr


def test_every_module_is_drawn_where_it_is_and_the_address_is_escaped() -> None:
    text = "http://192.168.1.20:8501/class/ACDEFG?<b>"
    drawn = str(qr(text))
    dark = {(int(x), int(y)) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", drawn)}
    rows = [list(row) for row in segno.make(text, micro=False).matrix]
    made = {(x + 4, y + 4) for y, row in enumerate(rows) for x, each in enumerate(row) if each}
    assert dark == made and len(made) > 200
    size = len(rows) + 8
    assert f'viewBox="0 0 {size} {size}"' in drawn and "&lt;b&gt;" in drawn and "<b>" not in drawn
