"""A report as one HTML file that opens offline and asks for nothing."""

from collections.abc import Sequence

from app.catalog import Feature
from app.engine.models import Provenance
from app.settings import ASSETS, ROOT
from app.words.blocks import beware, cautions, line
from app.words.html import document, tag, visible
from app.words.report import Report


def page(feature: Feature, model: Provenance, report: Report, notices: Sequence[str] = ()) -> bytes:
    """Write a report with the model that gave it and what must not be concluded.

    Args:
        feature: what was asked.
        model: which model answered.
        report: what it answered.
        notices: what should be known about the model first.
    """
    return document(
        f"{feature.title} · {model.name}",
        style(feature.folder),
        tag("h1", feature.title),
        *cautions(notices),
        tag("div", *report.drawn(), class_="bx-result"),
        beware(feature.beware),
        line(visible(signature(model))),
        script=(ASSETS / "components" / "bridge.js").read_text(encoding="utf-8"),
    )


def style(*slugs: str) -> str:
    """Return the style sheet of the site with those of pages, `app/features/<slug>/style.css`."""
    own = (ROOT / "app" / "features" / slug / "style.css" for slug in slugs if slug)
    sheets = [ASSETS / "site.css", *(each for each in own if each.is_file())]
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


def signature(model: Provenance) -> str:
    """Name the model that answered."""
    licence = f", licence {model.licence}" if model.licence else ""
    return (
        f"Model: {model.name}, {model.layers} layers × {model.heads} heads, weights "
        f"{model.fingerprint}{licence}.{model.remark and f' {model.remark}'}"
    )
