"""Which models cannot be used, and why: known before anyone chooses them."""

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache

from app.engine.models.facts import offered_facts, stamp_of
from app.engine.models.fit import misfits
from app.engine.models.shelf import Kind, Offer, not_models, offers
from app.settings import settings
from bert_core.errors import BertError, CheckpointError, InputError

_PATIENCE = 2.0  # seconds: the rest of a long list is read when it is asked for again
_ONE_BY_ONE = threading.Lock()


def check(offer: Offer) -> None:
    """Check that a model can be loaded here, without reading its weights.

    Raises:
        BertError: it cannot; the message says why.
    """
    limit = settings().model_bytes
    needed = offered_facts(offer).memory_bytes
    if needed > limit:
        raise CheckpointError(
            f"{offer.name} takes about {needed / 2**20:,.0f} MiB in memory; this server keeps at "
            f"most {limit / 2**20:,.0f} MiB of models. Choose a smaller one."
        )


def refusals(on_offer: Mapping[str, Offer] | None = None) -> dict[str, str]:
    """Return why models on offer, and folders of the operator, cannot be used, by name.

    Reading many models for the first time takes a while; those not read within two seconds count
    as usable until the next call.
    """
    end = time.monotonic() + _PATIENCE
    found: dict[str, str] = {}
    for offer in (offers() if on_offer is None else on_offer).values():
        if offer.kind in (Kind.BUNDLED, Kind.UNTRAINED) or time.monotonic() > end:
            continue
        with _ONE_BY_ONE:  # threads that ask at the same time do not all read the same files
            if says := _refusal(offer, stamp_of(offer), settings().model_bytes):
                found[offer.name] = says
    return {**dict(not_models()), **found}


def usable() -> dict[str, Offer]:
    """Return the models on offer, by name, without those that cannot be used."""
    refused = refusals()
    return {name: offer for name, offer in offers().items() if name not in refused}


def offered(name: object, parameter: str = "model") -> Offer:
    """Return the model on offer under this name, which may come from a visitor.

    Raises:
        BertError: no such model is on offer, or it cannot be used.
    """
    table = offers()
    if isinstance(name, str) and name in table:
        return table[name]
    refused = refusals(table)
    if isinstance(name, str) and name in refused:
        raise CheckpointError(f"{name} cannot be used. {refused[name]}")
    raise InputError(
        f"{parameter}: found {repr(name)[:60]}; expected one of "
        f"{', '.join(each for each in table if each not in refused)}."
    )


def another_fitting(than: str, needs: Iterable[str]) -> str | None:
    """Return the first other trained model on offer without misfits; None if there is none.

    Args:
        than: the name of the model that is not meant.
        needs: the classes whose heads a page uses; see `misfits`.
    """
    for name, offer in usable().items():
        with suppress(BertError):
            facts = offered_facts(offer)
            if name != than and not facts.untrained and not misfits(facts, needs):
                return name
    return None


@lru_cache(maxsize=512)
def _refusal(offer: Offer, stamp: object, limit: int) -> str:
    """Say why a model cannot be used, "" if it can; `stamp` changes with its files."""
    try:
        check(offer)
    except BertError as error:
        return str(error)
    return ""
