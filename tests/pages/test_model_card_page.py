"""Test the model card page with all files present, with none, and with a flipped bit."""

import re
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.engine.models import Engine
from app.features.model_card.task import model_card
from app.features.model_card.view import screen, snippet
from bert_core.analysis.statistics_file import write_head_statistics
from bert_core.bundled.figures import Figure, write_figures
from bert_core.bundled.leanings import Bias, Estimate, Leaning, write_bias
from bert_core.verification import write_verification
from tests.conftest import NASTY
from tests.drawings import pictures
from tests.snippets import ran
from tests.visits import checked, labels, markup, opened, press, unopened

CURVE = """<svg xmlns="http://www.w3.org/2000/svg"><title>Loss of the tiny one</title>
<line y1="300"/><text text-anchor="end">0</text><line y1="100"/><text text-anchor="end">4</text>
<text x="60" text-anchor="middle">0</text><text x="660" text-anchor="middle">300</text>
<text x="5" text-anchor="middle">step</text><text>loss</text>
<polyline points="60,100 660,250"/><line/><text>masked</text></svg>"""
CARD = """---
license: cc0-1.0
---

# tiny

A model for tests. ![A cat](https://elsewhere.example/cat.png)

## Data

| text | licence |
|---|---|
| none <script>alert(1)</script> | [none](https://elsewhere.example) |

## Limits

- It knows **nothing**.
"""
FIGURES = [
    Figure("words", "some texts", 0.39, 0.38, 0.40, 17_613, "a right guess", 0.4, 0.5),
    Figure("names", "other texts", 0.70, 0.6, 0.8, 90, "found names", 0.62, 0.74),
    Figure("pairs", "other texts", 0.985, 0.97, 0.99, 800, "right verdicts", 0.95, 0.98),
    Figure("choice", "questions", 0.5, 0.4, 0.6, 60, "right choices", 0.25, 0.45, chance=0.25),
    Figure("error", "some texts", 0.03, 0.02, 0.04, 60, "an error", 0.04, lower_is_better=True),
    Figure("extra", "<b>own</b>", 0.5, 0.4, 0.6, 60, "not asked for"),
]


@pytest.fixture(scope="session")
def whole_folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with every optional file next to its weights."""
    folder = tmp_path_factory.mktemp("whole") / "whole-model"
    shutil.copytree(tiny_folder, folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    (folder / "curve-1.svg").write_text(CURVE, encoding="utf-8")
    write_figures(folder, FIGURES)
    even = Estimate(0.9, 0.5, 1.3)
    rows = tuple(Leaning(name, even, 0.9, 0.9) for name in ("nurse", "judge <b>"))
    write_bias(folder, Bias(("he", "she"), ("a", "b"), rows, even, Estimate(1, 0.5, 1), -0.2))
    write_head_statistics(folder)
    write_verification(folder)
    return folder


@pytest.fixture
def whole(whole_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the whole folder that a test may damage, as the default model."""
    folder = tmp_path / "whole-model"
    shutil.copytree(whole_folder, folder)
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    return folder


def card(**address: str) -> AppTest:
    return opened("pages/7_model_card.py", **address)


def verified(at: AppTest) -> AppTest:
    return press(at, "Verify this model")


def words(at: AppTest) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", markup(at)).split())


def test_the_page_opens_with_what_the_model_is_its_figures_and_the_button(whole: Path) -> None:
    at = card()
    assert not at.error and not at.warning
    assert "2 layers × 4 heads, 32 wide" in words(at)
    assert "Verify this model" in labels(at)
    assert list(pictures(at)) == ["figures"]
    assert str(whole) not in markup(at)


@pytest.mark.parametrize(
    ("tab", "said"),
    [
        ("Calibration", "Hidden words 1 (not fitted)"),
        ("Leanings", "In a sentence about an occupation"),
        ("Limits", "It knows nothing ."),
        ("Training", ""),
        ("Heads", "Means over 100 texts"),
        ("Trained for", "✓ Labels of words: trained."),
        ("Trained for", "✓ Hidden words: trained."),
        ("Verification", "All files are read again and hashed"),
        ("Card text", "The file README.md beside the weights"),
    ],
)
def test_everything_beside_the_weights_has_its_tab(whole: Path, tab: str, said: str) -> None:
    at = card(tab=tab)
    assert not at.error and not at.warning
    assert said in words(at)
    assert str(whole) not in markup(at)


def test_tabs_have_their_pictures_and_sections(whole: Path) -> None:
    assert "Loss of the tiny one" in pictures(card(tab="Training"))["curve-1"]
    assert "leanings" in pictures(card(tab="Leanings"))
    assert pictures(card(tab="Calibration")) == {}  # none of the figures is a calibration error
    folds = [each.label for each in card(tab="Card text").expander]
    assert {"Data", "Limits"} <= set(folds)
    assert "Data" in [each.label for each in card(tab="Training").expander]


