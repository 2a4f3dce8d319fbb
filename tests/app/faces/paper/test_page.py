"""The page that opens offline."""

from app.catalog import feature
from app.engine.models import Engine
from app.faces.paper.page import page
from app.faces.streamlit import components
from app.words.html import tag
from app.words.report import Report


def test_the_page_has_result_model_caution_and_script(tiny_engine: Engine) -> None:
    row = feature("fill_mask")
    report = Report("A <headline>.", (tag("p", "the <result>"),), first=(tag("p", "not read"),))
    written = page(row, tiny_engine.provenance, report, ("A <notice>.",)).decode()
    body = written.partition("<main>")[2]
    order = (f"<h1>{row.title}</h1>", "A &lt;notice&gt;.", "not read", "A &lt;headline&gt;.",
             "the &lt;result&gt;", row.beware, tiny_engine.provenance.fingerprint)  # fmt: skip
    assert sorted(order, key=body.index) == list(order)
    assert written.count("<script") == 1 and components.script("bridge") in written
