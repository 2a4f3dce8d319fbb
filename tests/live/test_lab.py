"""The lab in the browser beside Python: texts, batches, gradients, losses, and saved models."""

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from app.features.lab.task import recorded
from app.features.lab.view import accuracies, gaps, losses
from app.settings import LIVE
from bert_core import BertConfig, BertForPreTraining, BertTokenizer
from bert_core.checkpoints.saving import saved_files
from bert_core.finetuning import Budget, Loss, Trainer, TrainerSettings
from bert_core.pretraining import (
    PretrainingBatch,
    PretrainingBatches,
    build_vocabulary,
    joint_loss,
    split_sentences,
)
from bert_core.text.batches import padded
from bert_core.text.tokenizer import BasicTokenizer
from tests.live.conftest import Node, started
from tools.live import compiled, has_compiler

TABLES = json.loads((LIVE / "lab.json").read_bytes())
RUNS = {path.stem: json.loads(path.read_bytes()) for path in (LIVE / "runs").glob("*.json")}
USUAL = RUNS["usual"]["start"]["settings"]
LENGTH, BATCH = 64, 64
OWN = "\n".join(
    f"Dr. {name} went to Málaga with {n} 犬s 🦊 and the {thing}. “Why [MASK]?” I said: don't!"
    for n, (name, thing) in enumerate(
        product(("Ann", "Bo", "Eve", "Zoë"), ("hats", "cats", "mats", "hat"))
    )
)
_SECOND = ("bert.pooler.", "cls.seq_relationship.")
_GAP = "mary waits in the park because [MASK] is happy today ."
_MASKS = 2**32 - 1


class Shared(random.Random):
    """The generator of `live/lab_text.js`: sfc32 (Chris Doty-Humphrey), begun by a name's hash."""

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


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python and PyTorch draw their random numbers as the browser does."""
    begun: dict[int, tuple[torch.Generator, Shared]] = {}
    torch.set_num_threads(1)  # as in the browser

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


# -- texts -----------------------------------------------------------------------------------------


def test_both_languages_have_the_same_random_numbers(lab: LabNode) -> None:
    for name in ("0 documents", "3", "ä"):
        source, order = Shared(name), [1, 2, 3, 4, 5]
        wanted = [source.getrandbits(32), source.random(), source.choice(range(10))]
        source.shuffle(order)
        assert lab("numbers", name=name) == [*wanted, order]


def _sentences(pattern: dict[str, Any]) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the words of every sentence of a pattern, with its weight."""
    axes = [[(row[0], dict(zip(axis["gaps"], row[2:], strict=True))) for row in axis["rows"]]
            for axis in pattern["axes"]]  # fmt: skip
    for options in product(*axes):
        words = {gap: word for _, each in options for gap, word in each.items()}
        yield words, math.prod(weight for weight, _ in options)


def _probes(phenomena: list[dict[str, Any]]) -> set[str]:
    """Return the sentences with which phenomena are measured."""
    probes = (probe for each in phenomena for probe in each["probes"])
    return {text.replace("[MASK]", answer) for text, answer in probes}


@pytest.mark.parametrize("phenomenon", TABLES["phenomena"], ids=lambda each: each["name"])
def test_floors_and_ceilings_follow_from_all_sentences_of_the_grammar(
    phenomenon: dict[str, Any],
) -> None:
    template, gap = TABLES["patterns"][phenomenon["pattern"]], phenomenon["gap"]
    contexts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, weight in _sentences(template):
        contexts[template["pattern"].format_map({**words, gap: "[MASK]"})][words[gap]] += weight
    answers = sum(contexts.values(), Counter[str]())
    best = sum(max(found.values()) for found in contexts.values())
    assert phenomenon["ceiling"] == pytest.approx(best / answers.total())
    assert phenomenon["floor"] == pytest.approx(max(answers.values()) / answers.total())
    assert len({text for text, _ in phenomenon["probes"]}) >= 100
    assert all(answer in contexts[text] for text, answer in phenomenon["probes"])


