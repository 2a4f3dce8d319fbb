"""Every family with every head, beside `transformers`: numbers, files both ways, losses."""

import copy
import json

import pytest
import torch
import transformers
from safetensors.torch import load_file

import bert_core
from bert_core.checkpoints.loading import load_sharing
from bert_core.checkpoints.plan import survey
from bert_core.config import BertConfig
from bert_core.errors import ConfigError, InputError
from bert_core.families import FAMILIES
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.model.kinds import ALL_KINDS, KINDS
from tests.bert_core.classes import LABELS
from tests.bert_core.families.conftest import CASES, FEW, inputs, outputs_of

OTHERS = [name for name in FAMILIES if name != "bert"]
FIELDS = ("logits", "start_logits", "end_logits", "seq_relationship_logits", "pooler_output")


def load(name, folder, **options):
    return getattr(bert_core, name).from_pretrained(folder, **options)


def same_outputs(found, expected, close):
    for field in FIELDS:
        mine, theirs = getattr(found, field), getattr(expected, field)
        if field != "pooler_output":  # a peer with a head does not return it
            assert (mine is None) == (theirs is None), field
        if theirs is not None:
            close(mine, theirs)
    for field in ("hidden_states", "attentions"):
        for mine, theirs in zip(getattr(found, field), getattr(expected, field), strict=True):
            close(mine, theirs)


@pytest.mark.parametrize(("family", "name"), CASES)
def test_everything_agrees_and_nothing_is_left_over(saved, assert_close, family, name):
    peer, folder = saved(family, name)
    ours = load(name, folder)
    assert (ours.load_report.missing, ours.load_report.unexpected) == ((), ())
    typed = ours.config.type_vocab_size > 1
    kinds = [inputs(family, name), inputs(family, name, length=1)]
    kinds += [inputs(family, name, pair=True)] if typed else []
    longest = {"input_ids": inputs(family, name, length=ours.config.max_length)["input_ids"]}
    for given in (*kinds, longest):
        for grad in (True, False):
            with torch.set_grad_enabled(grad):
                same_outputs(ours.run(**given), outputs_of(peer, given), assert_close)


@pytest.mark.parametrize(("family", "name"), FEW)
def test_transformers_opens_what_is_saved(saved, tmp_path, family, name):
    peer, folder = saved(family, name)
    load(name, folder).save_pretrained(tmp_path / "again")
    again, told = type(peer).from_pretrained(tmp_path / "again", output_loading_info=True)
    assert not (told["missing_keys"] or told["unexpected_keys"] or told["mismatched_keys"])
    for key, value in peer.state_dict().items():
        assert torch.equal(again.state_dict()[key], value), key
    before, after = peer.config.to_dict(), again.config.to_dict()
    assert {key: before[key] for key in before if key != "_name_or_path"} == {
        key: after.get(key) for key in before if key != "_name_or_path"
    }
    assert set(load_file(tmp_path / "again" / "model.safetensors")) == set(
        load_file(folder / "model.safetensors")
    )
    auto = transformers.AutoConfig.from_pretrained(tmp_path / "again")
    assert auto.architectures == [type(peer).__name__]


@pytest.mark.parametrize(("family", "name"), FEW)
def test_weights_are_taken_under_either_names_in_any_file(saved, tmp_path, family, name):
    peer, folder = saved(family, name)
    ours = load(name, folder)
    for state in (ours.state_dict(), peer.state_dict()):
        found = load(name, folder, state_dict=state)
        assert found.load_report.missing == () and found.load_report.unexpected == ()
        assert all(torch.equal(found.state_dict()[key], each) for key, each in
                   ours.state_dict().items())  # fmt: skip
    (folder / "model.safetensors").unlink()
    old = {
        key.replace("LayerNorm.weight", "LayerNorm.gamma"): value.clone()
        for key, value in peer.state_dict().items()
    }
    torch.save(old, folder / "pytorch_model.bin")
    assert load(name, folder).load_report.missing == ()
    (folder / "pytorch_model.bin").unlink()
    peer.save_pretrained(folder, max_shard_size="20KB")
    assert (folder / "model.safetensors.index.json").is_file()
    assert load(name, folder).load_report.missing == ()


def labels_for(name):
    if name == "BertForReplacedTokenDetection":
        return {"labels": torch.arange(21).view(3, 7) % 2}
    labels = LABELS.get(getattr(bert_core, name), {})
    words = {key: each for key, each in labels.items() if key == "masked_lm_labels"}
    return words or labels  # not every family has a head for pairs


def test_the_loss_of_replaced_tokens_is_that_of_transformers(saved, assert_close):
    peer, folder = saved("electra", "BertForReplacedTokenDetection")
    given = inputs("electra", "BertForReplacedTokenDetection")
    labels = labels_for("BertForReplacedTokenDetection")
    ours = load("BertForReplacedTokenDetection", folder)
    assert_close(ours(**given, **labels), peer(**given, **labels).loss)
    given["attention_mask"] = torch.ones(3, 7)
    first = labels["labels"].where(torch.arange(7) < 4, torch.tensor(-100))
    scores = ours(**given)[:, :4]
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        scores, labels["labels"][:, :4].float()
    )
    assert_close(ours(**given, labels=first), expected)


