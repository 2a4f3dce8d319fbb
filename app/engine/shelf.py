"""The models that visitors may choose, by name; what they type never becomes a path.

The operator names folders (see `app.settings`); what stands in them is offered under its own name
and looked up in the table below. A folder laid out like the cache of the Hugging Face Hub is
offered under the ids of the models it holds.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from app.settings import settings
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.errors import BertError

_CONFIGS = ("config.json", "bert_config.json")
_CACHED = re.compile(r"models--(?:(?P<owner>[\w.-]+?)--)?(?P<name>[\w.-]+)")
_MOST = 200  # more than this is no shelf of models, and no list to choose from


class Kind(Enum):
    """How a model got here."""

    BUNDLED = "comes with the program"
    FOLDER = "a folder on this server"
    HUB_COPY = "a copy from the Hugging Face Hub, on this server"


@dataclass(frozen=True, slots=True)
class Offer:
    """One model that a visitor may choose.

    Attributes:
        name: what visitors see, and what stands in the address.
        source: a bundled name or a folder; for this program alone, never shown.
        kind: how it got here.
    """

    name: str
    source: str
    kind: Kind


def offers() -> dict[str, Offer]:
    """Return the models on offer by their names; the one that pages start with comes first."""
    found: dict[str, Offer] = {}
    sources = set()
    for offer in _candidates():
        if offer.source in sources or len(found) == _MOST:
            continue
        sources.add(offer.source)
        name = _free_name(offer, found)
        found[name] = Offer(name, offer.source, offer.kind)
    return found


def default_offer() -> Offer:
    """Return the model that every page starts with."""
    return offer_of(settings().model)


def offer_of(model: str) -> Offer:
    """Return what visitors are to call a model that the operator named.

    Args:
        model: a bundled name or a folder.
    """
    folder = Path(model).expanduser()
    if model in bundled_names() and not folder.is_dir():
        return Offer(model, model, Kind.BUNDLED)
    if folder.is_dir():
        return _offer(folder.resolve())
    return Offer(folder.name or model, model, Kind.FOLDER)  # opening it says what is wrong


def is_there(model: str) -> bool:
    """Say whether there is a bundled model or a folder of this name."""
    return model in bundled_names() or Path(model).expanduser().is_dir()


@contextmanager
def called_by_name(offer: Offer) -> Iterator[None]:
    """Put the model's name for its folder into errors of the block: paths are not for visitors."""
    try:
        yield
    except BertError as error:
        bundled = offer.kind is Kind.BUNDLED
        folder = bundled_folder(offer.source) if bundled else Path(offer.source).expanduser()
        says = str(error)
        paths = {str(folder.absolute()), str(folder.resolve()), str(folder), offer.source}
        for path in sorted(paths, key=len, reverse=True):
            says = says.replace(path, offer.name) if len(path) > 1 else says
        raise type(error)(says) from None


def _candidates() -> Iterator[Offer]:
    """Return every model there is, names not yet told apart."""
    yield default_offer()
    for name in bundled_names():
        yield Offer(name, name, Kind.BUNDLED)
    for root in settings().folders:
        folder = Path(root).expanduser()
        if _is_model(folder):
            yield _offer(folder.resolve())
            continue
        for each in _subfolders(folder):
            if snapshot := _snapshot(each):
                yield _offer(snapshot)
            elif _is_model(each):
                yield _offer(each.resolve())


def _offer(folder: Path) -> Offer:
    """Offer a folder under its own name, a copy from the Hub under its id."""
    cached = _CACHED.fullmatch(folder.parent.parent.name)
    if cached and folder.parent.name == "snapshots":
        owner = cached["owner"]
        name = f"{owner}/{cached['name']}" if owner else cached["name"]
        return Offer(name, str(folder), Kind.HUB_COPY)
    return Offer(folder.name, str(folder), Kind.FOLDER)


def _subfolders(folder: Path) -> list[Path]:
    """Return the visible folders in a folder by name; none where it cannot be read."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return []
    return [
        path
        for path in entries
        if path.name.isprintable() and not path.name.startswith(".") and path.is_dir()
    ]


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _CONFIGS)


def _snapshot(cached: Path) -> Path | None:
    """Return the version that `main` stands for, of a model in the layout of the Hub's cache."""
    if not _CACHED.fullmatch(cached.name):
        return None
    try:
        commit = (cached / "refs" / "main").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    folder = cached / "snapshots" / commit
    return folder if re.fullmatch(r"[0-9a-f]{40}", commit) and _is_model(folder) else None


def _free_name(offer: Offer, taken: dict[str, Offer]) -> str:
    """Return the offer's name, or one with its folder's folder where two have the same.

    Names of bundled models are theirs, whatever else is on offer.
    """
    name = offer.name
    if name in taken or (name in bundled_names() and offer.kind is not Kind.BUNDLED):
        name = f"{offer.name} ({Path(offer.source).parent.name})"
    number = 2
    while name in taken:
        name = f"{offer.name} ({number})"
        number += 1
    return name
