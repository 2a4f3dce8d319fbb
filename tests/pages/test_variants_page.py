"""The variants page: its sizes follow the base, stay in the link, and refuse what cannot be."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.visits import checked, unopened


@pytest.fixture
def at(tiny_model: Path) -> AppTest:
    return unopened("pages/15_variants.py")


def sizes(at: AppTest) -> list[object]:
    numbers = [at.number_input(key=f"own_{name}").value for name in ("layers", "width")]
    words, tokens = (at.number_input(key=key).value for key in ("own_vocabulary", "tokens"))
    return [*numbers, int(at.selectbox(key="own_heads").value), words, tokens]


def test_another_base_brings_its_sizes(at: AppTest) -> None:
    assert not checked(at).warning
    assert sizes(at)[:3] == [2, 32, 4]
    at.button_group(key="base").set_value("modernbert").run()
    assert sizes(at) == [22, 768, 12, 50_368, 512]
    at.number_input(key="own_layers").set_value(6).run()
    assert sizes(at)[0] == 6
    at.button_group(key="base").set_value("albert").run()
    assert sizes(at) == [12, 768, 12, 30_000, 512]


def test_a_link_opens_an_edited_configuration(at: AppTest) -> None:
    link = {"base": "ALBERT", "own_layers": "24", "tokens": "128", "own_heads": "7"}
    at.query_params.update(link)  # 7 heads do not divide the width
    assert not checked(at).warning
    assert sizes(at) == [24, 768, 12, 30_000, 128]


def test_only_heads_that_divide_the_width_are_offered(at: AppTest) -> None:
    at.run()
    at.button_group(key="base").set_value("bert").run()
    assert {"1", "12", "16", "256"} <= set(at.selectbox(key="own_heads").options)
    assert "7" not in at.selectbox(key="own_heads").options
    at.number_input(key="own_width").set_value(64 * 7).run()
    assert not at.warning and not at.exception
    assert sizes(at)[1:3] == [448, 8]
    at.selectbox(key="own_heads").set_value("7").run()
    assert sizes(at)[2] == 7 and not at.warning
