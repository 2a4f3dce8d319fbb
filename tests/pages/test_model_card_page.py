"""Test the model card page with all files present, with none, and with a flipped bit."""

import re
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.engine.models import Engine
from app.features.model_card.task import model_card
from app.features.model_card.view import snippet
from bert_core.analysis.statistics_file import write_head_statistics
from bert_core.bundled.figures import Figure, write_figures
from bert_core.bundled.leanings import Bias, Estimate, Leaning, write_bias
from bert_core.verification import write_verification
from tests.conftest import NASTY
from tests.snippets import ran
from tests.visits import labels, markup, opened, press

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
    assert "cc0-1.0" in words(at) and "In a sentence about an occupation" in words(at)
    assert str(whole) not in markup(at)


@pytest.mark.parametrize(
    ("tab", "says"),
    [
        ("calibration", ["Hidden words 1 (not fitted)", "error"]),
        ("figures", ["It knows **nothing**.", "✓ Labels of words: trained.", "The file README.md"]),
        ("Beside BERT base", ["What is shown of this model need not hold for BERT base"]),
    ],
)
def test_everything_beside_the_weights_has_its_tab(whole: Path, tab: str, says: list[str]) -> None:
    at = card(tab=tab)
    assert not at.error and not at.warning
    assert all(each in words(at) for each in says) and str(whole) not in markup(at)


def test_what_the_model_can_is_said_with_its_figures_and_floors_are_in_the_file(
    whole: Path,
) -> None:
    said = words(card()).replace("\u00a0", " ")
    can, cannot = said.partition("It often fails to")[::2]
    assert "names (other texts): 70.0 % (60.0–80.0)" in can and "98.5 %" in can
    assert "choice (questions): 50.0 % (40.0–60.0; chance 25.0 %)" in cannot
    assert "words (some texts): 39.0 %" in cannot and "error (" not in said
    assert "extra (&lt;b&gt;own&lt;/b&gt;): 50.0 %" in cannot and "floor not reached" not in said


def test_a_card_is_shown_without_markup_pictures_or_links(whole: Path) -> None:
    (whole / "README.md").write_text(
        CARD + "\n".join(f"## {text}\n{text}\n" for text in NASTY.values()), encoding="utf-8"
    )
    at = card()
    found = markup(at)
    assert "<script" not in found and "![A cat](https://elsewhere.example/cat.png)" in found
    found = found.replace('<a href="gradio/model_card" ', "")  # the page's own way to the API
    found = re.sub(
        r'<a href="model_card\?model=whole-model&amp;tab=beside', "", found
    )  # the foot's
    assert "<a " not in found and "onerror=" not in re.sub(r">[^<]*<", "><", found)
    assert "src=" not in re.sub(r">[^<]*<", "><", found)


def test_sound_files_are_verified_in_words_and_sign(whole: Path) -> None:
    at = verified(card())
    said = words(at)
    assert "✓ Verified: the files are what they should be." in said
    assert "files are the same to the bit, 10 stored texts give the same tokens" in said
    assert re.search(r"Files read on \d\d \w+ \d{4}, \d\d:\d\d:\d\d UTC, in \d+\.\d s\.", said)
    assert 'class="bx-card-verdict bx-yes"' in markup(at)
    assert "BertForMaskedLM logits" in said and "heads/BertForQuestionAnswering/config.json" in said
    assert "✗" not in markup(at).partition("bx-card-verdict")[2].partition("bx-card-sign")[2][:9000]


def flip(path: Path, at: int = -1) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0b0100_0000
    path.write_bytes(content)


def test_a_flipped_bit_turns_the_verdict_red(whole: Path) -> None:
    file = "heads/BertForQuestionAnswering/model.safetensors"
    flip(whole / file)
    at = verified(card())
    said = words(at)
    assert "✗ Not verified: whole-model is not the model that was written. 1 of" in said
    assert 'class="bx-card-verdict bx-no"' in markup(at)
    fold = markup(at).partition("files and their hashes")[0].rpartition("<details")[2]
    assert "open=" in fold
    expected, found = re.search(rf"{file} ([0-9a-f]{{64}}) ([0-9a-f]{{64}}) ✗ no", said).groups()  # type: ignore[union-attr]
    assert expected != found


def test_a_file_that_is_gone_is_named_and_no_path_is_told(whole: Path) -> None:
    at = card()
    (whole / "vocab.txt").unlink()
    said = words(verified(at))
    assert "✓ Verified" not in said and "There is no tokenizer in whole-model" in said
    assert str(whole.parent) not in said


def test_a_model_with_nothing_beside_it_says_what_is_not_known(
    untrained_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bare"
    shutil.copytree(untrained_folder, folder)
    (folder / "README.md").unlink()
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(folder))
    at = card()
    said = words(at)
    assert "Verify this model" not in labels(at)
    for each in (
        "No figures are stored beside these weights", "There is nothing to compare with",
        "Biases: not measured", "No card (a file README.md) is stored", "not stated",
    ):  # fmt: skip
        assert each in said
    for tab in ("calibration", "beside"):
        at = card(tab=tab)
        assert not at.error and not at.warning


@pytest.mark.parametrize(
    ("named", "content"),
    [
        ("figures.json", b"[1]"),
        ("bias.json", b"{"),
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


def test_the_snippet_prints_the_figures_and_verifies_the_model(whole: Path) -> None:
    card = model_card(Engine(str(whole)))
    code = snippet(card, "whole-model").replace("'whole-model'", repr(str(whole)))
    printed = ran(code)[1].splitlines()
    assert printed[0] == "words some texts 0.39" and len(printed) == len(FIGURES) + 1
    assert printed[-1].startswith("True ")
    assert "bundled_folder('explorer-mini-uncased')" in snippet(card, "explorer-mini-uncased")
