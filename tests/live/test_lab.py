"""The lab in the browser beside Python: gradients, texts, batches, losses, and the saved model."""

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from app.features.lab.result import LabResult
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_corpora import corpus_of
from app.features.lab.task_grammar import documents
from app.features.lab.task_measuring import Measuring, best_fillings
from app.features.lab.task_model import LENGTH, make_batches, make_trainer, new_model
from app.features.lab.task_recorded import recorded
from app.features.lab.view import gaps
from app.features.lab.view_curves import accuracies, losses
from app.features.lab.view_words import outcome
from app.settings import LIVE
from bert_core import BertForPreTraining, BertTokenizer
from bert_core.checkpoints.saving import saved_files
from bert_core.pretraining import PretrainingBatch, joint_loss
from bert_core.text.batches import padded
from tests.live.conftest import Node, started
from tools.live import compiled, has_compiler, lab_tables

_UNTRAINED = ("bert.pooler.", "cls.seq_relationship.")
_GAP = "mary waits in the park because [MASK] is happy today ."
_MASKS = 2**32 - 1


class Shared(random.Random):
    """The generator of `live/lab.js`: sfc32 (Chris Doty-Humphrey), begun by the hash of a name."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Begin anew."""
        hashed = 0x811C9DC5
        for byte in str(a).encode():
            hashed = (hashed ^ byte) * 0x01000193 & _MASKS
        self.state = [hashed, 0x9E3779B9, 0x243F6A88, 1]
        for _ in range(12):
            self.getrandbits(32)

    def getrandbits(self, k: int, /) -> int:
        """Return up to 32 random bits."""
        a, b, c, d = self.state
        found = (a + b + d) & _MASKS
        turned = (c << 21 | c >> 11) & _MASKS
        self.state = [
            b ^ b >> 9,
            (c + (c << 3)) & _MASKS,
            (turned + found) & _MASKS,
            d + 1 & _MASKS,
        ]
        return found >> (32 - k)

    def random(self) -> float:
        """Return a multiple of 2^-24."""
        return self.getrandbits(24) / 2**24


class LabNode(Node):
    """A process of Node that trains."""

    def __init__(self) -> None:
        """Start Node."""
        self.process = started("lab.mjs", LIVE)


@pytest.fixture(scope="module")
def lab() -> Iterator[LabNode]:
    """Node with the lab."""
    found = LabNode()
    with found.process:
        yield found


