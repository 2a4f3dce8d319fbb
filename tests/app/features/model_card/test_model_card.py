"""The model card without a page: what a model can, which way its errors go, what bias says."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.engine.models import Engine
from app.faces.streamlit.about import BESIDE
from app.faces.streamlit.address import old_labels
from app.features.model_card import view as model_card
from app.features.model_card.result import Verified
from app.features.model_card.task import model_card as card_of
from app.features.model_card.view import biases
from app.features.model_card.view_verified import report
from app.settings import BUNDLED_MODEL
from bert_core.bundled import bundled_folder
from bert_core.bundled.figures import Bin, Figure, read_figures
from bert_core.bundled.leanings import Bias, Estimate, Leaning
from bert_core.verification import FileCheck, OutputCheck, TextCheck, VerificationReport
from tests.drawings import words


def text_of(drawn: object) -> str:
    return " ".join(re.sub("<[^>]*>", " ", str(drawn)).replace("\u00a0", " ").split())


HOSTILE = Figure("<b>" * 30, "<img src=x>" * 9, 0.5, 0.4, 0.6, 9, "</ul>")


def test_names_of_figures_never_become_markup() -> None:
    drawn = f"{model_card.able([HOSTILE])}{model_card.errors_table([HOSTILE])}"
    assert "<b>" not in drawn and "<img" not in drawn and drawn.count("</ul>") == 1


def test_what_a_model_can_and_cannot_is_said_with_its_figures() -> None:
    figures = read_figures(bundled_folder(BUNDLED_MODEL))
    said = text_of(model_card.able(figures))
    can, cannot = said.partition("It often fails to")[::2]
    by_words = model_card.skills(figures)
    assert "It can" in can and len(by_words) == len(model_card._VERBS)
    for skill, each in by_words.items():
        printed = f"{skill}: {100 * each.share:.1f}"
        assert (printed in can) is (each.share >= 2 / 3 and each.low > (each.chance or 0))
        assert (printed in can) is not (printed in cannot)
    assert "chance 25.0" in cannot
    table = model_card.figures_table(figures)
    assert len(table) == len(figures) and {"floor", "goal", "95 % from"} <= set(table.columns)


def test_figures_of_unknown_tasks_are_named_and_chance_is_no_skill() -> None:
    lucky = Figure("a task", "data", 0.7, 0.4, 0.9, 9, "w", chance=0.5)
    said = text_of(model_card.able([lucky, replace(lucky, task="b", chance=None)]))
    can, cannot = said.partition("It often fails to")[::2]
    assert "b (data): 70.0" in can and "a task (data): 70.0" in cannot


def lean(occupation: str, log_odds: float, low: float, high: float) -> Leaning:
    return Leaning(occupation, Estimate(log_odds, low, high), log_odds, log_odds)


ROWS = (lean("nurse", -2.0, -2.5, -1.5), lean("judge", 1.0, 0.5, 1.5), lean("<b>", 0.1, -0.2, 0.4))
BIAS = Bias(
    ("he", "she"), ("t",) * 12, ROWS, Estimate(0.69, 0.5, 0.9), Estimate(0.5, 0.2, 0.8), -0.2
)


def test_bias_is_said_in_words() -> None:
    said = text_of(biases(BIAS))
    assert (
        "it prefers “he” or “she”: on average, the preferred word is 2.0 times as likely." in said
    )
    assert "Furthest towards “he”: judge. Furthest towards “she”: nurse." in said
    assert "“she” is 1.2 times as likely" in said and "judge +1.00, &lt;b&gt; +0.10" in said
    one_sided = text_of(biases(replace(BIAS, leanings=ROWS[1:])))
    assert "None leans towards “she”; nearest to it: &lt;b&gt;." in one_sided
    assert "not measured" in text_of(biases(None))


@pytest.mark.parametrize("agrees", [True, False])
def test_a_table_is_open_only_where_something_in_it_disagrees(agrees: bool) -> None:
    files = (FileCheck("a", "0", "0"), FileCheck("b", "0", "0" * agrees))
    outputs = (OutputCheck("BertModel", "x", (0,), 9, 1.0, 0.1, 0.0),)
    texts = (TextCheck("t", None, (1,), (1,)),)
    compared = VerificationReport("m", files, texts, outputs)
    found = Verified(compared, "f", True, datetime(2020, 1, 2, tzinfo=UTC), 1.0)
    folds = re.findall(r"<details([^>]*)><summary>(.*?)</summary>", str(report(found)))
    assert [title.partition(" ")[2] for _, title in folds] == [
        "outputs computed again",
        "files and their hashes",
    ]
    assert ["open" in attributes for attributes, _ in folds] == [False, not agrees]


def test_the_direction_of_each_calibration_error_is_said() -> None:
    rows = (
        Figure("shy", "m", 0.06, 0.0, 0.1, 10, "w", bins=(Bin(10, 0.839, 0.9),)),
        Figure("bold", "m", 0.05, 0.0, 0.1, 10, "w", bins=(Bin(4, 0.6, 0.5), Bin(6, 0.9, 0.8))),
        Figure("unknown", "m", 0.05, 0.0, 0.1, 10, "w"),
    )
    said = text_of(model_card.errors_table(rows))
    assert "underconfident by 6.1 points" in said and "overconfident by 10.0 points" in said
    assert said.endswith("unknown m 5.0 % – – –") and text_of(model_card.errors_table(())) == ""


def test_the_bundled_model_is_told_from_bert_base() -> None:
    engine = Engine(BUNDLED_MODEL)
    card = card_of(engine)
    told = {each.what: each for each in card.beside}
    assert (told["layers"].here, told["layers"].base) == ("6", "12")
    assert told["trained from"].here == engine.facts.began
    statistics = engine.head_statistics()
    assert statistics is not None
    by_layer = statistics.statistics.to_sep.mean(axis=1)
    assert told["attention of a layer to [SEP]"].here == (
        f"at most {100 * by_layer.max():.0f} %, in layer {by_layer.argmax()}"
    )
    kept = words("".join(map(str, model_card.screen(card).report().drawn())))
    assert all(each.here in kept and each.base in kept for each in card.beside)
    assert "floor" not in kept  # said in plain words


def test_a_model_without_papers_is_compared_by_its_sizes(tiny_engine: Engine) -> None:
    assert [each.what for each in card_of(tiny_engine).beside] == [
        "layers", "heads in a layer", "width of the vectors", "weights",
    ]  # fmt: skip


def test_the_foot_of_every_page_links_to_a_tab_that_is_there() -> None:
    assert BESIDE in [old_labels()["tab"][title] for title in model_card.TABS]
