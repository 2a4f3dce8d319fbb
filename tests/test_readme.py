"""Check that the code in the README runs exactly as shown."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core import BertForSequenceClassification, BertModel
from tests.conftest import save_tiny

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUNING = (ROOT / "docs" / "fine-tuning.md").read_text(encoding="utf-8")
OWN_HEAD = (ROOT / "docs" / "reference" / "own-head.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def snippet(part: str) -> str:
    """Return the one block of Python in the README that has a part."""
    (found,) = (block for block in BLOCK.findall(README) if part in block)
    return str(found)


def run(source: str, names: dict[str, Any]) -> str:
    """Run a block and return what it prints; its names are kept in `names`."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "README.md", "exec"), names)  # noqa: S102  code from our own README
    return printed.getvalue()


def test_every_python_block_is_run_by_a_test_below() -> None:
    assert len(re.findall(r"^```python$", README, re.M)) == len(BLOCK.findall(README)) == 2


def test_a_task_asked_in_a_notebook_prints_its_answer() -> None:
    said = run(snippet("from bert_explorer import ask"), {})
    assert said.startswith("The model would write “") and "'rank': 3" in said


def test_the_library_in_ten_lines_prints_five_guesses() -> None:
    said = run(snippet("from bert_core import"), {})
    guesses = re.findall(r"^([01]\.\d{3}) {2}(\S+)$", said, re.M)
    assert len(guesses) == 5
    assert [odds for odds, _ in guesses] == sorted((odds for odds, _ in guesses), reverse=True)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, next to a tiny encoder without trained heads."""
    save_tiny(tmp_path / "tiny", BertModel, max_length=128)
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield tmp_path
    torch.set_num_threads(threads)


def test_the_four_examples_of_fine_tuning_learn_their_rows(workshop: Path) -> None:
    texts, words, questions, choices = BLOCK.findall(TUNING)
    # Replace the bundled model by a tiny one, which needs steps as large as its weights.
    for real, tiny in (('"explorer-mini-uncased"', '"tiny"'), ("=1e-4,", "=5e-3,")):
        assert texts.count(real) == 1
        texts = texts.replace(real, tiny)
    names: dict[str, Any] = {}
    loss = r"loss 0\.\d{3} after 60 steps, 0 tokens cut off\n"

    assert re.fullmatch(loss, run(texts, names))
    again = BertForSequenceClassification.from_pretrained(workshop / "mine")
    assert again.config.id2label == {0: "no", 1: "yes"}
    batch = names["ft"].text_batch(names["tokenizer"], names["rows"], max_length=128)
    truth = batch.pop("labels")
    assert torch.equal(again(**batch).argmax(-1), truth)

    printed = run(words, names)
    assert re.match(loss, printed)
    assert printed.endswith("\ndish Lentil soup\nprice nine euros\n")

    printed = run(questions, names)
    assert re.fullmatch(loss + "answer: on the roof\n", printed)

    printed = run(choices, names)
    assert re.fullmatch(loss + "right: 2 of 2\n", printed)


def test_a_head_of_ones_own_learns_numbers_and_comes_back(workshop: Path) -> None:
    building, training = BLOCK.findall(OWN_HEAD)
    names: dict[str, Any] = {}
    said = run(building.replace('"explorer-mini-uncased"', '"tiny"'), names)
    assert said == "to be trained: score.weight score.bias\n"
    first, second = map(float, run(training.replace("=3e-4", "=5e-3"), names).split()[1:])
    assert abs(first - 5) < 1 and abs(second - 1.5) < 1
    again = names["again"].load_report
    assert again.missing == again.unexpected == ()


def test_every_make_target_the_readme_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake (\w+)$|`make (\w+)", README, re.M))
    targets = {first or second for first, second in named}
    assert {"run", "test"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.M)] == []
