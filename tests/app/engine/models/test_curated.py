"""Test the table of published models that are one click away."""

import re

from app.engine.models.curated import CURATED, PINNED
from app.engine.models.hub import parse_hub_id
from app.settings import ROOT
from bert_core.model.kinds import KINDS


def test_every_curated_model_has_a_valid_id_a_use_and_a_plausible_size() -> None:
    for each in CURATED:
        assert parse_hub_id(each.wanted.name, each.wanted.revision) == each.wanted
        assert re.fullmatch(r"[a-z][\w ,]+", each.can)
        assert 400 <= each.megabytes <= 450 or "/bert" not in each.wanted.name  # in 32-bit floats
        assert each.heads and set(each.heads) <= set(KINDS)
        assert each.licence in {"", "Apache 2.0", "MIT", "CC BY 4.0"}


def test_pinned_models_are_named_by_whole_commits() -> None:
    assert len(PINNED) >= 3
    assert {(each.wanted.name, each.commit) for each in CURATED} >= PINNED
    assert all(re.fullmatch("[0-9a-f]{40}", commit) for _, commit in PINNED)


def test_the_document_names_the_models_that_are_not_pinned() -> None:
    said = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    for each in CURATED:
        assert (f"`{each.wanted.name}`" in said) == (not each.commit)
