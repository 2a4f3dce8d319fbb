"""Fine-tuning as a visitor sees it: result, own rows, bad rows, a server that trains nothing."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.visits import markup

TAB = """
from app.faces.streamlit.features import lab_finetune as controls_finetune
from app.faces.streamlit import page_shell

with page_shell("model_card") as page:
    controls_finetune.show(page)
"""
ROWS = "".join(f"the {('cat', 'dog')[n % 2]} sat {'!' * n}\t{('cat', 'dog')[n % 2]}\n"
               for n in range(1, 17))  # fmt: skip


@pytest.fixture
def at(tiny_model: Path) -> AppTest:
    return AppTest.from_string(TAB, default_timeout=120).run()


def own_rows(at: AppTest, text: str) -> None:
    at.button_group(key="rows").set_value("Your own rows").run()
    at.text_area[0].set_value(text)
    at.button_group(key="tune_steps").set_value(50).run()
    if not at.warning:
        at.button(key="_tune").click().run()


def test_a_ready_made_set_is_learned_measured_and_asked(at: AppTest) -> None:
    assert not at.exception and not at.error
    assert "28 rows to train on, 12 held out" in markup(at)
    at.button_group(key="tune_steps").set_value(50)
    at.button(key="_tune").click().run()
    found = markup(at)
    assert "of 12 held-out rows right" in found and "95 % interval" in found
    assert "What it gets wrong" in found
    at.text_input(key="_tune_try").set_value("The bank is closed.").run()
    assert "of the probability" in markup(at)
    assert "of 12 held-out rows right" in markup(at)


def test_own_rows_are_learned_and_found_by_nobody_else(at: AppTest, tiny_model: Path) -> None:
    own_rows(at, ROWS)
    assert not at.warning and "held-out rows right" in markup(at)
    stranger = AppTest.from_string(TAB, default_timeout=60).run()
    assert "held-out rows right" not in markup(stranger)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ROWS + "no tab here", "Line 17 has no tab"),
        ("the cat\tcat", "Found 1 row; expected at least 8"),
        (ROWS + "<b>bold</b>\t<i>new</i>", "of line 17 occurs only once"),
    ],
)
def test_a_bad_row_is_named_by_its_line(at: AppTest, text: str, says: str) -> None:
    own_rows(at, text)
    assert [says in each.value for each in at.warning] == [True]
    assert at.button(key="_tune").disabled


@pytest.mark.parametrize("chosen", ["", "Your own rows", "nothing like it"])
def test_the_address_chooses_and_an_empty_choice_is_the_default(
    tiny_model: Path, chosen: str
) -> None:
    at = AppTest.from_string(TAB, default_timeout=60)
    at.query_params.update({"rows": chosen, "labelled": "", "tune_steps": ""})
    at.run()
    assert not at.exception and not at.error and not at.warning
    own = chosen == "Your own rows"
    assert at.button_group(key="rows").value == (chosen if own else "Topics of sentences")
    assert at.button_group(key="tune_steps").value == 100
    assert at.button(key="_tune").disabled == own


@pytest.mark.parametrize("times", [1, 8], ids=["in the address", "kept for a day"])
def test_a_link_opens_with_own_rows(tiny_model: Path, at: AppTest, times: int) -> None:
    rows = "".join(ROWS.replace("sat", f"sat {'down ' * n}") for n in range(times))
    at.button_group(key="rows").set_value("Your own rows").run()
    at.text_area[0].set_value(rows).run()
    link = dict(at.query_params.items())
    assert ("kept" in link) == (times > 1)
    other = AppTest.from_string(TAB, default_timeout=60)
    # the browser writes a short text
    other.query_params.update(link if times > 1 else {**link, "rows_texts": rows})
    other.run()
    assert not other.exception and not other.warning
    assert other.text_area[0].value == rows and not other.button(key="_tune").disabled


def test_a_server_that_trains_nothing_shows_a_recorded_training(
    at: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_LAB", "off")
    at.run()
    assert "trains nothing" in markup(at)
    assert "_tune" not in [each.key for each in at.button]
    assert "of 12 held-out rows right" in markup(at)
    at.button_group(key="rows").set_value("Food in recipes").run()
    assert "held-out words right" in markup(at) and not at.exception