@pytest.mark.parametrize("family", OTHERS)
def test_one_encoder_serves_every_class_of_a_family(saved, assert_close, family):
    peer, folder = saved(family, "BertForMaskedLM")
    base = BertForPreTraining.from_pretrained(folder)
    sentence = {"cls.seq_relationship.weight", "cls.seq_relationship.bias"}
    pooler = {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}
    own = sentence | pooler if family == "albert" else set()
    assert set(base.load_report.missing) == own
    assert set(survey(folder, [kind.cls for kind in ALL_KINDS.values()]).classes) == {
        name for name in ALL_KINDS if FAMILIES[family].has(name)
    }
    for kind in KINDS.values():
        if FAMILIES[family].has(kind.name):
            for shared in (load_sharing(kind.cls, base, folder), kind.cls.from_model(base)):
                ours, theirs = shared.encoder_model, base.encoder_model
                assert ours.embeddings.word_embeddings.weight is (
                    theirs.embeddings.word_embeddings.weight
                )
                last = ours.encoder.layer_at(2).output.dense.weight
                assert last is theirs.encoder.layer_at(2).output.dense.weight
    masked = load_sharing(BertForMaskedLM, base, folder)
    given = inputs(family, "BertForMaskedLM")
    at = torch.tensor([[1, 3], [0, 2], [4, 6]])
    expected = outputs_of(peer, given).logits.gather(1, at[..., None].expand(-1, -1, 99))
    assert_close(masked.scores_at(positions=at, **given), expected)


@pytest.mark.parametrize("family", OTHERS)
def test_a_config_is_written_and_read_with_the_familys_names_and_defaults(tmp_path, family):
    row = FAMILIES[family]
    config = BertConfig.from_dict({"model_type": family})
    peer = getattr(transformers, f"{row.classes}Config")()
    found = type(peer).from_dict(config.to_dict()).to_dict()
    assert found == peer.to_dict()
    config.to_json_file(tmp_path / "config.json")
    written = json.loads((tmp_path / "config.json").read_text())
    assert ("dim" in written) == (family == "distilbert") == ("hidden_size" not in written)
    assert BertConfig(str(tmp_path / "config.json")) == config
    assert BertConfig.from_json_file(tmp_path / "config.json") == config
    assert (config.model_type, config.family) == (family, row)
    assert config.max_length == 512 - 2 * row.counts_after_padding
    assert config.embedding_size == (128 if row.projects else config.hidden_size)
    assert BertConfig(99, 64, model_type=family).pad_token_id == config.pad_token_id


@pytest.mark.parametrize("family", OTHERS)
def test_bfloat16_meta_copies_and_head_masks_work(saved, assert_close, family):
    _, folder = saved(family, "BertForMaskedLM")
    given = inputs(family, "")
    half = load("BertForMaskedLM", folder, dtype="bfloat16")
    model = load("BertForMaskedLM", folder)
    expected = model.run(**given).logits
    torch.testing.assert_close(half.run(**given).logits.float(), expected, rtol=0.3, atol=0.6)
    assert_close(copy.deepcopy(model).double().float().run(**given).logits, expected)
    meta = copy.deepcopy(model).to("meta")
    moved = {key: value.to("meta") for key, value in given.items()}
    assert meta.run(**moved).logits.shape == (3, 7, 99)
    assert meta.cls.predictions.decoder.weight is meta.bert.embeddings.word_embeddings.weight
    only = torch.ones(3, 4)
    only[1, 2] = 0
    off = model.run(**given, head_mask=only).logits
    assert not torch.allclose(off, expected)
    if family == "albert":
        with pytest.raises(ConfigError, match="ALBERT share their weights"):
            model.prune_heads({1: [2]})
    else:
        model.prune_heads({1: [2]})
        assert_close(model.run(**given).logits, off)


def test_layers_that_share_weights_keep_their_own_results(saved, assert_close):
    _, folder = saved("albert", "BertModel")
    model = load("BertModel", folder, keep_multihead_output=True)
    given = inputs("albert", "")
    layers, _ = model(**given)
    kept = model.get_multihead_outputs()
    assert len({id(each) for each in kept}) == len(layers) == 3
    for number, block in enumerate(model.encoder.layers()):
        before = model.run(**given).hidden_states[number]
        attended = block.attention.output(kept[number].transpose(1, 2).flatten(2), before)
        assert_close(block.output(block.intermediate(attended), attended), layers[number])
    assert sum(each.numel() for each in model.parameters()) == sum(
        each.numel() for each in load_file(folder / "model.safetensors").values()
    )


def test_a_second_token_type_is_refused_where_there_is_none(saved):
    for family in ("roberta", "distilbert"):
        model = load("BertModel", saved(family, "BertModel")[1])
        ids = inputs(family, "")["input_ids"]
        zeros = model.run(ids, torch.zeros_like(ids)).last_hidden_state
        assert torch.equal(zeros, model.run(ids).last_hidden_state)
        with pytest.raises(InputError, match="token_type_ids contains 1; this model expects 0"):
            model.run(ids, torch.ones_like(ids))


def test_a_text_as_long_as_the_table_but_not_the_model_is_refused(saved):
    model = load("BertModel", saved("roberta", "BertModel")[1])
    with pytest.raises(InputError, match="has 18 tokens; this model reads at most 17"):
        model.run(torch.full((1, 18), 7))


def test_sentence_order_is_alberts_pretraining_head_alone(saved, assert_close, tmp_path):
    peer, folder = saved("albert", "BertForPreTraining")
    model = load("BertForSentenceOrderPrediction", folder)
    assert model.load_report.missing == ()
    given = inputs("albert", "", pair=True)
    expected = outputs_of(peer, given).seq_relationship_logits
    assert_close(model(**given), expected)
    labels = torch.tensor([0, 1, 1])
    loss = torch.nn.functional.cross_entropy(expected, labels)
    assert_close(model(**given, sentence_order_label=labels), loss)
    model.save_pretrained(tmp_path / "alone")
    assert load("BertForSentenceOrderPrediction", tmp_path / "alone").load_report.missing == ()
