"""Ids on the Hugging Face Hub: what one may look like, and which model here it stands for."""

import re
from dataclasses import dataclass

from app.engine.shelf import Kind, Offer, offers
from bert_core.errors import InputError

# The rules of the Hub itself: `name` or `owner/name`, 96 characters at most a part.
_PART = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/", re.IGNORECASE)
_MAIN = "main"


@dataclass(frozen=True, slots=True)
class HubId:
    """A model on the Hub.

    Attributes:
        name: `owner/name`, or `name` alone for the first models of the Hub.
        revision: a branch, a tag or a commit.
    """

    name: str
    revision: str = _MAIN


def parse_hub_id(text: str, revision: str = "") -> HubId:
    """Check what a visitor typed; blanks around it do not matter, nor does the Hub's address.

    Args:
        text: the id.
        revision: branch, tag or commit; "" for the main branch.

    Raises:
        InputError: it is no id, with what one looks like.

    >>> parse_hub_id(" google-bert/bert-base-uncased ")
    HubId(name='google-bert/bert-base-uncased', revision='main')
    """
    name = _ADDRESS.sub("", text.strip()).rstrip("/")
    parts = name.split("/")
    if len(parts) > 2 or not all(_is_part(part) for part in parts):
        raise InputError(
            f"{_short(text)} is no id on the Hub. Expected name or owner/name in letters, digits, "
            "dots, hyphens and underscores, such as google-bert/bert-base-uncased."
        )
    wanted = revision.strip() or _MAIN
    if not _REVISION.fullmatch(wanted) or ".." in wanted or wanted.endswith("/"):
        raise InputError(
            f"{_short(revision)} is no revision. Expected a branch, a tag or a commit, such as "
            "main."
        )
    return HubId(name, wanted)


def copy_on_server(hub_id: HubId) -> Offer:
    """Return the model on this server that an id stands for.

    Raises:
        InputError: there is no copy here, with what to do.
    """
    found = offers().get(hub_id.name)
    if found is None or found.kind is not Kind.HUB_COPY:
        raise InputError(
            f"This server has no copy of {hub_id.name}, and it downloads nothing by itself. "
            "Whoever runs it can download the model and offer its folder."
        )
    commit = found.source.replace("\\", "/").rpartition("/")[2]
    if hub_id.revision not in (_MAIN, commit):
        raise InputError(
            f"This server has {hub_id.name} in one version only: main, commit {commit[:12]}. "
            f"Revision {_short(hub_id.revision)} is not here."
        )
    return found


def _is_part(part: str) -> bool:
    return bool(_PART.fullmatch(part)) and "--" not in part and ".." not in part


def _short(text: str) -> str:
    """Quote what was typed, cut where it is long."""
    text = text.strip()
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"
