"""Ids on the Hugging Face Hub: what one may look like, which model here it stands for, and what
fetching it would mean. Nothing asks the Hub but `look_up`, once a call, and what an operator
names at the start."""

import logging
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.models.copies import bytes_in, copies, downloads_folder, model_of
from app.models.shelf import Kind, Offer, called_by_name, is_there, offers
from app.settings import settings
from bert_core.checkpoints.sources.cache import size_text
from bert_core.checkpoints.sources.hub import DownloadPlan, download, plan_download
from bert_core.checkpoints.sources.hub_names import MAIN, checked_revision, hub_id
from bert_core.errors import BertError, DownloadError, InputError

__all__ = [
    "DownloadPlan",
    "HubId",
    "check_limits",
    "copy_here",
    "fetch_at_start",
    "for_visitors",
    "look_up",
    "may_be_hub_id",
    "not_here",
    "parse_hub_id",
    "size_text",
]

_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/", re.IGNORECASE)
_FIRST_OWNER = "google-bert/"  # whose models could once be named without an owner
_AT_ONCE = threading.BoundedSemaphore(4)  # questions to the Hub, each up to 10 seconds


@dataclass(frozen=True, slots=True)
class HubId:
    """A model on the Hub.

    Attributes:
        name: `owner/name`.
        revision: a branch, a tag or a commit.
    """

    name: str
    revision: str = MAIN

    def __str__(self) -> str:
        return self.name if self.revision == MAIN else f"{self.name}@{self.revision}"


def parse_hub_id(text: str, revision: str = "") -> HubId:
    """Check what a visitor typed; blanks around it do not matter, nor does the Hub's address.

    Args:
        text: the id, or id and revision with an @ between them, as in addresses of this site.
        revision: branch, tag or commit; "" for the main branch.

    Raises:
        InputError: it is no id or no revision, with what one looks like.

    >>> parse_hub_id(" https://huggingface.co/dslim/bert-base-NER ")
    HubId(name='dslim/bert-base-NER', revision='main')
    >>> parse_hub_id("bert-base-cased@v1")
    HubId(name='google-bert/bert-base-cased', revision='v1')
    """
    name, _, after = _ADDRESS.sub("", text.strip()).rstrip("/").partition("@")
    return HubId(hub_id(name), checked_revision(revision.strip() or after or None))


def copy_here(wanted: HubId) -> Offer | None:
    """Return the model on this server that an id stands for; None where there is none."""
    names = (wanted.name, wanted.name.removeprefix(_FIRST_OWNER))
    table = {name: offer for name, offer in offers().items() if offer.kind is Kind.HUB_COPY}
    if wanted.revision == MAIN:
        return next((table[name] for name in names if name in table), None)
    folders = {
        str(copy.folder)
        for copy in copies(downloads_folder())
        if copy.model in names and copy.revision == wanted.revision
    }
    for offer in table.values():
        folder = Path(offer.source)
        if offer.source in folders:
            return offer
        if folder.name == wanted.revision and model_of(folder) in names:
            return offer
    return None


def not_here(wanted: HubId) -> str:
    """Say that there is no copy of a model, where none may be downloaded."""
    return (
        f"This server has no copy of {wanted}, and it downloads nothing for visitors. Whoever runs "
        "it can allow that (BERT_EXPLORER_HUB=on), or download the model and offer its folder."
    )


def look_up(wanted: HubId) -> DownloadPlan:
    """Ask the Hub what fetching a model would mean: one request, at most 10 seconds.

    Only what everybody may read is found: no token of this machine is sent.

    Raises:
        BertError: there is no such model, it is none that can be read here or is too large, or
            the Hub does not answer.
    """
    _hush()
    if not _AT_ONCE.acquire(blocking=False):
        raise InputError("Too many visitors ask the Hub just now. Try again in a moment.")
    try:
        with for_visitors(wanted.name, downloads_folder()):
            plan = plan_download(
                wanted.name, wanted.revision, cache_dir=downloads_folder(), token=False
            )
    finally:
        _AT_ONCE.release()
    check_limits(plan)
    return plan


def may_be_hub_id(model: str) -> bool:
    """Say whether what an operator named can only be a model of the Hub."""
    if is_there(model) or os.path.exists(os.path.expanduser(model)):
        return False
    try:
        return bool(parse_hub_id(model))
    except InputError:
        return False


def fetch_at_start(model: str, say: Callable[[str], None]) -> Path:
    """Fetch the model that an operator named, with their own token and into their own cache.

    Args:
        model: an id, with a revision after an @ if need be.
        say: told what is about to happen; a bar is drawn on a terminal.

    Raises:
        BertError: it cannot be had.
    """
    wanted = parse_hub_id(model)
    say(f"There is no folder {model}: looking for {wanted} on the Hugging Face Hub ...")
    plan = plan_download(wanted.name, wanted.revision)
    if plan.bytes:
        say(f"Fetching {size_text(plan.bytes)} (commit {plan.commit}) into {plan.cache} ...")
    return download(plan)


def check_limits(plan: DownloadPlan, under_way: int = 0) -> None:
    """Refuse a model that is larger than the operator allows.

    Args:
        plan: from `look_up`.
        under_way: bytes that other downloads will still bring.

    Raises:
        InputError: with both numbers.
    """
    limits = settings()
    largest = min(limits.download_bytes, limits.model_bytes)
    if plan.total_bytes > largest:
        raise InputError(
            f"{plan.name} has {size_text(plan.total_bytes)}; this server takes models of at most "
            f"{size_text(largest)}. Choose a smaller one."
        )
    taken = bytes_in(downloads_folder()) + under_way
    if plan.bytes and taken + plan.bytes > limits.disk_bytes:
        raise InputError(
            f"{plan.name} needs {size_text(plan.bytes)}. This server keeps at most "
            f"{size_text(limits.disk_bytes)} of downloaded models, and {size_text(taken)} are "
            "taken. Choose one that is here."
        )


@contextmanager
def for_visitors(name: str, folder: Path) -> Iterator[None]:
    """Keep paths of this machine out of errors of the block.

    Args:
        name: of the model.
        folder: where its files are or would be.
    """
    try:
        with called_by_name(Offer(name, str(folder), Kind.HUB_COPY)):
            yield
    except BertError as error:
        if str(downloads_folder()) not in str(error) and "BERT_CORE_CACHE" not in str(error):
            raise
        raise DownloadError(
            f"There is no room for {name} on this server, or its disk cannot be written to."
        ) from None


def _hush() -> None:
    """Keep the Hub's client from logging names and addresses: visitors typed them."""
    os.environ.setdefault("HF_HUB_VERBOSITY", "critical")  # read when the client is imported
    for name in ("huggingface_hub", "httpx", "httpx2", "httpcore", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
