"""The table of models that visitors may choose by name; visitor input never becomes a path.

The operator names folders (see `app.settings`); each model in them is offered under the name of
its folder. Models in a folder laid out like the cache of the Hugging Face Hub are offered under
their ids, and so are models that visitors downloaded. A public site (`BERT_EXPLORER_PUBLIC`) offers
no folders, and of the downloaded models only the pinned ones (`curated.py`).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

from app.engine.models.copies import (
    copies,
    downloads_folder,
    is_storage,
    main_copy,
    model_of,
)
from app.engine.models.curated import PINNED
from app.settings import settings
from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.formats.mistaken import instead
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import BertError, MissingFileError

UNTRAINED = " untrained (random weights)"
"""What follows the name of a bundled model in that of its twin; part of links."""

_CONFIGS = ("config.json", "bert_config.json")
_MOST = 200  # models; a longer list would be useless to choose from
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin", "*.ckpt*.index")
_NO_PLACES = (".", "datasets--", "spaces--")  # the last two are in the cache of the Hub
_NO_CONFIG = f"It has no {' or '.join(_CONFIGS)}, so it is not the folder of a model."
_NO_MAIN = "Its main branch is not on this machine, or not complete."


class Kind(Enum):
    """How a model got here."""

    BUNDLED = "comes with the program"
    FOLDER = "a folder on this server"
    HUB_COPY = "a copy from the Hugging Face Hub, on this server"
    IN_MEMORY = "a model in the memory of this program"
    UNTRAINED = "the sizes of a bundled model with random weights: it has learned nothing"


@dataclass(frozen=True, slots=True)
class Offer:
    """One model that a visitor may choose."""

    name: Annotated[str, "the name that visitors see, also used in the address"]
    source: Annotated[str, "a bundled name or a folder; internal, never shown"]
    kind: Annotated[Kind, "how it got here"]

    def __str__(self) -> str:
        return self.name


IN_MEMORY: dict[str, Offer] = {}
"""Models in the memory of this program, for as long as they are asked."""


def offers() -> dict[str, Offer]:
    """Return the models on offer by name, starting with the default model."""
    found: dict[str, Offer] = {}
    known = set()
    for offer in _candidates():
        model = (offer.source, offer.kind is Kind.UNTRAINED)
        if model in known or len(found) == _MOST:
            continue
        known.add(model)
        name = _free_name(offer, found)
        found[name] = Offer(name, offer.source, offer.kind)
    return found


def not_models() -> Iterator[tuple[str, str]]:
    """Yield the name of every folder that the operator names and that has no model, and why."""
    for root in settings().folders:
        folder = Path(root).expanduser()
        inside = _subfolders(folder)
        if _model_in(folder) is None:
            if not inside or any(path for each in _WEIGHTS for path in folder.glob(each)):
                yield folder.name, _NO_CONFIG
            for each in inside:
                if not _model_in(each):
                    absent = is_storage(each) and main_copy(each) is None
                    why = _NO_CONFIG + instead(path.name for path in each.iterdir())
                    yield each.name, _NO_MAIN if absent else why


def default_offer() -> Offer:
    """Return the model that every page starts with."""
    return offer_of(settings().model)


def offer_of(model: str) -> Offer:
    """Return the offer for a model that the operator named.

    Args:
        model: a bundled name or a folder.
    """
    folder = Path(model).expanduser()
    if model in bundled_names() and not folder.is_dir():
        return Offer(model, model, Kind.BUNDLED)
    if folder.is_dir():
        return _offer(folder.resolve())
    return Offer(folder.name or model, model, Kind.FOLDER)  # opening it reports what is wrong


def is_there(model: str) -> bool:
    """Return whether there is a bundled model or a folder of this name."""
    return model in bundled_names() or Path(model).expanduser().is_dir()


def local_folder(source: str) -> Path:
    """Return the folder of a model's files; archives are unpacked, the network is not used.

    Raises:
        BertError: it is not on this machine, or is not a model.
    """
    if is_there(source) or os.path.exists(os.path.expanduser(source)):
        return resolve(source)
    raise MissingFileError(
        f"There is no folder or bundled model {source}. A model on the Hugging Face Hub is "
        "downloaded only when the server is started with `python app.py`."
    )


@contextmanager
def called_by_name(offer: Offer) -> Iterator[None]:
    """Replace the folder with the model's name in errors of the block, to hide paths."""
    try:
        yield
    except BertError as error:
        raise type(error)(without_paths(offer, str(error))) from None


def without_paths(offer: Offer, says: str) -> str:
    """Replace the folder with the model's name in a sentence."""
    bundled = offer.kind in (Kind.BUNDLED, Kind.UNTRAINED)
    folder = bundled_folder(offer.source) if bundled else Path(offer.source).expanduser()
    paths = {str(folder.absolute()), str(folder.resolve()), str(folder), offer.source}
    for path in sorted(paths, key=len, reverse=True):
        says = says.replace(path, offer.name) if len(path) > 1 else says
    return says


def _candidates() -> Iterator[Offer]:
    """Yield every available model; names may still occur twice."""
    yield default_offer()
    for name in bundled_names():
        yield Offer(name, name, Kind.BUNDLED)
        yield Offer(f"{name}{UNTRAINED}", name, Kind.UNTRAINED)
    yield from IN_MEMORY.values()
    for root in settings().folders:
        folder = Path(root).expanduser()
        alone = _model_in(folder)
        found = [alone] if alone else map(_model_in, _subfolders(folder))
        yield from (_offer(each) for each in found if each)
    for copy in copies(downloads_folder()):
        if not settings().public or (copy.model.name, copy.folder.name) in PINNED:
            yield Offer(str(copy.model), str(copy.folder), Kind.HUB_COPY)


def _offer(folder: Path) -> Offer:
    """Return the offer for a folder: named after the folder, or by its id if from the Hub."""
    model = model_of(folder)
    if model is not None:
        return Offer(model, str(folder), Kind.HUB_COPY)
    return Offer(folder.name, str(folder), Kind.FOLDER)


def _subfolders(folder: Path) -> list[Path]:
    """Return the visible subfolders sorted by name; none if the folder cannot be read."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return []
    return [
        path
        for path in entries
        if path.name.isprintable() and not path.name.startswith(_NO_PLACES) and path.is_dir()
    ]


def _model_in(folder: Path) -> Path | None:
    """Return the folder of the model that a folder of the operator is or has a copy of."""
    snapshot = main_copy(folder)
    if snapshot and _is_model(snapshot):
        return snapshot
    return folder.resolve() if _is_model(folder) else None


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _CONFIGS)


def _free_name(offer: Offer, taken: dict[str, Offer]) -> str:
    """Return a unique name for the offer: its own, or an extended one if that is taken.

    The name is extended by the parent folder, by the commit for a copy from the Hub, or by a
    number. Names of bundled models are reserved for them.
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
