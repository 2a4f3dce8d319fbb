"""The loaded model: tokenizer, weights, provenance, and the only doors to computing with them.

`shelf.py` is the table of models that visitors may choose, `hub.py` what an id on the Hub stands
for; `facts.py` says what a model brings without loading it, `fit.py` whether that suits a page.
`engine.py` holds one model and runs it, `store.py` keeps a bounded number of engines for the
whole process; `papers.py` says where a model came from and what lies beside its weights for people
to read, `verifying.py` compares its files with what is stored beside them; `downloads.py` owns the
downloads that visitors asked for, and `copies.py` knows how they lie on the disk.
"""

from app.models.engine import Engine
from app.models.facts import HeadFacts, ModelFacts
from app.models.papers import Provenance
from app.models.shelf import Offer, default_offer, offers
from app.models.store import ModelStore, is_open, open_engine

__all__ = [
    "Engine",
    "HeadFacts",
    "ModelFacts",
    "ModelStore",
    "Offer",
    "Provenance",
    "default_offer",
    "is_open",
    "offers",
    "open_engine",
]