def test_every_figure_is_beside_floor_and_goal_with_a_sign(whole: Path) -> None:
    said = words(card()).replace("\u00a0", " ")
    assert "words some texts 39.0 % 38.0–40.0 % 17,613 40.0 % 50.0 % ✗ floor not reached" in said
    assert "70.0 % 60.0–80.0 % 90 62.0 % 74.0 % ✓ floor reached, goal not" in said
    assert "95.0 % 98.0 % ✓ goal reached" in said
    assert "25.0 % (chance) 45.0 % ✓ goal reached" in said
    assert "at most 4.0 % – ✓ floor reached" in said
    assert "extra &lt;b&gt;own&lt;/b&gt; 50.0 %" in said
    assert "– – – nothing was set" in said
    assert "4 of 5 floors reached" in said


def test_figures_have_a_picture_with_words_and_a_table(whole: Path) -> None:
    shown = pictures(card())["figures"]
    assert (
        "4 figures as bars with their 95 % intervals: 2 reached the goal, 1 reached only the "
        "floor, 1 reached neither."
    ) in shown
    table = shown.partition("<tbody>")[2]
    shares = [row.split("<td")[3] for row in table.split("<tr>")[1:]]
    found = [float(re.search(r'data-value="(.*?)"', cell)[1]) for cell in shares]  # type: ignore[index]
    assert found == [0.39, 0.7, 0.985, 0.5]  # an error and what had no target: only in the table


def test_a_card_is_shown_without_markup_pictures_or_links(whole: Path) -> None:
    (whole / "README.md").write_text(
        CARD + "\n".join(f"## {text}\n{text}\n" for text in NASTY.values()), encoding="utf-8"
    )
    at = card(tab="Card text")
    found = markup(at)
    assert "<script" not in found and "elsewhere.example/cat.png" not in found
    found = found.replace('<a href="gradio/model_card" ', "")  # the page's own way to the API
    found = re.sub(
        r'<a href="model_card\?model=whole-model&amp;tab=beside', "", found
    )  # the foot's
    assert "<a " not in found and "onerror=" not in re.sub(r">[^<]*<", "><", found)
    assert "src=" not in re.sub(r">[^<]*<", "><", found)
    assert "[a picture, not loaded: A cat]" in found
    labels = " ".join(each.label for each in at.expander)
    assert "![" not in labels.replace("\\!", "").replace("\\[", "")


def test_a_card_beyond_all_measure_is_shown_in_part_and_that_is_said(whole: Path) -> None:
    (whole / "README.md").write_text("# long\n" + "word \n" * 40_000, encoding="utf-8")
    said = words(card(tab="Card text"))
    assert "It has 240,007 bytes; only the beginning is shown" in said


def test_sound_files_are_verified_in_words_and_sign(whole: Path) -> None:
    at = verified(card(tab="Verification"))
    said = words(at)
    assert "✓ Verified: the files are what they should be." in said
    assert "files are the same to the bit, 10 stored texts give the same tokens" in said
    assert re.search(r"Files read on \d\d \w+ \d{4}, \d\d:\d\d:\d\d UTC, in \d+\.\d s\.", said)
    assert 'class="bx-card-verdict bx-yes"' in markup(at)
    assert "BertForMaskedLM logits" in said and "heads/BertForQuestionAnswering/config.json" in said
    assert "✗" not in markup(at).partition("bx-card-verdict")[2].partition("bx-card-sign")[2][:9000]


def test_a_verdict_stays_while_something_else_is_chosen_and_goes_with_the_model(
    whole: Path, headless_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(headless_folder))
    at = verified(card(tab="Heads"))
    choice = next(group for group in at.button_group if group.key == "habit")
    choice.set_value("to_sep")
    assert "Verified: the files" in words(checked(at))
    at.selectbox(key="model").set_value(headless_folder.name)
    assert "Verified: the files" not in words(checked(at))


def flip(path: Path, at: int = -1) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0b0100_0000
    path.write_bytes(content)


@pytest.mark.parametrize(
    "file", ["model.safetensors", "heads/BertForQuestionAnswering/model.safetensors"]
)
def test_a_flipped_bit_turns_the_verdict_red(whole: Path, file: str) -> None:
    flip(whole / file)
    at = verified(card(tab="Verification"))
    said = words(at)
    assert "✗ Not verified: whole-model is not the model that was written. 1 of" in said
    assert 'class="bx-card-verdict bx-no"' in markup(at)
    fold = markup(at).partition("files and their hashes")[0].rpartition("<details")[2]
    assert "open=" in fold
    expected, found = re.search(rf"{file} ([0-9a-f]{{64}}) ([0-9a-f]{{64}}) ✗ no", said).groups()  # type: ignore[union-attr]
    assert expected != found


def test_files_are_read_again_at_every_press_also_after_they_were_loaded(whole: Path) -> None:
    at = verified(card())
    assert "✓ Verified" in words(at)
    flip(whole / "model.safetensors")
    at = verified(at)
    assert "✗ Not verified" in words(at)
    flip(whole / "model.safetensors")
    at = verified(at)
    assert "✓ Verified" in words(at)


