"""What comes out of `forward` and `run`: order, shapes, attentions, kept head outputs, threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import bert_core
from bert_core.model.bert import BertModel
from bert_core.model.heads import BertForMultipleChoice, BertForPreTraining
from bert_core.model.kinds import ALL_KINDS
from bert_core.verification.texts import BATCHES
from tests.bert_core.classes import CLASSES, HEADS, as_tuple, inputs_for


def test_the_table_names_every_public_class_and_the_axes_of_what_it_scores(make_config, batch):
    public = {name for name in bert_core.__all__ if name == "BertModel" or name[:7] == "BertFor"}
    assert public == set(ALL_KINDS)
    families = {"SentenceOrderPrediction": "albert", "ReplacedTokenDetection": "electra"}
    for kind in ALL_KINDS.values():
        assert getattr(bert_core, kind.name) is kind.cls
        inputs = inputs_for(kind.cls, batch)
        size = {"B": 3, "T": 7, "D": 32, "H": 4, "V": 99, "C": 2, "N": 2}
        config = make_config(model_type=families.get(kind.name.removeprefix("BertFor"), "bert"))
        found = kind.cls(config).eval().run(**inputs)
        for name, axes in kind.outputs.items():
            value = getattr(found, name)
            shape = (value[0] if name == "attentions" else value).shape
            expected = [size.get(letter) or int(letter) for letter in axes]
            assert list(shape) == expected, (kind.name, name)
        for stored in kind.stored:
            assert stored.output in kind.outputs
            assert stored.texts in BATCHES


@pytest.mark.parametrize("attentions", [False, True])
def test_bert_gives_all_layers_or_the_last_and_the_pooled_output(make_config, batch, attentions):
    model = BertModel(make_config(), output_attentions=attentions).eval()
    *shown, layers, pooled = model(**vars(batch))
    assert isinstance(layers, list)
    assert [tuple(layer.shape) for layer in layers] == [(3, 7, 32)] * 2
    *shown_again, last, again = model(
        batch.input_ids, batch.token_type_ids, batch.attention_mask, False
    )
    assert torch.equal(last, layers[-1])
    assert pooled.shape == (3, 32) and torch.equal(again, pooled)
    for each in (shown, shown_again):  # attentions come first
        assert [tuple(a.shape) for first in each for a in first] == [(3, 4, 7, 7)] * 2 * attentions


def test_absent_token_types_are_zeros_and_an_absent_mask_is_ones(make_config, batch):
    model = BertModel(make_config()).eval()
    zeros, ones = torch.zeros_like(batch.input_ids), torch.ones_like(batch.input_ids)
    expected = model(batch.input_ids, zeros, ones)[1]
    torch.testing.assert_close(model(batch.input_ids)[1], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("cls", HEADS)
def test_a_head_gives_attentions_before_what_it_gives_otherwise(cls, make_config, batch):
    inputs = inputs_for(cls, batch)
    torch.manual_seed(0)
    plain = cls(make_config()).eval()
    shown = cls(make_config(), output_attentions=True).eval()
    shown.load_state_dict(plain.state_dict())
    expected = plain(**inputs)
    attentions, *found = shown(**inputs)
    rows = 6 if cls is BertForMultipleChoice else 3
    assert [tuple(attention.shape) for attention in attentions] == [(rows, 4, 7, 7)] * 2
    for mine, theirs in zip(found, as_tuple(expected), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cls", CLASSES)
def test_run_gives_everything_by_name(cls, make_config, batch):
    model = cls(make_config()).eval()
    inputs = inputs_for(cls, batch)
    found = model.run(**inputs)
    rows = 6 if cls is BertForMultipleChoice else 3
    assert found.last_hidden_state.shape == (rows, 7, 32)
    assert isinstance(found.hidden_states, tuple)
    assert len(found.hidden_states) == 3
    assert found.hidden_states[-1] is found.last_hidden_state
    assert isinstance(found.attentions, tuple)
    assert len(found.attentions) == 2
    has_pooler = model.encoder_model.pooler is not None
    assert (found.pooler_output is not None) == has_pooler
    if cls is not BertModel:
        names = ("logits", "start_logits", "end_logits", "seq_relationship_logits")
        scores = [each for name in names if (each := getattr(found, name)) is not None]
        for mine, answer in zip(scores, as_tuple(model(**inputs)), strict=True):
            assert torch.allclose(mine, answer, atol=1e-6)


def test_rows_of_attentions_sum_to_one_and_padding_columns_are_zero(make_pair, batch):
    ours, _ = make_pair(BertModel)
    for attention in ours.run(**vars(batch)).attentions:
        assert torch.allclose(attention.sum(-1), torch.ones(3, 4, 7), atol=1e-6)
        padding = batch.attention_mask[:, None, None, :].expand_as(attention) == 0
        assert padding.any()
        assert attention[padding].max() <= 1e-6


@pytest.mark.parametrize("attentions", [True, False])
def test_dropout_acts_while_training_alone_and_not_on_attentions(make_config, batch, attentions):
    config = make_config(attention_probs_dropout_prob=0.9)
    model = BertModel(config, output_attentions=attentions)
    first, *_ = model(**vars(batch))
    for attention in first if attentions else ():
        assert torch.allclose(attention.sum(-1), torch.ones(3, 4, 7), atol=1e-6)
    assert not torch.equal(model(**vars(batch))[-1], model(**vars(batch))[-1])
    model.eval()
    assert torch.equal(model(**vars(batch))[-1], model(**vars(batch))[-1])


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("attentions", [True, False])
def test_a_row_with_nothing_to_attend_to_is_finite(make_config, batch, kind, attentions):
    model = BertModel(make_config()).eval().to(kind)
    batch.attention_mask[1] = 0
    found = model.run(**vars(batch), attentions=attentions)
    for tensor in (found.last_hidden_state, found.pooler_output, *(found.attentions or ())):
        assert torch.isfinite(tensor).all()
    for attention in found.attentions or ():
        assert torch.allclose(attention.float().sum(-1), torch.ones(3, 4, 7), atol=1e-2)


@pytest.mark.parametrize("cls", CLASSES)
def test_head_outputs_are_kept_on_request_after_the_head_mask(cls, make_config, batch):
    model = cls(make_config(), keep_multihead_output=True).eval()
    mask, rows = torch.tensor([1.0, 0.0, 1.0, 0.5]), 6 if cls is BertForMultipleChoice else 3
    model(**inputs_for(cls, batch))
    outputs = model.get_multihead_outputs()
    assert [tuple(output.shape) for output in outputs] == [(rows, 4, 7, 8)] * 2
    model(**inputs_for(cls, batch), head_mask=mask)
    masked = model.get_multihead_outputs()[0]
    torch.testing.assert_close(masked, outputs[0] * mask.view(1, 4, 1, 1))


@pytest.mark.parametrize("attentions", [True, False])
def test_attentions_and_head_outputs_have_gradients(make_config, batch, attentions):
    config = make_config()
    model = BertModel(config, output_attentions=attentions, keep_multihead_output=True).eval()
    found = model(**vars(batch))
    for attention in found[0] if attentions else ():
        attention.retain_grad()
    found[-1].sum().backward()
    for output in (*model.get_multihead_outputs(), *(found[0] if attentions else ())):
        assert output.grad.shape == output.shape
        assert output.grad.abs().sum() > 0


@pytest.mark.parametrize("cls", CLASSES)
def test_forward_writes_nothing_to_the_model(cls, make_config, batch):
    model = cls(make_config()).eval()
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    model(**inputs_for(cls, batch))
    model.run(**inputs_for(cls, batch))
    for name, module in model.named_modules():
        after = vars(module)
        assert after.keys() == before[name].keys()
        for key, value in before[name].items():
            assert after[key] is value, f"{name}.{key}"
    assert model.get_multihead_outputs() == [None, None]


@pytest.mark.parametrize("attentions", [True, False])
def test_eight_threads_get_what_one_gets(make_config, attentions):
    model = BertForPreTraining(make_config()).eval()
    generator = torch.Generator().manual_seed(3)
    texts = [
        torch.randint(99, (1 + index % 3, 3 + index % 16), generator=generator)
        for index in range(64)
    ]

    def answer(ids):
        with torch.inference_mode():
            return model.run(ids, attentions=attentions)

    expected = [answer(ids) for ids in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(answer, texts))
    for mine, theirs in zip(found, expected, strict=True):
        assert torch.equal(mine.logits, theirs.logits)
        assert torch.equal(mine.last_hidden_state, theirs.last_hidden_state)


@pytest.mark.parametrize("attentions", [True, False])
def test_a_model_without_memory_still_says_what_shapes_it_would_give(make_config, attentions):
    with torch.device("meta"):
        model = BertModel(make_config()).eval()
        ids = torch.zeros(2, 5, dtype=torch.long)
    found = model.run(ids, attention_mask=torch.ones_like(ids), attentions=attentions)
    assert found.last_hidden_state.shape == (2, 5, 32)
    assert found.last_hidden_state.is_meta
