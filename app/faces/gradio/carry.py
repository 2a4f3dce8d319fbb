"""A visitor's text on its way through the menu; `carry.js` keeps it in the browser's tab."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from app.catalog import Feature
from app.declared import Declared, Parameter
from app.declared.carried import TEXT_KEYS, UNFIT, Carried, boxes_for
from app.words.blocks import Html, join, line

OPENED, EXAMPLE = "() => { window.bxFilled(); }", "() => { window.bxFilled(false); }"
"""What a page runs when its boxes have been filled; an example is not the visitor's own text."""

_PREFIX = "bx-text-"


@cache
def script() -> str:
    """Return the script that every page runs when it is opened."""
    source = Path(__file__).with_name("carry.js").read_text(encoding="utf-8")
    return source[source.index("(kept) =>") :].rstrip()


def name_of(given: Parameter) -> str | None:
    """Return the name of a text box in the document; None for what is not a text."""
    return f"{_PREFIX}{given.key}" if given.is_text else None


def asked(declared: Declared, first_model: str) -> str:
    """Return what a page runs when it has asked: the address gets the texts and the model.

    An address without a model means `first_model`.
    """
    keys = [each.key if each.is_text else "" for each in declared.parameters]
    return f"""(...values) => {{
      const model = values.pop();
      const texts = {json.dumps(keys)}.flatMap((key, at) => key ? [[key, values[at]]] : []);
      texts.push(["model", model === {json.dumps(first_model)} ? "" : model]);
      window.bxAsked(Object.fromEntries(texts));
    }}"""


def brought(declared: Declared, message: object, linked: Mapping[str, object]) -> dict[str, object]:
    """Return the texts that a page is opened with, by parameter; {} for those of its example.

    `message` is what the browser says, a stranger's; `linked` are the texts of the address.
    """
    said = _read(message)
    here = _texts(said.get("here"))
    if here:
        return {each.name: here[each.key] for each in declared.parameters if each.key in here}
    own = _own(said)
    if linked:
        return dict(linked)
    if own is None or not declared.feature.takes_text:
        return {}
    own_texts: dict[str, object] = {**boxes_for(declared.feature.folder, own)}
    found = {e.name: own_texts[e.key] for e in declared.parameters if e.key in own_texts}
    needed = {each.name for each in declared.parameters if each.required}
    return found if needed <= found.keys() else {}


def unfit_note(row: Feature, message: object) -> Html:
    """Say that the visitor's text stays behind, if it does not fit a page."""
    own = _own(_read(message))
    known = UNFIT.get(row.slug, "") if own is not None else ""
    return line(known) if known and not boxes_for(row.slug, own or Carried({})) else join()


def _own(said: Mapping[str, object]) -> Carried | None:
    own = said.get("own")
    if not isinstance(own, dict):
        return None
    texts = {key: text for key, text in _texts(own.get("texts")).items() if key in TEXT_KEYS}
    if not texts.get("text", "").strip():
        return None
    whole = own.get("whole")
    return Carried.after(Carried({"text": whole}) if isinstance(whole, str) else None, texts)


def _read(message: object) -> Mapping[str, object]:
    try:
        found = json.loads(message) if isinstance(message, str) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _texts(found: object) -> dict[str, str]:
    pairs = found.items() if isinstance(found, dict) else ()
    return {key: text for key, text in pairs if isinstance(text, str)}
