"""A model in memory: it answers as itself, nothing of it changes, and what is none is refused."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from app.engine.models.store import open_engine
from app.faces.paper.answers import ask
from app.faces.paper.explored import _held, explore
from bert_core import BertForMaskedLM, BertTokenizer
from bert_core.checkpoints.formats.weights import HELD
from bert_core.errors import BertError
from bert_core.model.kinds import ALL_KINDS
from tests.bert_core.families.conftest import FEW, inputs, make_peer, outputs_of
from tests.conftest import VOCABULARY

TEXT = "the cat sat on the [MASK]"


@pytest.fixture
def tokenizer(tmp_path: Path) -> BertTokenizer:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return BertTokenizer(path)


@pytest.mark.parametrize(("family", "name"), FEW)
def test_its_outputs_are_its_own(family: str, name: str, tokenizer: BertTokenizer) -> None:
    peer, given = make_peer(family, name), inputs(family, name)
    with _held(peer, tokenizer, "mine") as offer:
        ours = open_engine(offer).model(ALL_KINDS[name].cls)
        found, expected = ours.run(**given, hidden_states=True), outputs_of(peer, given)
        shared = {each.data_ptr() for each in peer.parameters()}
        assert all(each.data_ptr() in shared for each in ours.parameters())
    for key in ("hidden_states", "logits", "start_logits", "seq_relationship_logits"):
        if (theirs := getattr(expected, key)) is not None:
            torch.testing.assert_close(getattr(found, key), theirs, atol=1e-5, rtol=1e-5)
    assert not HELD


class Mine(transformers.BertForMaskedLM):  # type: ignore[misc]
    """A subclass that computes what its parent does."""


def mine(peer: Any) -> nn.Module:
    made = Mine(peer.config)
    made.load_state_dict(peer.state_dict())
    return made


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "parallel": nn.DataParallel,
    "compiled": partial(torch.compile, backend="eager"),
    "training": lambda peer: peer.train(),
    "subclass": mine,
}


@pytest.mark.parametrize("kind", WRAPPERS)
def test_wrappers_do_not_matter(kind: str, tokenizer: BertTokenizer, tmp_path: Path) -> None:
    peer = make_peer("bert", "BertForMaskedLM", vocab_size=len(VOCABULARY))
    peer.save_pretrained(tmp_path / "saved")
    tokenizer.save_pretrained(tmp_path / "saved")
    model = WRAPPERS[kind](peer)
    modes = [each.training for each in model.modules()]
    found = explore(model, tokenizer, TEXT, task="fill_mask").json()
    expected = ask("fill_mask", TEXT, model=str(tmp_path / "saved")).json()
    assert found["slots"] == expected["slots"]
    assert modes == [each.training for each in model.modules()]
    assert all(each.requires_grad for each in model.parameters())


def test_half_precision_our_own_class_and_a_second_model(tokenizer: BertTokenizer) -> None:
    peer = make_peer("bert", "BertForMaskedLM", vocab_size=len(VOCABULARY))
    half = explore(peer.half(), tokenizer, TEXT, task="fill_mask").json()["slots"]
    whole = explore(peer.float(), tokenizer, TEXT, task="fill_mask").json()["slots"]
    assert half == whole
    with _held(peer, tokenizer, "x") as offer:
        ours = open_engine(offer).model(BertForMaskedLM)
    assert explore(ours, tokenizer, TEXT, task="fill_mask").json()["slots"] == whole
    assert "your model" in explore(ours, tokenizer, TEXT).text()


@pytest.mark.parametrize("task", ["tokenizer_compare", "data"])
def test_two_models_in_memory_are_compared(task: str, tokenizer: BertTokenizer) -> None:
    one, two = (
        make_peer("bert", "BertForSequenceClassification", vocab_size=len(VOCABULARY))
        for _ in range(2)
    )
    text = "text,label\nthe cat,LABEL_0\non the mat,LABEL_1\n" if task == "data" else TEXT
    found = explore(one, tokenizer, text, task=task, other=(two, tokenizer)).json()
    assert "your other model" in str(found)


def test_what_is_no_model_gets_a_sentence(tokenizer: BertTokenizer) -> None:
    class Other(transformers.BertModel):  # type: ignore[misc]
        """A subclass with a computation of its own."""

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return super().forward(*args, **kwargs)

    peer = make_peer("bert", "BertModel", vocab_size=len(VOCABULARY))
    gpt2 = transformers.GPT2Model(
        transformers.GPT2Config(vocab_size=99, n_embd=32, n_layer=1, n_head=2)
    )
    refused: tuple[tuple[Any, Any], ...] = (
        (gpt2, tokenizer), (nn.Linear(2, 2), tokenizer), ("bert-base-uncased", tokenizer),
        (peer, "its tokenizer"), (Other(peer.config), tokenizer), (peer.to("meta"), tokenizer),
    )  # fmt: skip
    for model, theirs in refused:
        with pytest.raises(BertError):
            explore(model, theirs, TEXT)
    assert not HELD
