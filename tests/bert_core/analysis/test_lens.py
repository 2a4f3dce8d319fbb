"""The lens, and the means and maps fitted to a model."""

import shutil
from collections import OrderedDict

import pytest
import torch

from bert_core import BertForMaskedLM, BertForPreTraining, BertModel, BertTokenizer
from bert_core.analysis import FeedForward, fitted, lens, run
from bert_core.analysis.fitting import NAME, encoder_digest, fit, write_fitted
from bert_core.analysis.forward import record
from bert_core.bundled import bundled_folder
from bert_core.errors import CheckpointError, InputError

BUNDLED = "explorer-mini-uncased"


@pytest.mark.parametrize("cls", [BertForMaskedLM, BertForPreTraining])
@pytest.mark.parametrize("kind", ["raw", "affine"])
@torch.inference_mode()
def test_the_last_layer_gives_the_models_own_scores(
    build, pair, tokenizer, cls, kind, assert_close
):
    model = build(cls)
    fitted(model, tokenizer)
    found = lens(model, pair, [3, 1], kind=kind)
    assert found.shape == (4, 2, 80)
    assert_close(found[-1], run(model, pair).logits[0, [3, 1]])


@torch.inference_mode()
def test_the_raw_lens_is_the_head_on_each_layer(words, pair):
    found = lens(words, pair, 3)
    for layer, states in enumerate(run(words, pair).hidden_states or ()):
        assert torch.allclose(found[layer], words.cls.predictions(states[:, 3]), atol=1e-5)


@torch.inference_mode()
def test_the_affine_lens_maps_first(words, pair, tokenizer):
    maps = fitted(words, tokenizer).maps
    states = run(words, pair).hidden_states
    assert states
    mapped = states[1][:, 3] @ maps[1, :-1] + maps[1, -1]
    found = lens(words, pair, 3, kind="affine")
    assert torch.allclose(found[1], words.cls.predictions(mapped), atol=1e-4)


def test_maps_are_least_squares(build, tokenizer, monkeypatch):
    monkeypatch.setattr("bert_core.analysis.fitting._RIDGE", 1e-9)
    model = build(num_hidden_layers=2)
    layer = model.bert.encoder.layer_at(1)  # made the identity: LayerNorm of what is already normal
    with torch.no_grad():
        for dense in (layer.attention.output.dense, layer.output.dense):
            dense.weight.zero_()
            dense.bias.zero_()
        for norm in (
            model.bert.encoder.layer_at(0).output.LayerNorm,
            layer.attention.output.LayerNorm,
            layer.output.LayerNorm,
        ):
            norm.weight.fill_(1)
            norm.bias.zero_()
    found = fit(
        model, tokenizer, ["the cat sat on the mat", "a dog [MASK] here", "on the bank, play!"] * 40
    )
    text = record(model, tokenizer.encode("the cat sat")).hidden_states[1][0]
    assert torch.allclose(text @ found.maps[1, :-1] + found.maps[1, -1], text, atol=1e-3)


def test_means_are_means_over_the_texts_without_added_tokens(words, tokenizer):
    texts = ["the cat sat", ("a dog", "on the mat"), "the the the"]
    found = fit(words, tokenizer, texts)
    encodings = [tokenizer.encode(*((t,) if isinstance(t, str) else t)) for t in texts]
    for site in (("head", 0), ("attention", 1), ("feed_forward", 2)):
        tokens = torch.cat(
            [
                record(words, each).at[site][0, torch.tensor(each.special_tokens_mask) == 0]
                for each in encodings
            ]
        )
        assert torch.allclose(found.means[site], tokens.mean(0), atol=1e-5)