def test_texts_follow_the_grammar_and_leave_out_what_measures_them(lab: LabNode) -> None:
    found = lab("corpus", settings={"sentences": 4_000})
    patterns = [(each["pattern"], _sentences(each)) for each in TABLES["patterns"]]
    every = {pattern.format_map(words) for pattern, all_ in patterns for words, _ in all_}
    texts = {sentence for text in found["documents"] for sentence in text}
    assert [len(text) for text in found["documents"]] == [4] * 1_000
    assert texts <= every
    assert not texts & _probes(found["phenomena"])
    assert set(found["held"]) <= _probes(found["phenomena"])


def test_every_fact_is_read_in_three_wordings_and_asked_in_the_fourth(lab: LabNode) -> None:
    found = lab("corpus", settings={"corpus": "facts"})
    texts = [sentence for text in found["documents"] for sentence in text]
    wordings = TABLES["facts"]["sentences"]
    assert len(texts) == len(TABLES["facts"]["countries"]) * 3 * len(wordings)
    assert not _probes(found["phenomena"]) & set(texts)
    assert {len(each["probes"]) for each in found["phenomena"]} == {45}


def test_an_own_text_is_split_as_python_splits_it(lab: LabNode) -> None:
    wanted = [s for line in OWN.splitlines() for s in split_sentences(line)]
    split = BasicTokenizer(do_lower_case=True).tokenize
    wanted = [each for each in wanted if len(split(each)) > 2]
    found = lab("corpus", settings={"corpus": "own"}, text=OWN)
    kept = [each for n, each in enumerate(wanted) if n % 10 != 9]
    assert [each for text in found["documents"] for each in text] == kept
    assert found["held"] == wanted[9::10]
    assert "at least 20" in lab("refused", text="One two three. " * 19)
    for paragraph in ("A?! B (c. 1) Mr. X.  “Yes.” No…", "", "e.g. This。そう。"):
        assert lab("sentences", text=paragraph) == split_sentences(paragraph)


@pytest.mark.parametrize("size", [90, 120, 2_000])
def test_a_vocabulary_is_that_of_python(lab: LabNode, size: int) -> None:
    texts = [*OWN.splitlines(), "aaaa aaaa aaaaa 𝄞x \ue000x ﬁ İstanbul co\u0308op", "x" * 101]
    assert lab("vocabulary", texts=texts, size=size) == build_vocabulary(texts, size=size)


# -- rows ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("pairs", [False, True], ids=["sentences", "pairs"])
@pytest.mark.parametrize(("rate", "words"), [(15, False), (80, False), (30, True)])
def test_batches_are_those_of_python(lab: LabNode, rate: int, words: bool, pairs: bool) -> None:
    texts = lab("corpus", settings={"sentences": 160})["documents"]  # several epochs
    pieces = build_vocabulary([s for text in texts for s in text], size=70)  # words of many pieces
    tokenizer = BertTokenizer(pieces, max_len=LENGTH)
    documents = [tokenizer.encode_ids(text, add_special_tokens=False) for text in texts]
    batches = PretrainingBatches(documents, tokenizer.vocab, batch_size=BATCH, length=LENGTH,
        mask_rate=rate / 100, whole_words=words, next_sentence=pairs, seed=3)  # fmt: skip
    drawn = lab("batches", documents=documents, pieces=pieces, pairs=pairs, rate=rate / 100,
                words=words, seed=3, steps=4)  # fmt: skip
    for step, found in enumerate(drawn):
        (batch,) = batches(step)
        assert batch.attention_mask is not None
        assert batch.positions is not None
        assert batch.position_labels is not None
        real = batch.attention_mask.bool()
        assert found["ids"] == batch.input_ids[real].tolist()
        assert found["lengths"] == real.sum(1).tolist()
        kept = batch.position_labels >= 0
        first = torch.tensor([0, *found["lengths"][:-1]]).cumsum(0)[:, None]
        scored = list(zip(found["at"], found["labels"], strict=True))
        at, labels = (batch.positions + first)[kept].tolist(), batch.position_labels[kept].tolist()
        assert [each for each in scored if each[1] >= 0] == list(zip(at, labels, strict=True))
        if pairs:
            assert batch.token_type_ids is not None
            assert batch.next_sentence_label is not None
            assert found["types"] == batch.token_type_ids[real].tolist()
            assert found["follows"] == batch.next_sentence_label.tolist()
            assert [place for place, label in scored if label < 0] == first.flatten().tolist()