@pytest.fixture(scope="module")
def tokenizer() -> BertTokenizer:
    """The tokenizer of the lab in the browser."""
    return BertTokenizer(json.loads((LIVE / "lab.json").read_bytes())["pieces"], max_len=LENGTH)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python and PyTorch draw their random numbers as the browser does."""
    corpus_of(LabSettings())  # is kept: what is held out is the same in both
    begun: dict[int, tuple[torch.Generator, Shared]] = {}
    torch.set_num_threads(1)  # as in the lab

    def source(generator: torch.Generator) -> Shared:
        made = generator, Shared(generator.initial_seed())
        return begun.setdefault(id(generator), made)[1]

    def many(shape: Sequence[int], draw: Callable[[], float]) -> torch.Tensor:
        return torch.tensor([draw() for _ in range(math.prod(shape))]).view(*shape)

    def rand(shape: Sequence[int], *, generator: torch.Generator) -> torch.Tensor:
        return many(shape, source(generator).random)

    def randint(high: int, shape: Sequence[int], *, generator: torch.Generator) -> torch.Tensor:
        drawn, every = source(generator), range(high)
        return many(shape, lambda: drawn.choice(every))

    def randperm(count: int, *, generator: torch.Generator) -> torch.Tensor:
        order = list(range(count))
        source(generator).shuffle(order)
        return torch.tensor(order)

    monkeypatch.setattr(random, "Random", Shared)
    for each in (rand, randint, randperm):
        monkeypatch.setattr(torch, each.__name__, each)


def _in_order(model: BertForPreTraining) -> list[str]:
    """Return the names of what is in a model, the three matrices of attention one after another."""
    names: list[str] = []
    for name in model.state_dict():
        place, attention, _ = name.partition(".attention.self.")
        if not attention:
            names.append(name)
        elif name.endswith("query.weight"):
            names += [f"{place}{attention}{part}.{leaf}" for leaf in ("weight", "bias")
                      for part in ("query", "key", "value")]  # fmt: skip
    return names


def _flat(model: BertForPreTraining, path: Path, *, of: str = "data") -> NDArray[Any]:
    """Return what learns in a model as one array, in the order of the model, and write it."""
    file = saved_files(model)["model.safetensors"]
    names = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    every = dict(model.named_parameters(remove_duplicate=False))
    parts = {id(every[name]): every[name] for name in _in_order(model)
             if name in names and not name.startswith(_UNTRAINED)}  # fmt: skip
    values = [getattr(part, of) for part in parts.values()]
    zeros = [torch.zeros_like(part) for part in parts.values()]
    rows = [
        (zero if value is None else value).flatten()
        for value, zero in zip(values, zeros, strict=True)
    ]
    found: NDArray[Any] = torch.cat(rows).detach().numpy()
    path.write_bytes(found.astype("<f4").tobytes())
    return found


def _batch(pieces: int) -> tuple[dict[str, list[int]], PretrainingBatch]:
    """Make rows of 2 to 20 random pieces, some of them to be predicted, in both forms."""
    rng = np.random.default_rng(pieces)
    rows = [rng.integers(5, pieces, size).tolist() for size in rng.integers(2, 21, 7)]
    places = [sorted(rng.permutation(len(row))[: 1 + n % 3].tolist()) for n, row in enumerate(rows)]
    labels = [rng.integers(5, pieces, len(each)).tolist() for each in places]
    firsts = np.cumsum([0, *map(len, rows)]).tolist()
    packed = {
        "ids": [each for row in rows for each in row],
        "lengths": list(map(len, rows)),
        "at": [firsts[n] + at for n, each in enumerate(places) for at in each],
        "labels": [each for row in labels for each in row],
    }
    mask = padded([[1] * len(row) for row in rows], 0)
    return packed, PretrainingBatch(
        padded(rows, 0), None, mask, padded(places, 0), padded(labels, -100)
    )


@pytest.mark.parametrize(
    ("settings", "pieces"),
    [
        (LabSettings(layers=1, heads=8, width=32), 30),
        (LabSettings(layers=2, heads=4, width=64, positions=False), 101),
        (LabSettings(layers=3, heads=2, width=64, shared=True), 77),
        (LabSettings(layers=4, heads=1, width=128), 215),
    ],
)
def test_gradients_are_those_of_autograd(
    lab: LabNode, tmp_path: Path, settings: LabSettings, pieces: int
) -> None:
    torch.manual_seed(pieces)
    model = new_model(settings, pieces)
    for part in model.parameters():
        if part.dim() == 1:
            part.data += 0.1 * torch.randn_like(part)  # neither ones nor zeros
    given, batch = _batch(pieces)
    path, out = tmp_path / "weights", tmp_path / "gradients"
    _flat(model, path)
    loss = joint_loss(model.double(), batch).masked_lm
    loss.backward()  # type: ignore[no-untyped-call]
    found = lab("gradients", settings=asdict(settings), pieces=pieces, path=str(path),
                out=str(out), batch=given)  # fmt: skip
    assert found == pytest.approx(loss.item(), abs=1e-5)
    wanted = _flat(model, path, of="grad")
    assert abs(wanted).max() > 0.01
    np.testing.assert_allclose(np.fromfile(out, "<f4"), wanted, rtol=0, atol=1e-4)


def test_both_languages_have_the_same_random_numbers(lab: LabNode) -> None:
    for name in ("0 documents", "3", "ä"):
        source, order = Shared(name), [1, 2, 3, 4, 5]
        wanted = [source.getrandbits(32), source.random(), source.choice(range(10))]
        source.shuffle(order)
        assert lab("numbers", name=name) == [*wanted, order]


@pytest.mark.usefixtures("shared")
def test_texts_are_drawn_by_the_rules_of_python(lab: LabNode) -> None:
    held_out = corpus_of(LabSettings()).phenomena
    wanted = [list(each) for each in documents(4_000, held_out)]
    assert lab("texts", sentences=4_000, shuffled=False) == wanted
    source = Shared(0)
    for each in (words := [text.split(" ") for text in wanted[0]]):
        source.shuffle(each)
    assert lab("texts", sentences=4, shuffled=True) == [[" ".join(each) for each in words]]


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("rate", [15, 30, 80])
def test_batches_are_those_of_python(lab: LabNode, tokenizer: BertTokenizer, rate: int) -> None:
    whole = corpus_of(LabSettings())
    corpus = replace(whole, documents=whole.documents[:40])  # 160 rows: several epochs
    batches = make_batches(LabSettings(mask_rate=rate, seed=3), corpus, tokenizer)
    rows = tokenizer.encode_ids(list(corpus.sentences))
    for step, found in enumerate(lab("batches", rows=rows, rate=rate / 100, steps=6)):
        (batch,) = batches(step)
        real = batch.attention_mask.bool()
        assert found["ids"] == batch.input_ids[real].tolist()
        assert found["lengths"] == real.sum(1).tolist()
        kept = batch.position_labels >= 0
        first = torch.tensor([0, *found["lengths"][:-1]]).cumsum(0)[:, None]
        assert found["at"] == (batch.positions + first)[kept].tolist()
        assert found["labels"] == batch.position_labels[kept].tolist()


@pytest.mark.usefixtures("shared")
def test_a_hundred_steps_have_the_losses_of_python(
    lab: LabNode, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    settings = LabSettings(sentences=200)
    whole = corpus_of(settings)
    corpus = replace(whole, documents=documents(settings.sentences, whole.phenomena))
    torch.manual_seed(settings.seed)
    model = new_model(settings, len(tokenizer.vocab))
    _flat(model, tmp_path / "weights")
    trainer = make_trainer(settings, model, make_batches(settings, corpus, tokenizer))
    lab("begin", settings={"sentences": 200}, path=str(tmp_path / "weights"))
    found = lab("train", steps=100)
    wanted = [trainer.step().loss for _ in range(100)]
    assert wanted[-1] < 0.6 * wanted[0]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-3)


@torch.inference_mode()
def test_a_model_trained_here_gives_the_same_answers_in_python(
    lab: LabNode, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    assert lab("begin", settings={"heads": 2, "shared": True, "sentences": 200}) > 50_000
    first = lab("look")
    lab("train", steps=80)
    found = lab("look")
    assert found["held_out"] < first["held_out"] - 1
    for step in (None, 0):
        point = first if step == 0 else found
        lab("save", path=str(tmp_path / "saved.zip"), step=step)
        ZipFile(tmp_path / "saved.zip").extractall(tmp_path / f"saved-{step}")
        model = BertForPreTraining.from_pretrained(tmp_path / f"saved-{step}").eval()
        opened = BertTokenizer.from_pretrained(tmp_path / f"saved-{step}")
        assert opened.vocab == tokenizer.vocab
        measuring = Measuring(opened, corpus_of(LabSettings()), LENGTH)
        assert point["accuracy"] == pytest.approx(measuring.accuracy(model))
        for guesses, wanted in zip(point["guesses"], measuring.guesses(model), strict=True):
            assert [word for word, _ in guesses] == [word for word, _ in wanted]
            np.testing.assert_allclose([p for _, p in guesses], [p for _, p in wanted], atol=1e-5)
        ids = opened.encode(_GAP).input_ids
        scores = model.scores_at(
            torch.tensor([ids]), torch.tensor([[ids.index(opened.mask_token_id)]])
        )[0]
        (filled,) = lab("fill", text=_GAP.upper().replace("[MASK]", "___"), step=step)
        for (word, share), (best, wanted_share) in zip(
            filled, best_fillings(scores, opened, 5), strict=True
        ):
            assert word == best
            assert share == pytest.approx(wanted_share, abs=1e-5)


def test_a_run_that_goes_astray_says_so_and_changes_nothing(lab: LabNode) -> None:
    lab("begin", settings={"learning_rate": 1e30, "sentences": 200})
    lab("train", steps=20)
    assert "not a finite number" in lab("diverged")


@pytest.fixture(scope="module")
def usual() -> LabResult:
    """The recorded run."""
    found = recorded(LabSettings())
    assert found is not None
    return found


def _as_given(run: LabResult) -> dict[str, Any]:
    """Return a run as the browser has it."""
    said = json.loads(json.dumps(asdict(run), default=lambda each: None))
    said["start"]["watched"] = [(each.text, each.answer) for each in run.start.watched]
    return {name: said[name] for name in ("start", "points")}


def _listed(node: Any) -> str:
    """Write what a browser draws, one part a line."""
    if isinstance(node, str):
        return f"{node}\n"
    inside = "".join(map(_listed, node["children"]))
    attributes = {name: value for name, value in node["attributes"].items() if name != "xmlns"}
    return f"{node['name']} {sorted(attributes.items())}\n{inside}/{node['name']}\n"


def _parsed(markup: str) -> str:
    """Write markup in the same way."""
    parts = []
    for end, name, attributes, text in re.findall(r"<(/?)(\w+)([^>]*)>|([^<]+)", markup):
        found = sorted(re.findall(r'([\w-]+)="([^"]*)"', re.sub(r'xmlns="[^"]*"', "", attributes)))
        parts.append(unescape(text) or (f"/{name}" if end else f"{name} {found}"))
    return "".join(f"{part}\n" for part in parts)


@pytest.mark.parametrize("width", ["narrow", "wide"])
def test_a_run_is_drawn_as_python_draws_it(lab: LabNode, usual: LabResult, width: str) -> None:
    size, spare = {"narrow": (380, 0), "wide": (760, 30)}[width]
    nodes = lab("draw", run=_as_given(usual), width=size, spare=spare)
    drawn = getattr(losses([usual]), width), getattr(accuracies([usual]), width)
    for node, markup in zip(nodes, (*drawn, gaps(usual, usual.points[-1])), strict=True):
        found = re.sub(r"\s+", " ", _listed(node))
        wanted = re.sub(r"\s+", " ", _parsed(str(markup)))
        number = re.compile(r"\d+\.?\d*")
        assert number.sub("#", found) == number.sub("#", wanted)
        pairs = zip(number.findall(found), number.findall(wanted), strict=True)
        assert [each for each in pairs if abs(float(each[0]) - float(each[1])) > 0.011] == []


def test_what_came_of_a_prediction_is_what_python_says(lab: LabNode, usual: LabResult) -> None:
    way = usual.points[-1].way(usual.start.phenomena)
    assert lab("outcome", run=_as_given(usual), changed=False, usual=way) == outcome(usual, None)
    changes = LabSettings(layers=1), LabSettings(mask_rate=80), LabSettings(positions=False)
    for settings in changes:
        run = recorded(settings)
        assert run is not None
        assert lab("outcome", run=_as_given(run), changed=True, usual=way) == outcome(run, usual)


@pytest.mark.skipif(not has_compiler(), reason="the compiler that wrote lab.wasm is not installed")
def test_the_source_gives_the_committed_lab() -> None:
    assert compiled("lab") == (LIVE / "lab.wasm").read_bytes()


def test_the_tables_are_those_of_the_lab() -> None:
    assert json.loads((LIVE / "lab.json").read_bytes()) == json.loads(lab_tables())
