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
from bert_core.model.kinds import KINDS

HEADS = [kind.cls for kind in KINDS.values() if kind.cls is not BertModel]
SCORES = {  # what the peer calls what we return, in our order
    BertForPreTraining: ("prediction_logits", "seq_relationship_logits"),
    BertForQuestionAnswering: ("start_logits", "end_logits"),
}
FIVE_LABELS = {"id2label": {index: f"L{index}" for index in range(5)}}
WORDS = torch.tensor([[-1, 5, -1, 7, -100, 98, -1], [3, -1, -1, 0, -1, -1, -1], [-1] * 7])


def options_for(cls):
    labelled = (BertForSequenceClassification, BertForTokenClassification)
    return FIVE_LABELS if cls in labelled else {}


def inputs_for(cls, batch, padded=True):
    values = vars(batch) if padded else {"input_ids": batch.input_ids}
    if cls is BertForMultipleChoice:
        return {
            name: torch.stack([value, value.roll(1, 0), value.roll(2, 0)], 1)
            for name, value in values.items()
        }
    return values


def labels_for(cls):
    """Our labels and the peer's; the peer ignores -100 alone."""
    words = WORDS.where(WORDS != -1, -100)
    sentences = torch.tensor([1, 0, 1])
    classes = torch.tensor([4, 0, 2])
    choices = torch.tensor([2, 0, 1])
    tokens = torch.arange(21).view(3, 7) % 5
    ends = {"start_positions": torch.tensor([0, 3, 2]), "end_positions": torch.tensor([6, 3, 4])}
    return {
        BertForPreTraining: (
            {"masked_lm_labels": WORDS, "next_sentence_label": sentences},
            {"labels": words, "next_sentence_label": sentences},
        ),
        BertForMaskedLM: ({"masked_lm_labels": WORDS}, {"labels": words}),
        BertForNextSentencePrediction: (
            {"next_sentence_label": sentences},
            {"labels": sentences},
        ),
        BertForSequenceClassification: ({"labels": classes}, {"labels": classes}),
        BertForMultipleChoice: ({"labels": choices}, {"labels": choices}),
        BertForTokenClassification: ({"labels": tokens}, {"labels": tokens}),
        BertForQuestionAnswering: (ends, ends),
    }[cls]


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("cls", HEADS)
def test_scores_agree(cls, make_pair, batch, assert_close, padded):
    ours, peer = make_pair(cls, **options_for(cls))
    inputs = inputs_for(cls, batch, padded)
    expected = peer(**inputs)
    for inference in (True, False):
        with torch.inference_mode(inference):
            found = ours(**inputs)
            found = found if isinstance(found, tuple) else (found,)
            names = SCORES.get(cls, ("logits",))
            assert len(found) == len(names)
            for mine, name in zip(found, names, strict=True):
                assert_close(mine, getattr(expected, name))


