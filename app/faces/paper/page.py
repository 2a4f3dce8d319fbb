"""A report as one HTML file that opens offline and asks for nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated

from app.catalog import Feature
from app.engine.models import Provenance
from app.settings import ASSETS, ROOT
from app.words.blocks import beware, cautions, line
from app.words.format import shortened
from app.words.html import Html, document, tag, visible
from app.words.screen import Report

_LONGEST = 1_000  # characters of a text that are repeated at the top


@dataclass(frozen=True, slots=True)
class Asked:
    """What a saved answer answers."""

    texts: Annotated[Mapping[str, str], "what was given, by the label of its box"] = field(
        default_factory=dict
    )
    link: Annotated[str, 'opens the same page of the site; "" if it has no address'] = ""


def page(
    feature: Feature,
    model: Provenance,
    report: Report,
    notices: Sequence[str] = (),
    asked: Asked | None = None,
) -> bytes:
    """Write a report with the model that gave it and what must not be concluded.

    `notices` should be known about the model first.
    """
    return document(
        f"{feature.title} · {model.name}",
        style(feature.folder),
        tag("h1", feature.title),
        *_asked(asked or Asked()),
        *cautions(notices),
        tag("div", *report.drawn(), class_="bx-result"),
        beware(feature.beware),
        line(visible(signature(model))),
        script=(ASSETS / "components" / "bridge.js").read_text(encoding="utf-8"),
    )


def _asked(asked: Asked) -> Iterator[Html]:
    today = date.today()
    for label, text in asked.texts.items():
        shown = tag("bdi", visible(shortened(text, _LONGEST)))
        yield tag("p", tag("strong", f"{label}: "), shown, class_="bx-text")
    on = f"Saved on {today.day} {today:%B %Y}"
    yield line(f"{on} from ", _link(asked.link)) if asked.link else line(on)


def _link(address: str) -> Html | str:
    """Draw an address; one that a kept page may not lead to, such as http, is text."""
    try:
        return tag("a", visible(address), href=address)
    except ValueError:
        return visible(address)


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
