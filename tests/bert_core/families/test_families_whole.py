"""Every family with its kind of tokenizer: analyses, readers, training, verification, the hub."""

import numpy as np
import pytest
import torch

import bert_core
from bert_core.analysis import interventions
from bert_core.analysis.attribution import METHODS, attribute
from bert_core.analysis.effects import head_effects
from bert_core.analysis.fitting import fit
from bert_core.analysis.forward import record
from bert_core.analysis.head_atlas import head_atlas
from bert_core.analysis.head_statistics import fixed_texts, head_statistics
from bert_core.analysis.input_parts import input_parts
from bert_core.analysis.lens import lens
from bert_core.analysis.mixing import part_biases, parts, value_zeroing
from bert_core.analysis.statistics_file import stale_because, write_head_statistics
from bert_core.analysis.targets import Target
from bert_core.config import BertConfig
from bert_core.errors import InputError
from bert_core.families import FAMILIES
from bert_core.finetuning.batches import (
    Question,
    TaggedWords,
    question_batch,
    word_batch,
)
from bert_core.finetuning.trainer import model_loss
from bert_core.model.heads import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForTokenClassification,
)
from bert_core.reading.passage import read_passages
from bert_core.reading.running import Runner
from tests.bert_core.conftest import lift_weights
from tests.bert_core.families.conftest import SIZES
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder
from tests.conftest import VOCABULARY

TEXTS = [each if isinstance(each, str) else " ".join(each) for each in fixed_texts()] * 3


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request, tmp_path_factory):
    """A model with all that BertForPreTraining has, and a tokenizer of its family."""
    family = request.param
    place = tmp_path_factory.mktemp("families") / family
    if family == "roberta":
        merges_folder(place, TEXTS, 400)
    elif family in ("xlm-roberta", "camembert", "albert"):
        sentencepiece_folder(place, family, TEXTS, 400)
    else:
        place.mkdir()
        (place / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
        BertConfig(len(VOCABULARY), model_type=family).to_json_file(place / "config.json")
    size = len(bert_core.load_tokenizer(place))
    sizes = {**SIZES[family], "vocab_size": size, "max_position_embeddings": 40}
    config = BertConfig.from_dict({"model_type": family, **sizes})
    torch.manual_seed(3)
    model = BertForPreTraining(config).eval()
    lift_weights(model)
    model.save_pretrained(place)
    return place


def opened(folder, cls=BertForMaskedLM):
    tokenizer, model = bert_core.load_tokenizer(folder), cls.from_pretrained(folder)
    if model.load_report.missing:
        torch.manual_seed(4)
        lift_weights(model)
    return model, tokenizer


def masked_text(tokenizer):
    text = tokenizer.encode(f"The cat {tokenizer.mask_token} on a mat.", max_length=12)
    return text, Target.token(text.input_ids.index(tokenizer.mask_token_id), 7)


def test_an_analysis_computes_what_the_model_computes(folder, assert_close):
    model, tokenizer = opened(folder)
    text, target = masked_text(tokenizer)
    ids, types = torch.tensor([text.input_ids]), torch.tensor([text.token_type_ids])
    types = types.clamp_max(model.config.type_vocab_size - 1)
    with torch.inference_mode():
        expected = model.run(ids, types)
        found = interventions.run(model, text)
        assert torch.equal(found.logits, expected.logits)
        block = model.encoder_model.encoder.layer_at(2).attention.self
        query, key, _ = block.project(expected.hidden_states[2])
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
        assert_close(scores.softmax(-1), expected.attentions[2])
        own = input_parts(model, ids[0], types[0])
        assert_close(own.hidden, expected.hidden_states[0][0])
        assert_close(own.sum, own.word + own.position + own.segment)
        off = interventions.run(model, text, interventions=[interventions.Heads(1, 2)])
        masks = torch.ones(3, 4)
        masks[1, 2] = 0
        assert_close(off.logits, model.run(ids, types, head_mask=masks).logits)
        added = parts(model, text).sum(2) + part_biases(model, text)
        sums = record(model, text)
    for layer in range(3):
        assert_close(added[layer], sums.at["attention", layer][0])
    assert np.isfinite(value_zeroing(model, text)).all()
    effects = head_effects(model, text, target, mode="zero")
    with torch.inference_mode():
        last = torch.cat([off.last_hidden_state, expected.last_hidden_state])
        without, whole = target.read(model, last).tolist()
    assert effects[1, 2] == pytest.approx(without - whole, abs=1e-4)


def test_lenses_and_attributions_take_every_tokenizer(folder, assert_close):
    model, tokenizer = opened(folder)
    text, target = masked_text(tokenizer)
    own = model.run(torch.tensor([text.input_ids])).logits[0, target.position]
    for kind in ("raw", "affine"):
        assert_close(lens(model, text, target.position, kind=kind)[-1, 0], own)
    for method in METHODS:
        found = attribute(model, text, target, method=method, orders=2)
        assert target.position in found.frozen and np.isfinite(found.scores).all()
    exact = attribute(model, text, target, method="integrated_gradients")
    assert exact.gap < 0.02
    pairs = BertForPreTraining.from_pretrained(folder)
    if FAMILIES[folder.name].sentence_head != "next":
        with pytest.raises(InputError, match="was not trained for it"):
            Target.next_sentence().check(pairs, 5)


def test_means_statistics_and_the_atlas_take_every_tokenizer(folder):
    model, tokenizer = opened(folder)
    few = (*fixed_texts()[:3], fixed_texts()[-1])
    assert fit(model, tokenizer, few).maps.isfinite().all()
    shares = head_statistics(model, tokenizer, few)
    assert shares.pairs == 1 and shares.entropy.shape == (3, 4)
    assert stale_because(write_head_statistics(folder), folder) == ""
    atlas = head_atlas(model, tokenizer, few)
    assert atlas.words > 0 and np.isfinite(atlas.effects).all()


def test_questions_and_words_are_read_and_trained(folder):
    model, tokenizer = opened(folder, BertForQuestionAnswering)
    [reading] = read_passages(
        Runner.of(model, tokenizer), [("The cat sat on a mat. " * 12, "Who sat?")]
    )
    assert len(reading.windows) > 1
    row = Question("Who sat?", "The cat sat on a mat.", "cat", 4)
    batch = question_batch(tokenizer, [row], max_length=36, stride=4)
    whole = tokenizer.encode(row.question, row.context)
    assert batch["input_ids"][0].tolist() == whole.input_ids
    start, end = batch["start_positions"][0], batch["end_positions"][0]
    assert row.context[whole.offsets[start][0] : whole.offsets[end][1]] == "cat"
    assert model_loss(model, batch).total.isfinite()
    tagger, _ = opened(folder, BertForTokenClassification)
    words = ("The", "cat", "sat")
    tagged = word_batch(tokenizer, [TaggedWords(words, (0, 1, 0))], max_length=20)
    spaced = " " if getattr(tokenizer, "kind", "") == "BPE" else ""
    assert tagged["input_ids"][0].tolist() == tokenizer.encode(spaced + "The cat sat").input_ids
    assert model_loss(tagger, tagged).total.isfinite()
