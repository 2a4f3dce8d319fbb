"""Ids on the Hugging Face Hub: parse them, find local copies, and plan downloads.

The Hub is contacted only by `look_up`, once per call, and to fetch a model that the operator names
at the start.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.engine.models.copies import HubId, bytes_in, copies, downloads_folder, model_of
from app.engine.models.shelf import Kind, Offer, called_by_name, is_there, offers
from app.settings import settings
from bert_core.checkpoints.sources.cache import size_text
from bert_core.checkpoints.sources.hub import DownloadPlan, download, plan_download
from bert_core.checkpoints.sources.hub_names import checked_revision, hub_id
from bert_core.errors import BertError, DownloadError, InputError

_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/", re.IGNORECASE)
_FIRST_OWNER = "google-bert/"  # owner of the models that could once be named without one
_AT_ONCE = threading.BoundedSemaphore(4)  # requests to the Hub, each up to 10 seconds


def parse_hub_id(text: str, revision: str = "") -> HubId:
    """Parse an id typed by a visitor; surrounding whitespace and the Hub's address are ignored.

    Raises:
        InputError: the id or revision is invalid; the message shows what a valid one looks like.

    >>> parse_hub_id(" https://huggingface.co/dslim/bert-base-NER ")
    HubId(name='dslim/bert-base-NER', revision='main')
    >>> parse_hub_id("bert-base-cased@v1")
    HubId(name='google-bert/bert-base-cased', revision='v1')
    """
    name, _, after = _ADDRESS.sub("", text.strip()).rstrip("/").partition("@")
    return HubId(hub_id(name), checked_revision(revision.strip() or after or None))


def copy_here(wanted: HubId, on_offer: Mapping[str, Offer] | None = None) -> Offer | None:
    """Return the model on this server that an id refers to; None if there is none."""
    names = (wanted.name, wanted.name.removeprefix(_FIRST_OWNER))
    ids = [HubId(name, wanted.revision) for name in names]
    folders = {copy.folder for copy in copies(downloads_folder()) if copy.model in ids}
    for offer in (offers() if on_offer is None else on_offer).values():
        folder = Path(offer.source)
        same = folder in folders or (folder.name == wanted.revision and model_of(folder) in names)
        if offer.kind is Kind.HUB_COPY and (same or offer.name in map(str, ids)):
            return offer
    return None


def not_here(wanted: HubId) -> str:
    """Return the message for a model that is not here while downloads are not allowed."""
    return (
        f"This server has no copy of {wanted}, and it downloads nothing for visitors. Its operator "
        "can allow that (BERT_EXPLORER_HUB=on), or download the model and offer its folder."
    )


def look_up(wanted: HubId) -> DownloadPlan:
    """Ask the Hub what downloading a model would involve: a few requests of at most 10 seconds.

    Only public models are found: no token from this machine is sent.

    Raises:
        BertError: the model does not exist, cannot be read here or is too large, or the Hub does
            not answer.
    """
    if not _AT_ONCE.acquire(blocking=False):
        raise InputError("Too many visitors are asking the Hub at the moment. Try again shortly.")
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
    """Return whether a model named by the operator can only be an id on the Hub."""
    if is_there(model) or os.path.exists(os.path.expanduser(model)):
        return False
    try:
        return bool(parse_hub_id(model))
    except InputError:
        return False


def fetch_at_start(model: str, say: Callable[[str], object]) -> Path:
    """Download the model that the operator named, with their token and into their cache.

    Raises:
        BertError: the model cannot be downloaded.
    """
    wanted = parse_hub_id(model)
    say(f"There is no folder {model}: looking for {wanted} on the Hugging Face Hub ...")
    plan = plan_download(wanted.name, wanted.revision)
    if plan.bytes:
        say(f"Fetching {size_text(plan.bytes)} (commit {plan.commit}) into {plan.cache} ...")
    return download(plan)


def check_limits(plan: DownloadPlan, under_way: int = 0) -> None:
    """Reject a model that exceeds the operator's limits, when so many bytes are still to come.

    Raises:
        InputError: a limit is exceeded; the message has both sizes.
    """
    limits = settings()
    largest = min(limits.download_bytes, limits.model_bytes)
    if plan.total_bytes > largest:
        raise InputError(
            f"{plan.name} is {size_text(plan.total_bytes)}; this server accepts at most "
            f"{size_text(largest)}. Choose a smaller one."
        )
    taken = bytes_in(downloads_folder()) + under_way
    if plan.bytes and taken + plan.bytes > limits.disk_bytes:
        raise InputError(
            f"{plan.name} needs {size_text(plan.bytes)}. This server keeps at most "
            f"{size_text(limits.disk_bytes)} of downloaded models, and {size_text(taken)} are "
            "in use. Choose one that is already here."
        )


@contextmanager
def for_visitors(name: str, folder: Path) -> Iterator[None]:
    """Keep this machine's paths out of errors about a model raised in the block."""
    try:
        with called_by_name(Offer(name, str(folder), Kind.HUB_COPY)):
            yield
    except BertError as error:
        if str(downloads_folder()) not in str(error) and "BERT_CORE_CACHE" not in str(error):
            raise
        raise DownloadError(
            f"This server cannot store {name}: its disk is full or not writable."
        ) from None
