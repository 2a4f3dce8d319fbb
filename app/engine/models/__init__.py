"""Models: which are available, what they contain, and how they are loaded, run and downloaded.

- `shelf.py`: the table of models that visitors may choose.
- `hub.py`: ids on the Hugging Face Hub, and the local models they refer to.
- `usable.py`: why models on the shelf cannot be used.
- `facts.py`: what a model contains, read without loading it.
- `families.py`: what families were not trained on.
- `fit.py`: whether a model suits a page.
- `engine.py`: one loaded model, and everything that computes with it.
- `windows.py`: long texts, window by window.
- `store.py`: the bounded number of engines that the process keeps.
- `asking.py`: whether the default model answers.
- `papers.py`: where a model came from, and the files for people next to its weights.
- `untrained.py`: the random weights of twins that have learned nothing.
- `downloads.py`: the downloads that visitors asked for.
- `copies.py`: the layout of downloaded models on disk.
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
