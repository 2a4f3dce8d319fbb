"""The model that pages start with: fetched, opened and tried once."""

import gc
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from app.compat.glibc import trim
from app.engine.compute.device import chosen_device
from app.engine.compute.recent import RECENT
from app.engine.models import open_engine
from app.engine.models.copies import remove_all_leftovers
from app.engine.models.hub import fetch_at_start, may_be_hub_id
from app.engine.models.shelf import is_there
from app.engine.models.usable import refusals
from app.settings import BUNDLED_MODEL, settings
from bert_core.errors import BertError, ConfigError

_PAUSE = 60.0  # seconds between two times at which memory is tidied


def load() -> None:
    """Load the model, and begin what the process does for as long as it has one.

    Raises:
        BertError: the device or the model is not available, or it cannot be opened.
    """
    chosen_device()
    bring_model()
    with suppress(OSError):
        remove_all_leftovers()
    try:
        open_engine()
    except BertError as error:
        raise ConfigError(f"The model {settings().model} cannot be opened: {error}") from None
    threading.Thread(target=_tidy, name="tidy", daemon=True).start()


def bring_model() -> None:
    """Make sure that the default model is available; download it if it is an id on the Hub.

    Raises:
        BertError: it is not available; the server must not start with another model.
    """
    model = settings().model
    if may_be_hub_id(model):
        folder = fetch_at_start(model, say=lambda line: sys.stderr.write(f"{line}\n"))
        os.environ["BERT_EXPLORER_MODEL"] = str(folder)
    elif not (is_there(model) or Path(model).expanduser().exists()):
        raise ConfigError(
            f"There is no model {model} (BERT_EXPLORER_MODEL, --model); expected {BUNDLED_MODEL}, "
            "a folder, or an id on the Hugging Face Hub: owner/name."
        )


def warm_up() -> None:
    """Run the model once before the first visitor arrives; pages report what is wrong with it.

    While Python collects garbage, all visitors wait. Objects loaded by now stay for good, so they
    are excluded from collection (268,000 objects, most of them from libraries).
    """
    try:
        with suppress(BertError):
            open_engine().warm_up()
            refusals()
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()  # off since the start of `app.py`


def _tidy() -> None:
    """Give memory back now and then, for as long as the process lives.

    glibc keeps what was freed in the middle of a heap: after sixty books, as much as they had taken
    together. A minute in which nothing was computed or dropped costs nothing here.
    """
    used = 0.0
    while True:
        time.sleep(_PAUSE)
        if RECENT.drop_old() or time.process_time() - used > _PAUSE / 60:
            trim()
            used = time.process_time()