def test_a_file_that_is_gone_is_named_and_no_path_is_told(whole: Path) -> None:
    at = card(tab="Verification")
    (whole / "vocab.txt").unlink()
    said = words(verified(at))
    assert "✓ Verified" not in said and "There is no tokenizer in whole-model" in said
    assert str(whole.parent) not in said


def test_expectations_that_are_damaged_themselves_are_an_error_and_nothing_is_kept(
    whole: Path,
) -> None:
    at = verified(card())
    flip(whole / "verification.safetensors")
    at = verified(at)
    assert "verification" in at.error[0].value
    assert "Verified: the files" not in words(at)


def test_without_expectations_there_is_nothing_to_compare_with(whole: Path) -> None:
    (whole / "verification.json").unlink()
    at = card()
    assert "There is nothing to compare with" in words(at)
    assert "Verify this model" not in labels(at)


def heads_of(at: AppTest) -> str:
    """Return the markup of the map of all heads."""
    return next(each for each in pictures(at).values() if "bx-att-heads-map" in each)


def test_the_map_of_heads_is_drawn_for_any_measure(whole: Path) -> None:
    at = card(tab="Heads", habit="Spread", layer="1", head="3")
    notes = re.findall(r'aria-label="Layer \d, head \d: (Spread: \d\.\d bits)"', heads_of(at))
    assert len(notes) == heads_of(at).count("data-pick") == 8
    assert "Means over 100 texts" in words(at)
    assert "do not belong" not in words(at)
    frame = at.dataframe[0].value
    assert len(frame) == 8 and "Spread (bits)" in frame


@pytest.mark.parametrize(
    ("picked", "marked"), [((1, 3), (1, 3)), ((2, 3), (0, 3)), ((1, 4), (1, 0)), ((-1, 9), (0, 0))]
)
def test_only_heads_that_the_model_has_are_marked(
    whole: Path, picked: tuple[int, int], marked: tuple[int, int]
) -> None:
    at = unopened("pages/7_model_card.py", tab="Heads")
    at.session_state["layer"], at.session_state["head"] = picked
    layer, head = marked
    marked = re.findall(r'data-head="([\d.]+)" stroke="#d55e00"', heads_of(checked(at)))
    assert marked == [f"{layer}.{head}"]


def test_statistics_of_other_weights_are_called_so(whole: Path) -> None:
    flip(whole / "model.safetensors")
    assert "They were measured on other weights." in words(card(tab="Heads"))


def test_a_model_with_nothing_beside_it_says_what_is_not_known(
    untrained_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(untrained_folder, folder)
    (folder / "README.md").unlink()
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    said = {tab: words(card(tab=tab)) for tab in ("Figures", "Heads", "Leanings", "Card text")}
    assert "No figures are stored beside these weights" in said["Figures"]
    assert "There is nothing to compare with" in said["Figures"]
    assert "Where the heads of bare usually look was not measured" in said["Heads"]
    assert "was not measured: there is no bias.json" in said["Leanings"]
    assert "No card (a file README.md) is stored" in said["Card text"]
    assert "LICENCE" in said["Figures"].upper() and "not stated" in said["Figures"]
    for tab in ("Calibration", "Limits", "Training", "Trained for", "Verification"):
        at = card(tab=tab)
        assert not at.error and not at.warning


@pytest.mark.parametrize(
    ("named", "content"),
    [
        ("figures.json", b"[1]"),
        ("bias.json", b"{"),
        ("curve-1.svg", b"x" * 600_000),
        ("README.md", None),  # a folder
    ],
)
def test_what_is_damaged_is_named_and_the_rest_is_shown(
    whole: Path, named: str, content: bytes | None
) -> None:
    (whole / named).unlink()
    if content is None:
        (whole / named).mkdir()
    else:
        (whole / named).write_bytes(content)
    at = card()
    assert not at.error
    note = markup(at).partition("Not everything beside the weights could be read")[2][:400]
    assert named in note and str(whole) not in note
    assert "Verify this model" in labels(at)


def test_damaged_statistics_stop_only_their_own_part(whole: Path) -> None:
    (whole / "head-statistics.json").write_text("{}", encoding="utf-8")
    at = card(tab="Heads")
    assert "head-statistics.json is damaged" in at.error[0].value
    assert "Verify this model" in labels(at)


def test_the_snippet_prints_the_figures_and_verifies_the_model(whole: Path) -> None:
    code = snippet("whole-model").replace("'whole-model'", repr(str(whole)))
    printed = ran(code)[1].splitlines()
    assert printed[0] == "words some texts 0.39" and len(printed) == len(FIGURES) + 1
    assert printed[-1].startswith("True ")
    assert "bundled_folder('explorer-mini-uncased')" in snippet("explorer-mini-uncased")


def test_a_kept_page_has_the_picture_the_table_and_the_card(whole: Path) -> None:
    blocks = "".join(map(str, screen(model_card(Engine(str(whole)))).report().drawn()))
    assert 'data-name="figures"' in blocks and "floor reached, goal not" in blocks
    assert "It knows <strong>nothing</strong>" in blocks and "<script" not in blocks
