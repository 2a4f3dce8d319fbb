"""Loading a model while everything else that an answer needs is imported."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bert_core.errors import BertError


@contextmanager
def opening(model: str) -> Iterator[None]:
    """Load the default model beside the imports of the block, unless another one is asked for.

    Weights are read without Python, so the imports go on meanwhile. If the model cannot be opened,
    the first question to it says so. Garbage is collected at the end: imports make none.
    """
    gc.disable()
    from app.engine.models import open_engine  # imports PyTorch

    def load() -> None:
        with suppress(BertError):
            open_engine()
        gc.freeze()
        gc.enable()

    thread = threading.Thread(target=load if not model else gc.enable, name="opening")
    thread.start()
    try:
        yield
    finally:
        thread.join()  # Python must not end while a thread is inside PyTorch: it would abort
