"""The loaded model: tokenizer, weights, provenance, and the only doors to computing with them.

`engine.py` holds one model and runs it, `store.py` keeps a bounded number of engines for the
whole process, `provenance.py` says where a model came from. This package may import `bert_core`
and `app.settings`; it may not import a front end, a task or a view. Nothing outside it enters
inference mode or takes the compute semaphore.
"""

from app.engine.engine import Engine
from app.engine.provenance import Provenance
from app.engine.store import ModelStore, open_engine

__all__ = ["Engine", "ModelStore", "Provenance", "open_engine"]
