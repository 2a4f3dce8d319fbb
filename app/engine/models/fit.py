"""The rules that decide whether a model suits a page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from app.engine.models.facts import HeadFacts, ModelFacts
from bert_core.errors import CheckpointError, count
from bert_core.model.kinds import KINDS, ModelKind

_SHORTEST = 16  # tokens; fewer are too few for a sentence
KNOWS_NOTHING = "This model was never trained: its weights are random, and it knows nothing."
"""The notice beside every answer of an untrained twin."""


class Severity(Enum):
    """How serious a misfit is: what the page can still do."""

    REMARK = "it answers; the visitor should know something first"
    NOISE = "its answers would be random"
    UNUSABLE = "it cannot answer at all"


@dataclass(frozen=True, slots=True)
class Misfit:
    """One reason why a model does not suit a page."""

    severity: Annotated[Severity, "what the page can still do"]
    says: Annotated[str, "the reason, in one or two sentences"]
    names: Annotated[tuple[str, ...], "the parameters concerned; may be ()"] = ()


def misfits(facts: ModelFacts, needs: Iterable[str]) -> tuple[Misfit, ...]:
    """Return the reasons against using a model on a page, most serious first.

    Args:
        facts: what the model contains.
        needs: the classes whose heads the page uses, as named in the catalog.
    """
    kinds = tuple(KINDS[name] for name in needs)
    found = [Misfit(Severity.UNUSABLE, says) for says in _of_all(facts, kinds)]
    for kind in kinds:
        found += _of_head(kind, facts)
    order = (Severity.UNUSABLE, Severity.NOISE, Severity.REMARK)
    return tuple(sorted(found, key=lambda misfit: order.index(misfit.severity)))


def notices(facts: ModelFacts, which: str = "This model") -> tuple[str, ...]:
    """Return what must be known before any answer of a model, called `which`."""
    return (KNOWS_NOTHING.replace("This model", which),) if facts.untrained else ()


def remarks(name: str, facts: ModelFacts, needs: Iterable[str]) -> tuple[str, ...]:
    """Return what should be known about a model before its answer.

    Args:
        name: of the model.
        facts: what the model contains.
        needs: as in `misfits`.

    Raises:
        CheckpointError: it cannot answer, or only with random weights.
    """
    unfit = misfits(facts, needs)
    says = tuple(each.says for each in unfit)
    if any(each.severity is not Severity.REMARK for each in unfit):
        raise CheckpointError(f"{name} cannot answer here. {' '.join(says)}")
    return says


def _of_all(facts: ModelFacts, kinds: tuple[ModelKind, ...]) -> Iterator[str]:
    """Yield why a model cannot be used, whatever its heads are."""
    scores_words = any(kind.has_axis("V") for kind in kinds)
    lacking = [token for token in facts.framing[: 2 + scores_words] if token in facts.lacking]
    if lacking:
        verb = "it is" if len(lacking) == 1 else "they are"
        yield f"Its vocabulary has no {' and '.join(lacking)}; {verb} needed on this page."
    if facts.positions < _SHORTEST:
        yield f"It reads at most {facts.positions} tokens; a sentence needs {_SHORTEST} or more."
    if not facts.reads_pairs and any(kind.reads_pairs for kind in kinds):
        yield (
            "It has only one token type, so it cannot tell two texts of one input apart; this page "
            "gives it two."
        )


def _of_head(kind: ModelKind, facts: ModelFacts) -> Iterator[Misfit]:
    """Check that one head can be built, is trained, and names its labels."""
    head = facts.heads[kind.name]
    if head.lacks:
        yield Misfit(Severity.UNUSABLE, head.lacks)
    elif head.mismatched:
        labels = f", which has {count(head.outputs, 'label')}" if head.outputs else ""
        says = f"The shapes of its {kind.head} contradict its own configuration{labels}, so it "
        yield Misfit(Severity.UNUSABLE, f"{says}cannot be loaded.", head.mismatched)
    elif head.missing:
        yield Misfit(Severity.NOISE, _untrained(kind, head, facts), head.missing)
    elif kind.has_axis("C") and head.outputs > 1 and not head.labels:
        says = f"It does not say what its {head.outputs} labels mean; they are shown as LABEL_0 to "
        yield Misfit(Severity.REMARK, f"{says}LABEL_{head.outputs - 1}.")


def _untrained(kind: ModelKind, head: HeadFacts, facts: ModelFacts) -> str:
    """Describe missing weights in words."""
    if all(part.startswith("bert.") for part in head.missing):
        return f"This checkpoint has a {kind.head}, but not all of the weights below it."
    says = f"This checkpoint has no trained {kind.head}."
    if "classifier.weight" not in head.missing or facts.classifier_of is None:
        return says
    owner = KINDS.get(facts.classifier_of)
    belongs = f"is a {owner.head}" if owner else "does not say what it classifies"
    return (
        f"{says} Its classifier {belongs}; weights of both kinds have the same names, but one "
        "cannot replace the other."
    )