def test_maps_are_fitted_once_and_follow_the_weights(build, tokenizer, pair):
    model, twin = build(), build()
    first = fitted(model, tokenizer)
    assert fitted(model) is first
    assert fitted(twin, tokenizer) is first, "equal weights, one fit"
    before = encoder_digest(model)
    with torch.no_grad():
        model.bert.encoder.layer_at(0).output.dense.bias.add_(0.1)
    assert encoder_digest(model) != before
    assert fitted(model) is not first
    with pytest.raises(InputError, match=r"Call fitted\(model, tokenizer\) once"):
        lens(build(intermediate_size=41), pair, 3, kind="affine")


def test_all_classes_of_one_encoder_share_a_fit(words, tokenizer):
    alone = BertModel(words.config).eval()
    alone.load_state_dict(words.bert.state_dict(), strict=False)  # it has a pooler as well
    assert encoder_digest(alone) == encoder_digest(words)


def test_what_was_fitted_in_inference_mode_serves_gradients(build, tokenizer, pair):
    model = build(intermediate_size=43)
    with torch.inference_mode():
        fitted(model, tokenizer)
    run(model, pair, interventions=[FeedForward(1, mode="mean")]).logits.sum().backward()
    assert model.bert.encoder.layer_at(0).output.dense.weight.grad.abs().max() > 0


def test_a_file_beside_the_weights_is_used_if_it_belongs_to_them(
    tiny_folder, tmp_path, monkeypatch
):
    folder = shutil.copytree(tiny_folder, tmp_path / "tiny")
    written = write_fitted(folder)
    model = BertForMaskedLM.from_pretrained(folder)
    monkeypatch.setattr("bert_core.analysis.fitting._cache", OrderedDict())
    monkeypatch.setattr("bert_core.analysis.fitting.fit", None)
    read = fitted(model)
    assert torch.equal(read.maps, written.maps.half().float())
    assert all(torch.equal(read.means[site], written.means[site]) for site in written.means)
    with torch.no_grad():
        model.bert.encoder.layer_at(0).output.dense.bias.add_(0.1)
    with pytest.raises(TypeError):  # the file no longer belongs to the weights
        fitted(model)


def test_a_file_of_other_sizes_is_refused(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "tiny")
    (folder / NAME).write_bytes((folder / "model.safetensors").read_bytes())
    model = BertForMaskedLM.from_pretrained(folder)
    with torch.no_grad():  # a digest that no other test has fitted
        model.bert.encoder.layer_at(0).output.dense.bias.add_(0.3)
    with pytest.raises(CheckpointError, match="Write it again with `write_fitted`"):
        fitted(model)


def test_the_bundled_model_brings_its_maps():
    assert (bundled_folder(BUNDLED) / NAME).is_file()
    model = BertForMaskedLM.from_pretrained(BUNDLED)
    tokenizer = BertTokenizer.from_pretrained(BUNDLED)
    texts = "The capital of France is [MASK].", "She [MASK] the door.", "Bread is made of [MASK]."

    def divergence(text: str, kind: str) -> torch.Tensor:
        encoding = tokenizer.encode(text)
        at = encoding.tokens.index("[MASK]")
        final = lens(model, encoding, at)[-1, 0].log_softmax(-1)
        scores = lens(model, encoding, at, kind=kind)[:, 0].log_softmax(-1)
        return (final.exp() * (final - scores)).sum(-1)  # (L + 1)

    raw, affine = (sum(divergence(text, kind) for text in texts) for kind in ("raw", "affine"))
    assert affine[1:3].sum() < raw[1:3].sum()
    assert raw[-1] == pytest.approx(0, abs=1e-5) and affine[-1] == pytest.approx(0, abs=1e-5)


def test_what_the_lens_cannot_show_is_refused(build, words, pair):
    with pytest.raises(InputError, match="There is no lens 'tuned'"):
        lens(words, pair, 3, kind="tuned")
    with pytest.raises(InputError, match="Found position 11; the text has 0 to 10"):
        lens(words, pair, [3, 11])
    with pytest.raises(InputError, match="cannot be asked of a BertModel"):
        lens(build(BertModel), pair, 3)
