"""Each of the seven heads, its scores and its loss, beside the peer's of the same name."""

import pytest
import torch

from bert_core.model.bert import BertModel
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from tests.bert_core.classes import (
    CLASSES,
    HEADS,
    LABELS,
    WORDS,
    as_tuple,
    inputs_for,
    options_for,
)


def scores_of(peer, inputs):
    """The peer's scores, in our order."""
    found = peer(**inputs)
    names = {
        BertForPreTraining.__name__: ("prediction_logits", "seq_relationship_logits"),
        BertForQuestionAnswering.__name__: ("start_logits", "end_logits"),
    }.get(type(peer).__name__, ("logits",))
    return [getattr(found, name) for name in names]


def compare(found, expected, assert_close):
    for mine, theirs in zip(as_tuple(found), expected, strict=True):
        assert_close(mine, theirs)


@pytest.mark.parametrize("form", ["padded", "whole", "one"])
@pytest.mark.parametrize("cls", HEADS)
def test_scores_agree(cls, make_pair, batch, assert_close, form):
    ours, peer = make_pair(cls, **options_for(cls))
    inputs = inputs_for(cls, batch, *(["input_ids"] if form == "whole" else []))
    inputs = {name: value[: 1 if form == "one" else 3] for name, value in inputs.items()}
    expected = scores_of(peer, inputs)
    for inference in (True, False):
        with torch.inference_mode(inference):
            compare(ours(**inputs), expected, assert_close)


