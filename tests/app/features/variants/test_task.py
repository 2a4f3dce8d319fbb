"""The six published models and an edited one: what is counted, and that its sources agree."""

import pytest

from app.declared import declared
from app.engine.models import Engine
from app.features.lab.result import link, of_address
from app.features.variants.task import MODEL, published, start_of, variants
from bert_core import BertModel
from bert_core.errors import InputError

SLUGS = [row["slug"] for row in published()]


def test_the_family_is_listed_by_year_with_everything_that_is_shown(tiny_engine: Engine) -> None:
    found = variants(tiny_engine)
    years = [each.about.year for each in found.family if each.about]
    assert years == sorted(years) and len(years) == 6
    for each in found.family:
        assert each.about and all((each.about.idea, each.about.objective, each.about.data))
        assert each.about.paper.startswith("https://arxiv.org/abs/")
        assert each.parameters.total / 1e6 == pytest.approx(each.about.published, abs=1.2)


def test_yours_is_at_first_the_chosen_model(tiny_engine: Engine) -> None:
    found = variants(tiny_engine, length=tiny_engine.max_length)
    real = sum(each.numel() for each in tiny_engine.model(BertModel).parameters())
    assert found.own.parameters.total == real
    assert (found.base, found.changed) == (MODEL, ())


@pytest.mark.parametrize("row", published(), ids=SLUGS)
def test_the_switches_of_the_lab_exist(row: dict[str, dict[str, str]]) -> None:
    if "lab" in row:
        assert link(of_address(row["lab"])) == row["lab"]
        assert row["shows"]


def test_what_the_lab_cannot_show_has_no_switch() -> None:
    assert [row["slug"] for row in published() if "lab" not in row] == ["distilbert", "electra"]


def test_every_model_can_be_the_start(tiny_engine: Engine) -> None:
    choices = next(each for each in declared("variants").parameters if each.name == "base").choices
    assert choices == (MODEL, *SLUGS)
    for number, slug in enumerate(SLUGS):
        found = variants(tiny_engine, slug, length=start_of(tiny_engine, slug).length)
        assert found.own.parameters == found.family[number].parameters
        assert found.own.flops == found.family[number].flops


def test_edits_change_yours_alone(tiny_engine: Engine) -> None:
    before, after = (
        variants(tiny_engine, "bert", layers=layers, width=1_024, heads=16) for layers in (12, 24)
    )
    assert before.family == after.family
    assert 2 * before.own.parameters.attention == after.own.parameters.attention
    assert (before.changed, after.changed) == (("width", "heads"), ("layers", "width", "heads"))
    assert after.own.parameters.total == 335_141_888  # BERT large


def test_a_long_text_is_computed_as_far_as_a_model_reads(tiny_engine: Engine) -> None:
    found = variants(tiny_engine, "bert", length=2_048)
    tokens = {each.slug: each.tokens for each in found.rows}
    assert tokens == {**dict.fromkeys(SLUGS, 512), "modernbert": 2_048, "own": 2_048}
    positions = found.own.parameters.embedding - found.family[0].parameters.embedding
    assert positions == (2_048 - 512) * 768


def test_heads_divide_the_width(tiny_engine: Engine) -> None:
    with pytest.raises(InputError, match="768 cannot be divided among 7 heads"):
        variants(tiny_engine, "bert", heads=7)
