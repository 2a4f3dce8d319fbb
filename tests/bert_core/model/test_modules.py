"""Modules that are not plain are called: hooks, replacements, subclasses, as in `transformers`."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from bert_core.compat import HAS_ONEDNN
from bert_core.model import speed
from bert_core.model.heads import BertForMaskedLM
from tests.bert_core.classes import CLASSES, inputs_for

HIDDEN = "bert.encoder.layer.1.attention.self.query"
PLACES = [
    "bert.embeddings.word_embeddings",
    "bert.embeddings.position_embeddings",
    "bert.embeddings.token_type_embeddings",
    "bert.embeddings.LayerNorm",
    HIDDEN,
    "bert.encoder.layer.0.attention.self.value",
    "bert.encoder.layer.0.attention.output.dense",
    "bert.encoder.layer.0.attention.output.LayerNorm",
    "bert.encoder.layer.1.intermediate.dense",
    "bert.encoder.layer.1.output.dense",
    "bert.encoder.layer.1.output.LayerNorm",
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.decoder",
]


@pytest.fixture(params=["fast", "plain"])
def kernel(request, monkeypatch):
    """Both ways of `speed.linear`."""
    fast = request.param == "fast" and HAS_ONEDNN
    monkeypatch.setattr(speed, "_onednn_is_faster", lambda: fast)
    return request.param


def leaves(model):
    return {name: module for name, module in model.named_modules() if not list(module.children())}


def logits_of(model, batch):
    """The logits of our model or its peer, whatever they are called."""
    found = model.run(**vars(batch)) if hasattr(model, "run") else model(**vars(batch))
    for name in ("logits", "prediction_logits", "start_logits", "last_hidden_state"):
        if (value := getattr(found, name, None)) is not None:
            return value
    raise AssertionError("the model has no outputs")


def moved(x):
    """Other ids, or vectors that no normalisation makes equal."""
    return x + torch.linspace(-1, 1, x.shape[-1]) if x.is_floating_point() else x // 2


def put(model, place, module):
    owner, _, leaf = place.rpartition(".")
    setattr(model.get_submodule(owner), leaf, module)


class LoRA(nn.Module):
    """A low-rank change beside a linear layer, without a weight of its own."""

    def __init__(self, layer):
        super().__init__()
        generator = torch.Generator().manual_seed(5)
        rows, columns = layer.weight.shape
        self.base = layer
        self.down = nn.Parameter(torch.randn(3, columns, generator=generator))
        self.up = nn.Parameter(torch.randn(rows, 3, generator=generator) / 3)

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


class Wrapped(nn.Module):
    """Any module, doubled."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        return 2 * self.inner(*inputs)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_leaf_calls_its_hooks_once_with_the_tensors_of_transformers(
    cls, kernel, make_pair, batch, assert_close
):
    batch = SimpleNamespace(**inputs_for(cls, batch))
    found = []
    for model in make_pair(cls, num_hidden_layers=6):
        kept = defaultdict(list)
        for name, leaf in leaves(model).items():

            def forward(_, inputs, output, calls=kept[name]):
                calls.append((inputs[0] if inputs else None, output))

            leaf.register_forward_hook(forward)
        with torch.no_grad():
            logits_of(model, batch)
        for name, leaf in leaves(model).items():
            if isinstance(leaf, nn.Linear):
                leaf.register_full_backward_hook(
                    lambda _, __, grads, calls=kept[f"{name} gradient"]: calls.append(grads)
                )
        logits_of(model, batch).square().mean().backward()
        found.append(kept)
    ours, theirs = found
    for name, calls in ours.items():
        assert len(calls) == 2 or ("gradient" in name and len(calls) < 2), name  # two runs
        for call, other in zip(calls, theirs[name], strict=True):
            for mine, peers in zip(call, other, strict=True):
                assert_close(mine.expand_as(peers) if mine.dim() == peers.dim() else mine, peers)


class Louder(nn.Linear):
    def forward(self, x):
        return 3 * super().forward(x)


def louder(layer):
    made = Louder(layer.in_features, layer.out_features)
    made.load_state_dict(layer.state_dict())
    return made


def without_bias(layer):
    bare = nn.Linear(layer.in_features, layer.out_features, bias=False)
    bare.weight = layer.weight
    return bare


def own_forward(leaf):
    leaf.forward = lambda *inputs, plain=leaf.forward: 0.5 * plain(*inputs)
    return leaf


def hooked(leaf):
    leaf.register_forward_hook(lambda _, __, output: output * 1.5)
    return leaf


def hooked_before(leaf):
    leaf.register_forward_pre_hook(lambda _, inputs: (moved(inputs[0]),))
    return leaf


LINEAR = [place for place in PLACES if "dense" in place or "self" in place]
CHANGES = (hooked, hooked_before, Wrapped, own_forward)
REPLACED = [
    *((CHANGES[n % 4], place) for n, place in enumerate(PLACES)),
    *((CHANGES[(n + 2) % 4], place) for n, place in enumerate(PLACES)),
    *((LoRA, place) for place in LINEAR[::3]),
    (without_bias, HIDDEN), (without_bias, "bert.encoder.layer.0.output.dense"),
    (louder, HIDDEN), (louder, "cls.predictions.transform.dense"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "place"), REPLACED)
def test_a_changed_leaf_counts_as_in_transformers(
    change, place, kernel, make_pair, batch, assert_close
):
    ours, peer = make_pair(BertForMaskedLM)
    with torch.no_grad():
        before = logits_of(ours, batch)
        for model in (ours, peer):
            put(model, place, change(model.get_submodule(place)))
        ours.train().eval().to(torch.float32)  # moving it ties and stores weights together
        for texts in (3, 1):
            some = SimpleNamespace(**{name: each[:texts] for name, each in vars(batch).items()})
            after = logits_of(ours, some)
            assert_close(after, logits_of(peer, some), 1e-4)
            assert_close(after, ours(**vars(some)))
            # Other token types than 0 and 1 there are none; a scale before LayerNorm is undone.
            if change is not hooked_before or "token_type" not in place:
                assert (after - before[:texts]).abs().max() > 1e-5
