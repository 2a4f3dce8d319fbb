"""The models that visitors may choose, by name; what they type never becomes a path.

The operator names folders (see `app.settings`); what stands in them is offered under its own name
and looked up in the table below. A folder laid out like the cache of the Hugging Face Hub is
offered under the ids of the models it holds, and so is what visitors downloaded.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from app.models.copies import copies, downloads_folder, main_copy, model_of
from app.settings import settings
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import BertError, MissingFileError

_CONFIGS = ("config.json", "bert_config.json")
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


def local_folder(source: str) -> Path:
    """Return the folder of a model's files; an archive is unpacked, and no network is asked.

    Raises:
        BertError: it is not on this machine, or no model.
    """
    if is_there(source) or os.path.exists(os.path.expanduser(source)):
        return resolve(source)
    raise MissingFileError(
        f"There is no folder or bundled model {source}. A model of the Hugging Face Hub is fetched "
        "when the server starts, by `python app.py`, and by nothing else."
    )


@contextmanager
def called_by_name(offer: Offer) -> Iterator[None]:
    """Put the model's name for its folder into errors of the block: paths are not for visitors."""
    try:
        yield
    except BertError as error:
        raise type(error)(without_paths(offer, str(error))) from None


def without_paths(offer: Offer, says: str) -> str:
    """Put the model's name for its folder into a sentence."""
    bundled = offer.kind is Kind.BUNDLED
    folder = bundled_folder(offer.source) if bundled else Path(offer.source).expanduser()
    paths = {str(folder.absolute()), str(folder.resolve()), str(folder), offer.source}
    for path in sorted(paths, key=len, reverse=True):
        says = says.replace(path, offer.name) if len(path) > 1 else says
    return says


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
            snapshot = main_copy(each)
            if snapshot and _is_model(snapshot):
                yield _offer(snapshot)
            elif _is_model(each):
                yield _offer(each.resolve())
    for copy in copies(downloads_folder()):
        yield Offer(copy.name, str(copy.folder), Kind.HUB_COPY)


def _offer(folder: Path) -> Offer:
    """Offer a folder under its own name, a copy from the Hub under its id."""
    model = model_of(folder)
    if model is not None:
        return Offer(model, str(folder), Kind.HUB_COPY)
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


def _free_name(offer: Offer, taken: dict[str, Offer]) -> str:
    """Return the offer's name, or one with its folder's folder where two have the same.

    Names of bundled models are theirs, whatever else is on offer.
    """
    name = offer.name
    if name in taken or (name in bundled_names() and offer.kind is not Kind.BUNDLED):
        source = Path(offer.source)
        copy = offer.kind is Kind.HUB_COPY
        name = f"{offer.name} ({source.name[:12] if copy else source.parent.name})"
    number = 2
    while name in taken:
        name = f"{offer.name} ({number})"
        number += 1
    return name
