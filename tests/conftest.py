"""Fixtures shared by many tests: a tiny model with distinct sizes, and nasty strings.

What belongs to the site is imported in its fixtures: the tests of the library run without the
packages of the site (`python -m tools.gpu`).

The hooks at the end divide the tests among several processes (`make test`).
"""

import gc
import logging
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, LoadScopeScheduling

from bert_core import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from bert_core.checkpoints.formats.safetensors_file import write_safetensors
from bert_core.model.pretrained import BertPreTrainedModel
from tests.loopback import Loopback

if TYPE_CHECKING:
    from app.engine.models import Engine

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "dog", "sat", "on", "mat", "river", "bank", "play", "##ing", "##ed"]
LETTERS = [c for letter in "abcdefghijklmnopqrstuvwxyz" for c in (letter, f"##{letter}")]
MARKS = [".", ",", "!", "?", "<", ">", "/", "'", "-", "海", "[", "]"]
VOCABULARY = SPECIALS + WORDS + LETTERS + MARKS

NASTY = {
    "script": "<script>alert('hi')</script> <img src=x onerror=alert(1)>",
    "markdown": "![x](http://example.invalid/x.png) **bold** :material/home: $x$ `code`",
    "controls": "a\x00b\x07c\x1b[31m d\u202etxt.exe\u200b e",
    "right to left": "القطة تنام والכלב ישן the cat",
    "accents": "Ünïcödé naïve Å",
    "chinese": "我们明天去看海。",
    "emoji": "👩‍🚀🍀 cat ☕️",
    "long word": "a" * 300,
    "masks in odd places": "[MASK][MASK]cat[MASK]. [mask] [ MASK ] [MASK",
    "specials": "[CLS] cat [SEP] dog [PAD] [UNK]",
    "line breaks": "the cat\n\n\tsat\r\non the mat",
}


def save_tiny(
    folder: Path,
    cls: type[BertPreTrainedModel],
    *,
    max_length: int = 48,
    vocabulary: Sequence[str] = VOCABULARY,
    layers: int = 2,
) -> Path:
    """Write a tiny random model with its vocabulary; every size differs from the others."""
    torch.manual_seed(7)
    config = BertConfig(
        len(vocabulary),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=37,
        max_position_embeddings=max_length,
        initializer_range=0.3,
    )
    cls(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\nTiny.\n", encoding="utf-8")
    return folder


def save_head(folder: Path, head: BertPreTrainedModel) -> None:
    """Save the head of a class without the encoder, as in the folders of bundled models."""
    place = folder / "heads" / type(head).__name__
    head.save_pretrained(place)
    (place / "model.safetensors").unlink()
    weights = {k: v for k, v in head.state_dict().items() if not k.startswith("bert.")}
    write_safetensors(place / "model.safetensors", weights)


@pytest.fixture(autouse=True)
def no_outside_requests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Point the Hub at a port that does not answer, and the caches at folders of the test."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("BERT_CORE_CACHE", str(tmp_path_factory.getbasetemp() / "archives"))
    monkeypatch.delenv("BERT_EXPLORER_CACHE", raising=False)
    monkeypatch.setattr(
        "huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path_factory.getbasetemp() / "hub")
    )


@pytest.fixture(autouse=True)
def main_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the main module back: AppTest leaves a script there, which new processes would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session", autouse=True)
def packages_are_scanned_once() -> None:
    """Spare each AppTest an eighth of a second."""
    if find_spec("streamlit"):
        from tests.compat.streamlit import scan_packages_once

        scan_packages_once()


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A local server in place of the Hub and of any other file server."""
    with Loopback() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with every head that a page needs, stored with random weights."""
    return save_heads(save_tiny(tmp_path_factory.mktemp("tiny-model"), BertForPreTraining))


def save_heads(folder: Path) -> Path:
    """Save the heads that pages need beside a tiny model."""
    base = BertForPreTraining.from_pretrained(folder)
    save_head(folder, BertForQuestionAnswering.from_model(base))
    base.config.id2label = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}
    save_head(folder, BertForTokenClassification.from_model(base))
    base.config.id2label = {0: "bad", 1: "good", 2: "odd"}
    save_head(folder, BertForSequenceClassification.from_model(base))
    base.config.id2label = {}
    save_head(folder, BertForMultipleChoice.from_model(base))
    return folder


@pytest.fixture(scope="session")
def second_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of another size, whose vocabulary cuts cat, sat and mat in two."""
    words = [word for word in VOCABULARY if word not in ("cat", "sat", "mat", "river")]
    folder = tmp_path_factory.mktemp("second") / "second-model"
    folder.mkdir()
    vocabulary = [*words, "ca", "sa", "ma", "moon"]
    return save_heads(save_tiny(folder, BertForPreTraining, vocabulary=vocabulary, layers=3))


@pytest.fixture
def second_model(second_folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Offer the second model beside the default one; return its name."""
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(second_folder))
    return second_folder.name


