"""Limits, paths and the few environment variables of the explorer.

BERT_EXPLORER_MODEL    a bundled name or a folder; the model every page starts with
BERT_EXPLORER_MODELS   folders with more models for visitors to choose, separated as in PATH
BERT_EXPLORER_KEEP     loaded models kept in memory at once
BERT_EXPLORER_MEMORY   MiB that loaded models may take together
BERT_EXPLORER_HUB      "off" hides the field for ids on the Hugging Face Hub
BERT_EXPLORER_DEVICE   where models compute: cpu, cuda, cuda:1 ..., mps, or auto for a GPU if any
BERT_EXPLORER_THREADS  processor threads of one forward pass while others may run beside it
BERT_EXPLORER_RUNS     forward passes that may run at the same time; a long one alone takes the
                       threads of all of them
"""

import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: `pages/` and `assets/` stand here."""

ASSETS = ROOT / "assets"

BUNDLED_MODEL = "explorer-mini-uncased"

_OFF = frozenset({"off", "no", "false", "0"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may choose, and the limits that keep one visitor from starving the rest.

    Attributes:
        model: bundled name or folder of the model that is loaded first.
        device: where models compute; see `app.engine.device`.
        threads: processor threads of one forward pass that may have others beside it.
        runs: forward passes that may run at the same time; see `app.engine.compute`.
        folders: folders whose models visitors may choose, in this order.
        models: loaded models kept in memory at once.
        model_bytes: what these may take together; a model larger than this is not loaded.
        hub: whether visitors are asked for ids on the Hugging Face Hub.
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
    hub: bool = True
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
        hub=os.environ.get("BERT_EXPLORER_HUB", "").strip().lower() not in _OFF,
        device=os.environ.get("BERT_EXPLORER_DEVICE", "").strip().lower() or "cpu",
        threads=threads,
        runs=_positive("BERT_EXPLORER_RUNS", max(1, cores // threads)),
    )
