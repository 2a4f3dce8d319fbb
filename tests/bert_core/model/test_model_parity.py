"""Brick by brick beside `transformers`: the same weights, the same numbers to 1e-5."""

import pytest
import torch

from bert_core.model.activations import ACTIVATIONS
from bert_core.model.bert import BertModel, attention_bias


@pytest.fixture
def hidden():
    return torch.randn(3, 7, 32, generator=torch.Generator().manual_seed(2))


@pytest.fixture
def bias(batch):
    return attention_bias(batch.attention_mask, torch.float32)


def test_every_brick_agrees(make_pair, batch, hidden, bias, assert_close):
    ours, peer = make_pair(BertModel)
    ids, types = batch.input_ids, batch.token_type_ids
    assert_close(ours.embeddings(ids, types), peer.embeddings(ids, types))
    assert_close(ours.embeddings(ids), peer.embeddings(ids))
    mine, theirs = ours.encoder.layer[1], peer.encoder.layer[1]
    for mask in (bias, None):
        expected, attentions = theirs.attention(hidden, mask)
        shown, probabilities = mine.attention(hidden, mask, attentions=True)
        unshown, nothing = mine.attention(hidden, mask)
        assert nothing is None
        for found in (shown, unshown):
            assert_close(found, expected)
        assert_close(probabilities, attentions)
        assert_close(mine(hidden, mask, attentions=True)[0], theirs(hidden, mask))
    wide = theirs.intermediate(hidden)
    assert_close(mine.intermediate(hidden), wide)
    assert_close(mine.output(wide.clone(), hidden), theirs.output(wide, hidden))
    assert_close(ours.pooler(hidden), peer.pooler(hidden))


def compare(ours, peer, assert_close, tolerance=1e-5, **inputs):
    """Every hidden state, every attention and the pooled output, in every mode of ours."""
    expected = peer(**inputs, output_hidden_states=True, output_attentions=True)
    for inference in (True, False):
        with torch.inference_mode(inference):
            for attentions in (True, False):
                found = ours.run(**inputs, attentions=attentions)
                assert_close(found.last_hidden_state, expected.last_hidden_state, tolerance)
                assert_close(found.pooler_output, expected.pooler_output, tolerance)
                assert len(found.hidden_states) == len(expected.hidden_states)
                for mine, theirs in zip(found.hidden_states, expected.hidden_states, strict=True):
                    assert_close(mine, theirs, tolerance)
                assert (found.attentions is not None) == attentions
                for mine, theirs in zip(found.attentions or (), expected.attentions, strict=False):
                    assert_close(mine, theirs, tolerance)


@pytest.mark.parametrize("tokens", [1, 2, 7, 19])
@pytest.mark.parametrize("rows", [1, 3])
def test_encoders_agree_without_padding(make_pair, assert_close, rows, tokens):
    ours, peer = make_pair(BertModel)
    compare(ours, peer, assert_close, input_ids=torch.randint(99, (rows, tokens)))


def test_encoders_agree_on_padded_pairs_padding_to_the_left_and_holes(
    make_pair, batch, assert_close
):
    ours, peer = make_pair(BertModel)
    compare(ours, peer, assert_close, **vars(batch))
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1]])
    compare(ours, peer, assert_close, input_ids=batch.input_ids, attention_mask=mask)


def test_encoders_agree_on_a_mask_for_every_query(make_pair, batch, assert_close):
    ours, peer = make_pair(BertModel)
    square = torch.ones(7, 7).tril().expand(3, 7, 7)
    found = ours.run(batch.input_ids, attention_mask=square)
    bias = (1 - square)[:, None] * torch.finfo(torch.float32).min
    expected = peer(batch.input_ids, attention_mask=bias, output_attentions=True)
    assert_close(found.last_hidden_state, expected.last_hidden_state)
    for mine, theirs in zip(found.attentions, expected.attentions, strict=True):
        assert_close(mine, theirs)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("attention_mask", each) for each in (torch.bool, torch.int32, torch.float32)),
        *(("input_ids", each) for each in (torch.int32, torch.int16, torch.uint8)),
        ("token_type_ids", torch.uint8),
    ],
)
def test_inputs_may_be_of_any_number_type_that_fits(make_pair, batch, assert_close, name, kind):
    ours, _ = make_pair(BertModel)
    expected = ours.run(**vars(batch)).last_hidden_state
    setattr(batch, name, getattr(batch, name).to(kind))
    assert_close(ours.run(**vars(batch)).last_hidden_state, expected)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_every_named_activation_agrees(make_pair, batch, assert_close, act):
    ours, peer = make_pair(BertModel, hidden_act=act)
    compare(ours, peer, assert_close, **vars(batch))