@pytest.fixture(scope="session")
def headless_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose file has no next-sentence head and no pooler."""
    return save_tiny(tmp_path_factory.mktemp("headless-model"), BertForMaskedLM)


@pytest.fixture(scope="session")
def untrained_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose file contains only an encoder, without any trained head."""
    return save_tiny(tmp_path_factory.mktemp("untrained-model"), BertModel)


@pytest.fixture(scope="session")
def todays_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with its tokenizer, saved by today's `transformers`: without `vocab.txt`."""
    import transformers

    folder = tmp_path_factory.mktemp("todays-model")
    pieces = {piece: number for number, piece in enumerate(VOCABULARY)}
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 37,
    }
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY), max_position_embeddings=48, initializer_range=0.3, **sizes
    )
    transformers.BertForPreTraining(config).save_pretrained(folder)
    tokenizer: Any = transformers.BertTokenizer(pieces, model_max_length=48)
    tokenizer.save_pretrained(folder)
    names = {path.name for path in folder.iterdir()}
    assert "tokenizer.json" in names and "vocab.txt" not in names
    return folder


@pytest.fixture
def tiny_model(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the tiny model the default model of the site."""
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(tiny_folder))
    return tiny_folder


@pytest.fixture(params=NASTY.values(), ids=NASTY.keys())
def nasty(request: pytest.FixtureRequest) -> str:
    """Each of the nasty strings in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def tiny_engine(tiny_folder: Path) -> "Engine":
    """The tiny model, loaded."""
    from app.engine.models import Engine

    return Engine(str(tiny_folder))


@pytest.fixture(scope="session")
def recorded_site(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All examples with the answers of the tiny model, as plain files."""
    folder = tmp_path_factory.mktemp("recorded") / "site"
    recorded(tiny_folder, folder, "2026-11-22")
    return folder


def recorded(model: Path, folder: Path, date: str) -> int:
    """Record a site; return its size."""
    from app.data.samples import sample
    from app.data.tables import Table
    from app.engine.compute.background import Background
    from app.engine.models import Engine
    from app.faces.recorded.writing import record
    from app.lessons.measured import stored
    from bert_core.analysis.head_statistics import fixed_texts

    def few(table: Table) -> Table:
        return replace(table, rows=table.rows[:12])

    with pytest.MonkeyPatch.context() as patched:
        # Counting the claims of all lessons on another model takes half a minute.
        patched.setattr(
            "app.lessons.claims.count_again", lambda _, name, *__: stored().claims[name]
        )
        patched.setattr("app.features.data.task.sample", lambda name: few(sample(name)))
        # Measuring all heads and training for the lab's page are in other tests.
        patched.setattr("app.features.atlas.task.MEASURED", Background())
        patched.setattr("app.features.atlas.task.fixed_texts", lambda: fixed_texts()[:20])
        engine = Engine(str(model))
        weights = engine.provenance.fingerprint
        patched.setattr("app.features.lab.task_finetune.weights_of", lambda _: weights)
        return record(engine, folder, date, lambda _: None)


# -- several processes -----------------------------------------------------------------------------

RECORDED = ("tests/e2e/test_recorded", "tests/app/faces/recorded/")
FIRST = ("tests/e2e/", *RECORDED)


class Scheduling(LoadFileScheduling):
    """Divide the tests by file, except those that share a server, a browser, a recorded site."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(FIRST):
            return FIRST[nodeid.startswith(RECORDED)]
        return super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Give the site's browser tests to one process, the rest of them to another, files to all."""
    config.option.loadscopereorder = False
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the browser tests, then with the files that have the most."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        count = Counter(item.path for item in items)
        items.sort(key=lambda item: (
            not item.nodeid.startswith(FIRST[0]), not item.nodeid.startswith(RECORDED),
            -count[item.path],
        ))  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare every test two searches: for garbage among what is imported, and through loggers.

    pytest adds itself, thrice a test, to each logger that does not hand on what it hears.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
        _let_loggers_hand_on()


def _let_loggers_hand_on() -> None:
    for each in logging.getLogger().manager.loggerDict.values():
        if isinstance(each, logging.Logger):
            each.propagate = True


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests in a file of tests: that takes as long as finding the tests."""
    found = yield
    return [each for each in found if type(each) is pytest.Module] or found


def pytest_configure() -> None:
    """Leave the other processes their cores."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    torch.set_num_threads(max(1, torch.get_num_threads() // workers))


if find_spec("gradio"):  # imported as by the site, also by the conftest of a folder
    from app.compat.gradio_import import write_no_stubs

    write_no_stubs()
