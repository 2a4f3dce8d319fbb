"""The loaded model: tokenizer, weights, provenance, and the only doors to computing with them.

`shelf.py` is the table of models that visitors may choose, `hub.py` what an id on the Hub stands
for; `facts.py` says what a model brings without loading it, `fit.py` whether that suits a page.
`engine.py` holds one model and runs it, `compute.py` says whose turn it is, `store.py` keeps a
bounded number of engines for the whole process, `provenance.py` says where a model came from,
`papers.py` what lies beside its weights for people to read, and `verifying.py` compares its files
with what is stored beside them.
This package may import `bert_core` and `app.settings`; it may not import a front end, a task or
a view. Nothing outside it enters inference mode.
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
