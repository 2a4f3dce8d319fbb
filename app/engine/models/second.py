"""A second model beside the first: chosen by its name on offer, and loaded like any other."""

from app.engine.models.engine import Engine
from app.engine.models.facts import offered_facts
from app.engine.models.fit import remarks
from app.engine.models.store import open_engine
from app.engine.models.usable import offered, usable
from app.settings import settings
from bert_core.errors import CheckpointError

BESIDE = "beside"
"""The parameter that names the second model, in links and in the API."""


def other_models(engine: Engine) -> tuple[str, ...]:
    """Return the names of the other models on offer."""
    return tuple(name for name in usable() if name != engine.provenance.name)


def second_model(engine: Engine, name: str, *needs: str) -> Engine:
    """Return the model that answers beside another one.

    The heads of the classes that it `needs` must be trained.

    Raises:
        InputError: there is no such model.
        CheckpointError: it cannot answer, or both do not fit into memory.
    """
    offer = offered(name, BESIDE)
    facts = offered_facts(offer)
    remarks(name, facts, needs)
    limit, both = settings().model_bytes, engine.facts.memory_bytes + facts.memory_bytes
    if both > limit:
        raise CheckpointError(
            f"{engine.provenance.name} and {name} take about {both / 2**20:,.0f} MiB in memory; "
            f"this server keeps at most {limit / 2**20:,.0f} MiB of models. Choose a smaller one."
        )
    return open_engine(offer)
