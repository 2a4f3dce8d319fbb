"""Limits, paths and the few environment variables of the explorer.

BERT_EXPLORER_MODEL    a bundled name, a folder, or an id on the Hugging Face Hub that is fetched
                       when the server starts; the model every page starts with
BERT_EXPLORER_MODELS   folders with more models for visitors to choose, separated as in PATH
BERT_EXPLORER_KEEP     loaded models kept in memory at once
BERT_EXPLORER_MEMORY   MiB that loaded models may take together
BERT_EXPLORER_HUB      "off" hides the field for ids on the Hugging Face Hub, "on" lets everybody
                       download; otherwise only who sits at this machine can
BERT_EXPLORER_DOWNLOAD MiB that one downloaded model may have
BERT_EXPLORER_DISK     MiB that all downloaded models may have together
BERT_EXPLORER_CACHE    folder for them
BERT_EXPLORER_DEVICE   where models compute: cpu, cuda, cuda:1 ..., mps, or auto for a GPU if any
BERT_EXPLORER_THREADS  processor threads of one forward pass while others may run beside it
BERT_EXPLORER_RUNS     forward passes that may run at the same time; a long one alone takes the
                       threads of all of them
"""

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: `pages/` and `assets/` stand here."""

ASSETS = ROOT / "assets"

BUNDLED_MODEL = "explorer-mini-uncased"

_ON = frozenset({"on", "yes", "true", "1"})
_OFF = frozenset({"off", "no", "false", "0"})


class HubUse(Enum):
    """Who may have this server download models from the Hugging Face Hub."""

    OFF = "nobody, and nobody is asked for ids"
    LOCAL = "who sits at this machine"
    ON = "every visitor"


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may choose, and the limits that keep one visitor from starving the rest.

    Attributes:
        model: bundled name or folder of the model that is loaded first.
        device: where models compute; see `app.compute.device`.
        threads: processor threads of one forward pass that may have others beside it.
        runs: forward passes that may run at the same time; see `app.compute.processor`.
        folders: folders whose models visitors may choose, in this order.
        models: loaded models kept in memory at once.
        model_bytes: what these may take together; a model larger than this is not loaded.
        hub: who may have models downloaded from the Hugging Face Hub.
        download_bytes: what one of them may have.
        disk_bytes: what all of them may have together.
        downloads: folder for them; "" for one in the user's own cache.
        text_chars: longest text a box takes, in characters.
        address_chars: longest text, percent-encoded, that is put into the page's address.
        shown_pieces: pieces drawn in colour at once; more are paged.
    """

    model: str = BUNDLED_MODEL
    device: str = "cpu"
    threads: int = 1
    runs: int = 2
    folders: tuple[str, ...] = ()
    models: int = 4
    model_bytes: int = 4 * 2**30  # nine of BERT's base size in float32
    hub: HubUse = HubUse.LOCAL
    download_bytes: int = 2 * 2**30
    disk_bytes: int = 10 * 2**30
    downloads: str = ""
    text_chars: int = 100_000
    address_chars: int = 2_000  # longer addresses are cut by chat programs and some proxies
    shown_pieces: int = 600


def _positive(name: str, default: int) -> int:
    """Read a positive whole number from the environment; anything else is the default."""
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() and int(value) > 0 else default


def _folders(name: str) -> tuple[str, ...]:
    """Read a list of folders from the environment, separated as the system separates PATH."""
    return tuple(part for part in os.environ.get(name, "").split(os.pathsep) if part.strip())


def _hub_use(name: str) -> HubUse:
    """Read a switch from the environment; anything but on and off is the cautious default."""
    value = os.environ.get(name, "").strip().lower()
    return HubUse.OFF if value in _OFF else HubUse.ON if value in _ON else HubUse.LOCAL


def settings() -> Settings:
    """Return the settings as the environment stands now."""
    # Half the cores for one pass, so that two visitors compute side by side: with all cores for
    # each, threads wait for each other (measured: three times slower on two busy cores).
    cores = os.cpu_count() or 1
    threads = _positive("BERT_EXPLORER_THREADS", max(1, min(4, cores // 2)))
    return Settings(
        model=os.environ.get("BERT_EXPLORER_MODEL") or BUNDLED_MODEL,
        folders=_folders("BERT_EXPLORER_MODELS"),
        models=_positive("BERT_EXPLORER_KEEP", 4),
        model_bytes=_positive("BERT_EXPLORER_MEMORY", 4_096) * 2**20,
        hub=_hub_use("BERT_EXPLORER_HUB"),
        download_bytes=_positive("BERT_EXPLORER_DOWNLOAD", 2_048) * 2**20,
        disk_bytes=_positive("BERT_EXPLORER_DISK", 10_240) * 2**20,
        downloads=os.environ.get("BERT_EXPLORER_CACHE", "").strip(),
        device=os.environ.get("BERT_EXPLORER_DEVICE", "").strip().lower() or "cpu",
        threads=threads,
        runs=_positive("BERT_EXPLORER_RUNS", max(1, cores // threads)),
    )