@pytest.mark.parametrize("cls", HEADS)
def test_scores_agree_on_a_single_text(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    inputs = {name: value[:1] for name, value in inputs_for(cls, batch).items()}
    found = ours(**inputs)
    found = found if isinstance(found, tuple) else (found,)
    for mine, name in zip(found, SCORES.get(cls, ("logits",)), strict=True):
        assert_close(mine, getattr(peer(**inputs), name))


@pytest.mark.parametrize("cls", HEADS)
def test_losses_agree(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    mine, theirs = labels_for(cls)
    inputs = inputs_for(cls, batch)
    if cls is BertForTokenClassification:  # ours counts real tokens only, by itself
        real = batch.attention_mask == 1
        theirs = {"labels": theirs["labels"].where(real, torch.tensor(-100))}
    found = ours(**inputs, **mine)
    assert found.dim() == 0
    assert_close(found, peer(**inputs, **theirs).loss)


@pytest.mark.parametrize("cls", HEADS)
def test_gradients_of_losses_agree(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    mine, theirs = labels_for(cls)
    inputs = inputs_for(cls, batch, padded=False)
    ours(**inputs, **mine).backward()
    peer(**inputs, **theirs).loss.backward()
    expected = {name: parameter.grad for name, parameter in peer.named_parameters()}
    for name, parameter in ours.named_parameters():
        assert_close(parameter.grad, expected[name])


@pytest.mark.parametrize("cls", HEADS)
def test_state_dicts_travel_both_ways_strictly(cls, make_pair):
    ours, peer = make_pair(cls, seed=1, **options_for(cls))
    other, _ = make_pair(cls, seed=2, **options_for(cls))
    theirs = peer.state_dict()
    assert set(ours.state_dict()) == set(theirs)
    other.load_state_dict(theirs, strict=True)
    peer.load_state_dict(other.state_dict(), strict=True)
    for name, value in other.state_dict().items():
        assert torch.equal(value, theirs[name]), name


@pytest.mark.parametrize("cls", HEADS)
def test_only_the_heads_that_use_it_have_a_pooler(cls, make_config):
    without = (BertForMaskedLM, BertForTokenClassification, BertForQuestionAnswering)
    names = cls(make_config()).state_dict()
    assert ("bert.pooler.dense.weight" in names) == (cls not in without)


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


def test_scores_at_positions_are_the_rows_of_all_scores(make_pair, batch, assert_close):
    for cls in (BertForMaskedLM, BertForPreTraining):
        ours, _ = make_pair(cls)
        positions = torch.tensor([[0, 6, 6], [3, 1, 0], [2, 2, 4]])
        every = ours.run(**vars(batch)).logits
        found = ours.scores_at(positions=positions, **vars(batch))
        assert found.shape == (3, 3, 99)
        for row in range(3):
            assert_close(found[row], every[row, positions[row]])
        assert ours.scores_at(batch.input_ids, torch.zeros(3, 0, dtype=torch.long)).shape == (
            3,
            0,
            99,
        )
        masked = ours.scores_at(batch.input_ids, positions, head_mask=torch.zeros(4))
        assert_close(
            masked[0], ours.run(batch.input_ids, head_mask=torch.zeros(4)).logits[0, positions[0]]
        )


@pytest.mark.parametrize("cls", HEADS)
def test_head_masks_reach_every_head(cls, make_pair, batch, assert_close):
    ours, peer = make_pair(cls, **options_for(cls))
    for layer in peer.bert.encoder.layer:
        with torch.no_grad():
            layer.attention.output.dense.weight[:, 8:16] = 0
    inputs = inputs_for(cls, batch)
    found = ours(**inputs, head_mask=torch.tensor([1, 0, 1, 1]))
    found = found if isinstance(found, tuple) else (found,)
    for mine, name in zip(found, SCORES.get(cls, ("logits",)), strict=True):
        assert_close(mine, getattr(peer(**inputs), name))


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


# -- on a real trained encoder --------------------------------------------------------------------


@pytest.mark.parametrize("cls", HEADS)
def test_heads_agree_on_a_trained_encoder(cls, minilm, make_peer, tmp_path, assert_close):
    torch.manual_seed(4)
    ours = cls.from_pretrained(minilm)
    assert ours.load_report.missing
    peer = make_peer(cls.__name__, ours.config)
    peer.load_state_dict(ours.state_dict())
    ids = torch.randint(1000, 30_000, (2, 23))
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids).index_fill(1, torch.tensor([22]), 0),
    }
    if cls is BertForMultipleChoice:
        inputs = {name: value[None] for name, value in inputs.items()}
    with torch.inference_mode():
        found, expected = ours(**inputs), peer(**inputs)
    found = found if isinstance(found, tuple) else (found,)
    for mine, name in zip(found, SCORES.get(cls, ("logits",)), strict=True):
        assert_close(mine, getattr(expected, name))


# -- one encoder for all classes ------------------------------------------------------------------


def pointers(model):
    return {name: parameter.data_ptr() for name, parameter in model.named_parameters()}


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


def test_from_model_names_what_is_fresh(make_config):
    words = BertForMaskedLM(make_config()).eval()
    tagger = BertForTokenClassification.from_model(words, 5)
    assert tagger.load_report.missing == ("classifier.weight", "classifier.bias")
    assert tagger.classifier.weight.shape == (5, 32)
    assert 0 < tagger.classifier.weight.std() < 0.05
    assert tagger.classifier.bias.abs().sum() == 0
    sentences = BertForNextSentencePrediction.from_model(words)
    assert set(sentences.load_report.missing) == {
        "bert.pooler.dense.weight",
        "bert.pooler.dense.bias",
        "cls.seq_relationship.weight",
        "cls.seq_relationship.bias",
    }


def test_from_model_remembers_what_a_checkpoint_did_not_fill(make_config, tmp_path):
    BertModel(make_config()).save_pretrained(tmp_path)
    both = BertForPreTraining.from_pretrained(tmp_path)
    words = BertForMaskedLM.from_model(both)
    assert set(words.load_report.missing) == {
        name for name in both.load_report.missing if "seq_relationship" not in name
    }
    assert words.load_report.source == both.load_report.source
    assert BertModel.from_model(words, add_pooling_layer=False).load_report.missing == ()


def test_from_model_leaves_a_classifier_to_the_class_it_belongs_to(make_config):
    texts = BertForSequenceClassification(make_config(), 3)
    for cls in (BertForTokenClassification, BertForMultipleChoice):
        model = cls.from_model(texts)
        assert model.load_report.missing == ("classifier.weight", "classifier.bias")
        assert model.classifier.weight is not texts.classifier.weight
        assert model.classifier.weight.std() > 0
    assert BertForSequenceClassification.from_model(texts).load_report.missing == ()


def test_from_model_leaves_what_it_shares_as_it_was(make_config, tmp_path):
    encoder = BertModel(make_config())
    incomplete = {k: v for k, v in encoder.state_dict().items() if "pooler" not in k}
    encoder.save_pretrained(tmp_path)
    encoder = BertModel.from_pretrained(tmp_path, state_dict=incomplete)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    for cls in HEADS:
        cls.from_model(encoder)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_from_model_fills_a_head_that_the_other_lacks_as_well(make_config, tmp_path):
    BertModel(make_config()).save_pretrained(tmp_path)
    texts = BertForSequenceClassification.from_pretrained(tmp_path, num_labels=3)
    for outputs in (3, 5):
        tagger = BertForTokenClassification.from_model(texts, outputs)
        assert tagger.classifier.weight.std() > 0


def test_what_trains_one_trains_the_other(make_config, batch):
    words = BertForMaskedLM(make_config()).eval()
    tagger = BertForTokenClassification.from_model(words, 3)
    before = words(**vars(batch)).detach()
    optimizer = torch.optim.SGD(tagger.parameters(), lr=0.5)
    tagger(**vars(batch), labels=torch.zeros(3, 7, dtype=torch.long)).backward()
    optimizer.step()
    assert not torch.allclose(words(**vars(batch)), before)
    with torch.inference_mode():
        assert not torch.allclose(words(**vars(batch)), before)


def test_from_model_keeps_the_pruning_of_the_other(make_config, batch, assert_close):
    encoder = BertModel(make_config()).eval()
    encoder.prune_heads({0: [1, 2]})
    tagger = BertForTokenClassification.from_model(encoder)
    assert tagger.encoder_model.encoder.layer[0].attention.self.heads == [0, 3]
    assert_close(
        tagger.run(**vars(batch)).last_hidden_state, encoder.run(**vars(batch)).last_hidden_state
    )
