"""Ask a model by its name, and say why it cannot answer."""

from collections.abc import Mapping
from typing import Any

from app.catalog import Feature
from app.declared import Declared
from app.models import Engine, offers, open_engine
from app.models.fit import Misfit, Severity, misfits
from app.words.html import visible
from bert_core.errors import CheckpointError, InputError


def engine_of(model: object) -> Engine:
    """Return the model of this name, loaded if necessary.

    Args:
        model: its name among `offers`; "" for the first one.

    Raises:
        BertError: no such model is on offer, or it cannot be loaded.
    """
    table = offers()
    name = model or next(iter(table))
    if not isinstance(name, str) or name not in table:
        found = visible(str(model)[:60])
        raise InputError(f"model: found {found!r}; expected one of {', '.join(table)}.")
    return open_engine(table[name])


def reasons(engine: Engine, row: Feature) -> tuple[Misfit, ...]:
    """Return why this model cannot answer; () if it can, remarks aside."""
    if not row.takes_text:  # such a page shows the model, whatever it can do
        return ()
    found = misfits(engine.facts, row.needs)
    return tuple(each for each in found if each.severity is not Severity.REMARK)


def ask(declared: Declared, given: Mapping[str, object], model: object) -> Any:
    """Return the result of a task.

    Raises:
        BertError: the model cannot answer, or a value cannot be used.
    """
    engine = engine_of(model)
    against = reasons(engine, declared.feature)
    if against:
        name = engine.provenance.name
        says = " ".join(each.says for each in against)
        raise CheckpointError(f"{name} cannot answer here, and nothing is made up. {says}")
    return declared.run(engine, given)
