"""Models: which are on offer (`shelf`), what they contain (`facts`), which pages they suit (`fit`),
how they are run (`engine`), kept (`store`) and downloaded (`hub`, `downloads`, `copies`).
"""

from app.engine.models.engine import Engine
from app.engine.models.facts import HeadFacts, ModelFacts
from app.engine.models.papers import Provenance
from app.engine.models.shelf import Offer, default_offer, offers
from app.engine.models.store import is_open, open_engine

__all__ = [
    "Engine",
    "HeadFacts",
    "ModelFacts",
    "Offer",
    "Provenance",
    "default_offer",
    "is_open",
    "offers",
    "open_engine",
]