# -- the model -------------------------------------------------------------------------------------


def _model(pieces: int, **changes: Any) -> BertForPreTraining:
    """Build the model of a run."""
    settings = {**USUAL, **changes}
    model = BertForPreTraining(
        BertConfig(
            pieces,
            hidden_size=settings["width"],
            num_hidden_layers=settings["layers"],
            num_attention_heads=settings["heads"],
            intermediate_size=4 * settings["width"],
            max_position_embeddings=LENGTH,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=settings["width"] ** -0.5,
        )
    )
    if not settings["positions"]:
        model.bert.embeddings.position_embeddings.requires_grad_(False).weight.zero_()
    if settings["shared"]:
        encoder = model.bert.encoder
        encoder.layer = nn.ModuleList([encoder.layer_at(0)] * settings["layers"])
    return model


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
    first = [name for name in names if not name.startswith(_SECOND)]
    return first + [name for name in names if name.startswith(_SECOND)]


def _flat(model: BertForPreTraining, path: Path, *, pairs: bool, of: str = "data") -> NDArray[Any]:
    """Return what learns in a model as one array, in the order of the model, and write it."""
    file = saved_files(model)["model.safetensors"]
    names = json.loads(file[8 : 8 + int.from_bytes(file[:8], "little")])
    every = dict(model.named_parameters(remove_duplicate=False))
    parts = {id(every[name]): every[name] for name in _in_order(model)
             if name in names and (pairs or not name.startswith(_SECOND))}  # fmt: skip
    values = [getattr(part, of) for part in parts.values()]
    zeros = [torch.zeros_like(part) for part in parts.values()]
    rows = [
        (zero if value is None else value).flatten()
        for value, zero in zip(values, zeros, strict=True)
    ]
    found: NDArray[Any] = torch.cat(rows).detach().numpy()
    path.write_bytes(found.astype("<f4").tobytes())
    return found


