"""Heads by their roles: counted for all heads at once, named in values and in texts."""

import numpy as np
import pytest

from app.engine.models import Engine, open_engine
from app.features.attention.task import attention
from app.lessons.claims import count, figure, head_of, looked
from app.lessons.heads import named_heads
from app.lessons.looking import Looking
from app.lessons.measured import stored
from app.lessons.quantity import Reference
from app.lessons.records import Claim, Condition, Look
from app.lessons.shelf import claims, shelf
from bert_core.errors import InputError

TEXTS = ("The dog sleeps.", "She sold the old car.")


def claim(least: float, about: str = "previous") -> Claim:
    items = tuple((text,) for text in TEXTS)
    counts = (Condition((about,), least=least),)
    return Claim("X", "", "attention", items, Look({"text": "{0}"}), (), counts,
                 {"share": about}, role="x")  # fmt: skip


@pytest.mark.parametrize("least", [0.0, 0.3])
def test_the_head_with_a_role_is_the_one_whose_claim_holds_most_often(
    tiny_model: object, least: float
) -> None:
    engine = open_engine()
    shares = np.stack([attention(engine, text).statistics.to_previous for text in TEXTS])
    k = (shares >= least).sum(0)
    best = max(np.ndindex(*k.shape), key=lambda at: (k[at], shares.mean(0)[at]))
    found = count(engine, claim(least))
    assert (found.n, found.k, found.head) == (2, k[best], best)
    one = shares[:, best[0], best[1]]
    assert found.tell["share"] == pytest.approx(one.mean())


def test_a_claim_about_heads_leaves_out_texts_that_it_cannot_be_asked_of(
    tiny_model: object,
) -> None:
    engine = open_engine()
    with pytest.raises(InputError, match="finds no piece “dog”"):
        Looking(engine, "attention", Look({"text": TEXTS[1]})).value("looks:dog sleeps")
    assert count(engine, claim(0.0, "looks:dog sleeps")).n <= 1


def test_roles_are_stored_with_the_figures_and_computed_for_another_model(
    bundled: Engine, tiny_model: object
) -> None:
    for each in claims().values():
        assert (stored().claims[each.name].head is not None) == bool(each.role), each.name
    assert head_of(bundled, "previous") == stored().claims["F1"].head
    layer, head = head_of(bundled, "previous")
    says = ("word", f"head {head} of layer {layer}")
    assert figure(bundled, Reference("", "head", "previous")) == says
    other = open_engine()
    found = head_of(other, "previous")
    assert found == count(other, claims()["F1"]).head
    assert found[0] < other.provenance.layers and found[1] < other.provenance.heads


def test_values_name_heads_by_role_by_lot_and_by_need(bundled: Engine) -> None:
    layer, head = head_of(bundled, "subject")
    look = Look({"text": "The dogs [MASK] old.", "layer": "{head:subject}",
                 "head": "{head:subject}", "off": "{head:subject} 0.0"})  # fmt: skip
    values = looked(bundled, look).values
    assert (values["layer"], values["head"]) == (layer, head)
    assert values["off"] == f"{layer}.{head} 0.0"

    def names(off: str) -> list[str]:
        given = {"text": "The dogs [MASK] old.", "off": off}
        return str(named_heads(bundled, given, lambda _: (0, 0))["off"]).split()

    drawn = names("{random:36}")
    assert len(set(drawn)) == 36 and drawn == names("{random:36}") != names("{least:36}")
    xray = Look({"text": "The dogs [MASK] old.", "rank": True})
    needed = str(Looking(bundled, "xray", xray).value("needed"))
    assert names("{least:72}")[-1] == needed and needed not in names("{least:71}")


def test_no_head_is_typed_in_a_lesson() -> None:
    for lesson in shelf().lessons.values():
        for step in lesson.steps:
            for values in (step.look.values, *step.look.beside.values()):
                assert not isinstance(values.get("head"), int), lesson.slug
                assert not any(sign.isdigit() for sign in str(values.get("off", ""))[:1])