def test_a_callable_may_be_the_activation(make_config, make_pair, batch, assert_close):
    named, _ = make_pair(BertModel, hidden_act="relu")
    called = BertModel(make_config(hidden_act=torch.relu)).eval()
    called.load_state_dict(named.state_dict())
    assert_close(called(batch.input_ids)[1], named(batch.input_ids)[1])


@pytest.mark.parametrize("changes", [
    {"type_vocab_size": 3},
    {"type_vocab_size": 1},
    {"layer_norm_eps": 1e-5},
    {"num_attention_heads": 1},
    {"num_attention_heads": 32},
    {"num_hidden_layers": 1},
    {"pad_token_id": None},
    {"pad_token_id": 3},
])  # fmt: skip
def test_unusual_sizes_agree(make_pair, batch, assert_close, changes):
    ours, peer = make_pair(BertModel, **changes)
    batch.token_type_ids *= changes.get("type_vocab_size", 2) - 1
    compare(ours, peer, assert_close, **vars(batch))


def test_gradients_of_all_parameters_agree(make_pair, batch, assert_close):
    ours, peer = make_pair(BertModel, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    weights = torch.randn(3, 7, 32)
    for training in (True, False):
        for model in (ours, peer):
            model.train(training)
            model.zero_grad()
        (ours.run(**vars(batch)).last_hidden_state * weights).sum().backward()
        (peer(**vars(batch)).last_hidden_state * weights).sum().backward()
        theirs = dict(peer.named_parameters())
        for name, parameter in ours.named_parameters():
            if not name.startswith("pooler"):
                assert parameter.grad is not None, name
                assert_close(parameter.grad, theirs[name].grad, 1e-4)


@pytest.fixture(scope="module")
def real(minilm):
    import transformers

    ours = BertModel.from_pretrained(minilm)
    peer = transformers.BertModel.from_pretrained(str(minilm), attn_implementation="eager").eval()
    return ours, peer


@pytest.fixture(scope="module")
def texts(minilm):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(minilm / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    pairs = [
        ("The kettle sings on the stove.", "Somebody forgot it an hour ago."),
        ("Who repaired the lighthouse?", "Ada climbed up with a lamp and two screwdrivers."),
        ("Über den Dächern liegt naïver Schnee.", "漢字もある。"),
    ]
    encodings = tokenizer.encode_batch(pairs)
    longest = max(len(encoding.ids) for encoding in encodings)
    for encoding in encodings:
        encoding.pad(longest)
    return {
        "input_ids": torch.tensor([encoding.ids for encoding in encodings]),
        "token_type_ids": torch.tensor([encoding.type_ids for encoding in encodings]),
        "attention_mask": torch.tensor([encoding.attention_mask for encoding in encodings]),
    }


def test_the_trained_encoder_agrees_and_padding_changes_nothing(real, texts, assert_close):
    compare(*real, assert_close, **texts)
    together = real[0].run(**texts)
    for row in range(3):
        length = int(texts["attention_mask"][row].sum())
        alone = {name: tensor[row : row + 1, :length] for name, tensor in texts.items()}
        compare(*real, assert_close, **alone)
        found = real[0].run(**alone)
        assert_close(found.last_hidden_state[0], together.last_hidden_state[row, :length])
        assert_close(found.attentions[3][0], together.attentions[3][row, :, :length, :length])


def test_the_trained_encoder_agrees_at_full_length(real, assert_close):
    ids = torch.randint(1000, 30_000, (1, 512), generator=torch.Generator().manual_seed(5))
    with torch.inference_mode():
        expected = real[1](ids, output_attentions=True)
        found = real[0].run(ids, hidden_states=False)
    assert_close(found.last_hidden_state, expected.last_hidden_state)
    assert_close(found.attentions[5], expected.attentions[5])