def _batch(pieces: int, *, pairs: bool) -> tuple[dict[str, list[int]], PretrainingBatch]:
    """Make rows of 2 to 20 random pieces, some of them to be predicted, in both forms."""
    rng = np.random.default_rng(pieces)
    rows = [rng.integers(5, pieces, size).tolist() for size in rng.integers(4, 21, 7)]
    types = [[int(at > len(row) // 2) for at in range(len(row))] for row in rows]
    follows = rng.integers(0, 2, 7).tolist()
    places = [sorted(1 + rng.permutation(len(row) - 1)[: 1 + n % 3]) for n, row in enumerate(rows)]
    labels = [rng.integers(5, pieces, len(each)).tolist() for each in places]
    firsts = np.cumsum([0, *map(len, rows)]).tolist()
    extra = [0] if pairs else []
    packed = {
        "ids": [each for row in rows for each in row],
        "types": [each for row in types for each in row] if pairs else [],
        "lengths": list(map(len, rows)),
        "at": [int(firsts[n] + at) for n, each in enumerate(places) for at in [*extra, *each]],
        "labels": [each for row in labels for each in [*[-1] * len(extra), *row]],
        **({"follows": follows} if pairs else {}),
    }
    mask = padded([[1] * len(row) for row in rows], 0)
    second = (padded(types, 0), torch.tensor(follows)) if pairs else (None, None)
    return packed, PretrainingBatch(
        padded(rows, 0), second[0], mask, padded(places, 0), padded(labels, -100), second[1]
    )


@pytest.mark.parametrize(
    ("changes", "pieces"),
    [
        ({"layers": 1, "heads": 8, "width": 32, "positions": False}, 101),
        ({"layers": 3, "heads": 1, "width": 128, "shared": True}, 77),
        ({"layers": 2, "heads": 2, "width": 32, "next_sentence": True}, 61),
    ],
)
def test_gradients_are_those_of_autograd(
    lab: LabNode, tmp_path: Path, changes: dict[str, Any], pieces: int
) -> None:
    torch.manual_seed(pieces)
    pairs = "next_sentence" in changes
    model = _model(pieces, **changes)
    for part in model.parameters():
        if part.dim() == 1:
            part.data += 0.1 * torch.randn_like(part)  # neither ones nor zeros
    packed, batch = _batch(pieces, pairs=pairs)
    path, out = tmp_path / "weights", tmp_path / "gradients"
    _flat(model, path, pairs=pairs)
    loss = joint_loss(model.double(), batch).total
    loss.backward()  # type: ignore[no-untyped-call]
    found = lab("gradients", settings=changes, pieces=pieces, path=str(path), out=str(out),
                batch=packed)  # fmt: skip
    assert found == pytest.approx(loss.item(), abs=1e-5)
    wanted = _flat(model, path, pairs=pairs, of="grad")
    assert abs(wanted).max() > 0.01
    np.testing.assert_allclose(np.fromfile(out, "<f4"), wanted, rtol=0, atol=1e-4)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("pairs", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_hundred_steps_have_the_losses_of_python(
    lab: LabNode, tmp_path: Path, pairs: bool
) -> None:
    changes = {"sentences": 200, "next_sentence": pairs}
    texts = lab("corpus", settings=changes)["documents"]
    pieces = lab("begin", settings=changes)["pieces"]
    assert pieces == build_vocabulary([s for text in texts for s in text], size=2_000)
    tokenizer = BertTokenizer(pieces, max_len=LENGTH)
    torch.manual_seed(0)
    model = _model(len(pieces), **changes)
    _flat(model, tmp_path / "weights", pairs=pairs)
    documents = [tokenizer.encode_ids(text, add_special_tokens=False) for text in texts]
    batches = PretrainingBatches(documents, tokenizer.vocab, batch_size=BATCH // (1 + pairs),
                                 length=LENGTH, next_sentence=pairs)  # fmt: skip
    training = TrainerSettings(Budget(steps=USUAL["steps"]), learning_rate=USUAL["learning_rate"],
                               warmup_steps=50, decay_share=0.5)  # fmt: skip
    trainer = Trainer(model, batches, training, loss=lambda m, b: Loss(joint_loss(m, b).total))
    lab("begin", settings=changes, path=str(tmp_path / "weights"))
    wanted = [trainer.step().loss for _ in range(100)]
    assert wanted[-1] < 0.7 * wanted[0]
    np.testing.assert_allclose(lab("train", steps=100), wanted, rtol=0, atol=1e-3)


@torch.inference_mode()
@pytest.mark.parametrize("pieces", [2_000, 100])
def test_a_model_trained_here_gives_the_same_answers_in_python(
    lab: LabNode, tmp_path: Path, pieces: int
) -> None:
    changes = {"corpus": "facts", "heads": 2, "shared": True, "pieces": pieces}
    begun = lab("begin", settings=changes)
    first = lab("look")
    lab("train", steps=60)
    newest = lab("look")
    assert newest["held_out"] < first["held_out"] - 0.3
    probes = {each["name"]: each["probes"] for each in lab("corpus", settings=changes)["phenomena"]}
    for step, point in ((None, newest), (0, first)):
        lab("save", path=str(tmp_path / "saved.zip"), step=step)
        ZipFile(tmp_path / "saved.zip").extractall(tmp_path / f"saved-{step}")
        model = BertForPreTraining.from_pretrained(tmp_path / f"saved-{step}").eval()
        tokenizer = BertTokenizer.from_pretrained(tmp_path / f"saved-{step}")
        assert list(tokenizer.vocab) == begun["pieces"]

        def scores(text: str, model: Any = model, tokenizer: Any = tokenizer) -> torch.Tensor:
            ids = tokenizer.encode(text).input_ids
            places = [at for at, each in enumerate(ids) if each == tokenizer.mask_token_id]
            found: torch.Tensor = model.scores_at(torch.tensor([ids]), torch.tensor([places]))[0]
            return found

        for each, share in zip(begun["start"]["phenomena"], point["accuracy"], strict=True):
            right = []
            for text, answer in probes[each["name"]]:
                wanted = tokenizer.encode_ids([answer], add_special_tokens=False)[0]
                gap = text.replace("[MASK]", " ".join(["[MASK]"] * len(wanted)))
                right.append(scores(gap).argmax(-1).tolist() == wanted)
            assert share == pytest.approx(sum(right) / len(right))
        shares = scores(_GAP)[0].softmax(-1).topk(5)
        (filled,) = lab("fill", text=_GAP.upper().replace("[MASK]", "___"), step=step)
        words = tokenizer.convert_ids_to_tokens(shares.indices.tolist())
        assert [word for word, _ in filled] == words
        assert [share for _, share in filled] == pytest.approx(shares.values.tolist(), abs=1e-5)


def test_a_run_that_goes_astray_says_so_and_changes_nothing(lab: LabNode) -> None:
    lab("begin", settings={"learning_rate": 1e30, "sentences": 200})
    lab("train", steps=20)
    assert "not a finite number" in lab("diverged")


def test_an_own_text_is_learned_and_measured(lab: LabNode) -> None:
    settings = {"corpus": "own", "whole_words": True, "next_sentence": True}
    start = lab("begin", settings=settings, text=OWN)["start"]
    assert [each["name"] for each in start["phenomena"]] == ["frequent words", "other words"]
    assert all(set(row["segments"]) == {0, 1} for row in start["rows"])
    first = lab("look")
    lab("train", steps=60)
    assert lab("look")["held_out"] < first["held_out"]


# -- recorded runs ---------------------------------------------------------------------------------


def _right(run: str, name: str) -> float:
    """Return how often the first guesses of a recorded run are right at its end."""
    start, points = RUNS[run]["start"], RUNS[run]["points"]
    found: float = points[-1]["accuracy"][[each["name"] for each in start["phenomena"]].index(name)]
    return found


def test_the_recorded_runs_hold_what_is_said_of_them() -> None:
    across = "agreement across a noun"
    assert _right("usual", across) >= 0.9
    assert max(_right("positions-False", across), _right("shuffled-True", across)) <= 0.65
    assert _right("positions-False", "facts") >= 0.9
    few = RUNS["sentences-200"]["points"][-1]
    assert few["held_out"] > 5 * few["loss"]
    for name in RUNS:
        assert (LIVE / "runs" / f"{name}.json").stat().st_size <= 25_000


@pytest.mark.parametrize("name", ["usual", "next_sentence-True", "corpus-facts"])
def test_a_recorded_run_begins_as_it_does_today(lab: LabNode, name: str) -> None:
    start, points = RUNS[name]["start"], RUNS[name]["points"]
    assert lab("begin", settings=start["settings"])["start"]["rows"] == start["rows"]
    done = 0
    for point in points[:4]:
        lab("train", steps=point["step"] - done)
        found, done = lab("look"), point["step"]
        for each in point.keys() - {"guesses"}:
            assert found[each] == pytest.approx(point[each], rel=1e-3)


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
def test_a_run_is_drawn_as_python_draws_it(lab: LabNode, width: str) -> None:
    usual = recorded({})
    assert usual is not None
    size, spare = {"narrow": (380, 0), "wide": (760, 30)}[width]
    nodes = lab("draw", run=RUNS["usual"], width=size, spare=spare)
    drawn = getattr(losses(usual), width), getattr(accuracies(usual), width)
    for node, markup in zip(nodes, (*drawn, gaps(usual, usual.points[-1])), strict=True):
        found = re.sub(r"\s+", " ", _listed(node))
        wanted = re.sub(r"\s+", " ", _parsed(str(markup)))
        number = re.compile(r"\d+\.?\d*")
        assert number.sub("#", found) == number.sub("#", wanted)
        pairs = zip(number.findall(found), number.findall(wanted), strict=True)
        assert [each for each in pairs if abs(float(each[0]) - float(each[1])) > 0.011] == []


def test_what_came_of_a_prediction(lab: LabNode) -> None:
    usual = RUNS["usual"]
    assert lab("outcome", run=usual, usual=None) in {"agreement", "pronoun by name"}
    assert lab("outcome", run=RUNS["positions-False"], usual=usual) == "worse"
    assert lab("outcome", run=usual, usual=RUNS["positions-False"]) == "better"
    assert lab("outcome", run=usual, usual=usual) == "about the same"


@pytest.mark.skipif(not has_compiler(), reason="the compiler that wrote lab.wasm is not installed")
def test_the_source_gives_the_committed_lab() -> None:
    assert compiled("lab") == (LIVE / "lab.wasm").read_bytes()