@pytest.mark.parametrize("cls", HEADS)
def test_losses_and_their_gradients_agree(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    names = {"masked_lm_labels": "labels"}
    if cls is BertForNextSentencePrediction:
        names = {"next_sentence_label": "labels"}
    # The peer ignores -100 alone; ours counts the labels of real tokens only, by itself.
    theirs = {names.get(name, name): each.where(each != -1, -100) for name, each in
              LABELS[cls].items()}  # fmt: skip
    if cls is BertForTokenClassification:
        theirs["labels"] = theirs["labels"].where(batch.attention_mask == 1, -100)
    found, expected = (
        model(**inputs_for(cls, batch), **labels)
        for model, labels in ((ours, LABELS[cls]), (peer, theirs))
    )
    assert found.dim() == 0
    assert_close(found, expected.loss)
    found.backward()
    expected.loss.backward()
    gradients = {name: parameter.grad for name, parameter in peer.named_parameters()}
    for name, parameter in ours.named_parameters():
        assert_close(parameter.grad, gradients[name])


@pytest.mark.parametrize("cls", CLASSES)
def test_state_dicts_travel_both_ways_strictly(cls, make_pair):
    ours, peer = make_pair(cls, seed=1, **options_for(cls))
    other, _ = make_pair(cls, seed=2, **options_for(cls))
    theirs = peer.state_dict()
    assert set(ours.state_dict()) == set(theirs)
    other.load_state_dict(theirs, strict=True)
    peer.load_state_dict(other.state_dict(), strict=True)
    for name, value in other.state_dict().items():
        assert torch.equal(value, theirs[name]), name


@pytest.mark.parametrize("cls", [BertForMaskedLM, BertForPreTraining])
def test_the_decoder_is_tied(cls, make_config, batch):
    model = cls(make_config())
    decoder, words = model.cls.predictions.decoder, model.bert.embeddings.word_embeddings
    assert decoder.weight is words.weight
    assert decoder.bias is model.cls.predictions.bias
    keys = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert keys <= set(model.state_dict())
    assert not keys & {name for name, _ in model.named_parameters()}
    for move in (lambda: model.double(), lambda: model.to(torch.float32), lambda: model.eval()):
        move()
        assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    before = decoder.weight.detach().clone()
    model(**vars(batch), masked_lm_labels=WORDS).backward()
    optimizer.step()
    assert not torch.equal(decoder.weight, before)
    assert decoder.weight is model.bert.embeddings.word_embeddings.weight


@pytest.mark.parametrize("cls", [BertForMaskedLM, BertForPreTraining])
def test_scores_at_positions_are_the_rows_of_all_scores(cls, make_pair, batch, assert_close):
    ours, _ = make_pair(cls)
    positions, off = torch.tensor([[0, 6, 6], [3, 1, 0], [2, 2, 4]]), torch.zeros(4)
    for inputs in (vars(batch), {"input_ids": batch.input_ids, "head_mask": off}):
        every, found = ours.run(**inputs).logits, ours.scores_at(positions=positions, **inputs)
        assert found.shape == (3, 3, 99)
        for row in range(3):
            assert_close(found[row], every[row, positions[row]])
    none = torch.zeros(3, 0, dtype=torch.long)
    assert ours.scores_at(batch.input_ids, none).shape == (3, 0, 99)


@pytest.mark.parametrize("cls", HEADS)
def test_head_masks_reach_every_head(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    for layer in peer.bert.encoder.layer:
        with torch.no_grad():
            layer.attention.output.dense.weight[:, 8:16] = 0
    inputs = inputs_for(cls, batch)
    found = ours(**inputs, head_mask=torch.tensor([1, 0, 1, 1]))
    compare(found, scores_of(peer, inputs), assert_close)


def test_a_single_label_is_a_regression(make_pair, batch, assert_close):
    ours, peer = make_pair(BertForSequenceClassification, num_labels=1)
    targets = torch.tensor([0.5, -2.0, 3.25])
    found = ours(**vars(batch), labels=targets)
    assert_close(found, peer(**vars(batch), labels=targets).loss)
    assert_close(ours(**vars(batch), labels=targets[:, None]), found)


def test_dropout_of_the_classifier_is_the_configs(make_config):
    assert BertForSequenceClassification(make_config(hidden_dropout_prob=0.3)).dropout_rate == 0.3
    config = make_config(hidden_dropout_prob=0.3, classifier_dropout=0.0)
    assert BertForTokenClassification(config).dropout_rate == 0.0


def test_models_of_several_classes_share_one_encoder(make_config, batch, assert_close):
    torch.manual_seed(0)
    words = BertForPreTraining(make_config()).eval()
    for cls in HEADS:
        model = cls.from_model(words)
        assert not model.training
        assert model.bert.embeddings.word_embeddings.weight is (
            words.bert.embeddings.word_embeddings.weight
        )
        mine = dict(model.bert.named_parameters())
        for name, parameter in words.bert.named_parameters():
            if name in mine:
                assert mine[name] is parameter, name
        inputs = inputs_for(cls, batch)
        ids = {name: value.flatten(0, -2) for name, value in inputs.items()}
        assert_close(model.run(**inputs).last_hidden_state, words.run(**ids).last_hidden_state)
    encoder = BertModel.from_model(words)
    assert encoder.load_report.missing == ()
    assert_close(encoder(batch.input_ids)[1], words.run(batch.input_ids).pooler_output)


CLASSIFIER = {"classifier.weight", "classifier.bias"}
FRESH = [
    (BertForMaskedLM, BertForTokenClassification, CLASSIFIER),
    (BertForMaskedLM, BertForNextSentencePrediction,
     {f"{name}.{kind}" for name in ("bert.pooler.dense", "cls.seq_relationship")
      for kind in ("weight", "bias")}),
    (BertForSequenceClassification, BertForTokenClassification, CLASSIFIER),  # each has its own
    (BertForSequenceClassification, BertForMultipleChoice, CLASSIFIER),
    (BertForSequenceClassification, BertForSequenceClassification, set()),
]  # fmt: skip


@pytest.mark.parametrize(("source", "cls", "missing"), FRESH)
def test_from_model_names_what_is_fresh(make_config, source, cls, missing):
    other = source(make_config())
    model = cls.from_model(other)
    assert set(model.load_report.missing) == missing
    for name in missing:
        value = model.get_parameter(name)
        assert value.abs().max() < 0.1 and bool(value.any()) == name.endswith("weight")
        assert value is not dict(other.named_parameters()).get(name)


def test_from_model_fills_what_the_other_lacks_and_leaves_the_rest_as_it_was(make_config, tmp_path):
    encoder = BertModel(make_config())
    incomplete = {k: v for k, v in encoder.state_dict().items() if "pooler" not in k}
    encoder.save_pretrained(tmp_path)
    encoder = BertModel.from_pretrained(tmp_path, state_dict=incomplete)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    for cls in HEADS:
        cls.from_model(encoder)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())
    texts = BertForSequenceClassification.from_pretrained(tmp_path, num_labels=3)
    for outputs in (3, 5):
        tagger = BertForTokenClassification.from_model(texts, outputs)
        assert tagger.classifier.weight.std() > 0


def test_from_model_keeps_the_pruning_of_the_other(make_config, batch, assert_close):
    encoder = BertModel(make_config()).eval()
    encoder.prune_heads({0: [1, 2]})
    tagger = BertForTokenClassification.from_model(encoder)
    assert tagger.encoder_model.encoder.layer[0].attention.self.heads == [0, 3]
    assert_close(
        tagger.run(**vars(batch)).last_hidden_state, encoder.run(**vars(batch)).last_hidden_state
    )
