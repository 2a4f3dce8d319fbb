"""The page that opens offline."""

from datetime import date
from pathlib import Path

import pytest

from app.catalog import feature
from app.engine.models import Engine
from app.faces import ask
from app.faces.paper.page import Asked, page
from app.faces.streamlit import components
from app.words.html import tag
from app.words.screen import Report


def test_the_page_has_result_model_caution_and_script(tiny_engine: Engine) -> None:
    row = feature("fill_mask")
    report = Report("A <headline>.", (tag("p", "the <result>"),), first=(tag("p", "not read"),))
    written = page(row, tiny_engine.provenance, report, ("A <notice>.",)).decode()
    body = written.partition("<main>")[2]
    order = (f"<h1>{row.title}</h1>", "A &lt;notice&gt;.", "not read", "A &lt;headline&gt;.",
             "the &lt;result&gt;", row.beware, tiny_engine.provenance.fingerprint)  # fmt: skip
    assert sorted(order, key=body.index) == list(order)
    assert written.count("<script") == 1 and components.script("bridge") in written


@pytest.mark.parametrize(
    ("link", "drawn"),
    [
        ("https://bert.example/fill_mask?text=a+%5BMASK%5D", '<a href="https://bert.example'),
        ("http://127.0.0.1:8501/fill_mask?text=a", " from http://127.0.0.1:8501/fill_mask?text=a<"),
        ("https://bert.example:8443/qa", " from https://bert.example:8443/qa<"),
        ("", f"{date.today():%B %Y}</p>"),
    ],
)
def test_the_page_names_the_texts_the_day_and_the_address(
    tiny_model: Path, link: str, drawn: str
) -> None:
    answer = ask("fill_mask", "the <b> [MASK] sat")
    asked = Asked({"Text": "the <b> [MASK] sat", "Long": "x" * 5_000}, link)
    found = page(answer.declared.feature, answer.model, answer.report, (), asked).decode()
    assert "<strong>Text: </strong><bdi>the &lt;b&gt; [MASK] sat</bdi>" in found
    assert "x" * 999 in found and "x" * 1_001 not in found
    assert f"Saved on {date.today().day} {date.today():%B %Y}" in found and drawn in found
    own = answer.html().decode()
    assert "the &lt;b&gt; [MASK] sat</bdi>" in own and "Saved on" in own
