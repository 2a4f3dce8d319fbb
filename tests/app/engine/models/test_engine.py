"""The engine: one shared encoder, honest reports, computing only through its doors."""

import hashlib
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from app.engine.compute.recent import Cache
from app.engine.models import Engine
from app.engine.models import engine as engine_module
from app.engine.models.papers import fingerprint
from bert_core import (
    BertForMaskedLM,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.errors import InputError, MissingFileError
from bert_core.model.pretrained import BertPreTrainedModel
from tests.conftest import save_tiny


def test_all_classes_share_one_encoder(tiny_engine: Engine) -> None:
    masked, pairs = (
        tiny_engine.model(BertForMaskedLM),
        tiny_engine.model(BertForNextSentencePrediction),
    )
    ours = masked.bert.embeddings.word_embeddings.weight
    assert ours.data_ptr() == pairs.bert.embeddings.word_embeddings.weight.data_ptr()
    assert tiny_engine.model(BertForMaskedLM) is masked


def test_heads_of_a_bundle_are_put_on_the_shared_encoder(tiny_engine: Engine) -> None:
    shared = dict(tiny_engine.model(BertForPreTraining).bert.named_parameters())
    for cls in (BertForQuestionAnswering, BertForTokenClassification):
        model = tiny_engine.model(cls)
        assert model.load_report is not None and model.load_report.missing == ()
        assert all(each is shared[name] for name, each in model.bert.named_parameters())
    labels = tiny_engine.model(BertForTokenClassification).config.id2label
    assert list(labels.values()) == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    assert not tiny_engine.facts.heads["BertForTokenClassification"].own_encoder


def test_a_head_that_changed_the_encoder_reads_with_its_own(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, BertForPreTraining)
    head = BertForQuestionAnswering.from_model(BertForPreTraining.from_pretrained(folder))
    with torch.no_grad():
        head.bert.encoder.layer_at(1).output.dense.bias.add_(1.0)
    head.save_pretrained(folder / "heads" / "BertForQuestionAnswering")
    engine = Engine(str(folder))
    words, answers = engine.model(BertForMaskedLM), engine.model(BertForQuestionAnswering)
    assert engine.facts.heads["BertForQuestionAnswering"].own_encoder
    mine = answers.bert.encoder.layer_at(1).output.dense.bias
    theirs = words.bert.encoder.layer_at(1).output.dense.bias
    torch.testing.assert_close(mine, theirs + 1.0)


def test_a_fine_tuned_checkpoint_answers_as_what_it_is(tmp_path: Path) -> None:
    engine = Engine(str(save_tiny(tmp_path, BertForSequenceClassification)))
    assert engine.missing("BertForSequenceClassification") == ()
    assert engine.missing("BertForTokenClassification") == ("classifier.weight", "classifier.bias")
    alone = BertForSequenceClassification.from_pretrained(tmp_path)
    encoding = engine.tokenizer.encode("the cat")
    expected = alone.run(torch.tensor([encoding.input_ids])).logits
    found = engine.run(BertForSequenceClassification, encoding).logits
    assert found is not None and expected is not None
    torch.testing.assert_close(found, expected.detach(), atol=1e-5, rtol=0)
    stored = alone.classifier.weight
    fresh = engine.model(BertForTokenClassification).classifier.weight
    assert not torch.equal(fresh, stored)


def test_what_a_file_lacks_is_named(tiny_engine: Engine, headless_folder: Path) -> None:
    headless = Engine(str(headless_folder))
    for engine in (tiny_engine, headless):
        assert engine.missing("BertForMaskedLM") == ()
        assert not engine.model(BertForMaskedLM).training
    assert tiny_engine.missing("BertForNextSentencePrediction") == ()
    missing = headless.missing("BertForNextSentencePrediction")
    assert {"cls.seq_relationship.weight", "bert.pooler.dense.weight"} <= set(missing)
    with pytest.raises(InputError, match="BertForPoetry"):
        tiny_engine.missing("BertForPoetry")
    with pytest.raises(MissingFileError, match="no-such-model"):
        Engine("no-such-model")


def test_results_have_no_gradient_and_padding_changes_nothing(tiny_engine: Engine) -> None:
    short, long = tiny_engine.tokenizer.encode_batch(["the cat", "the dog sat on the river bank"])
    alone = tiny_engine.run(BertForMaskedLM, short)
    together = tiny_engine.run(BertForMaskedLM, [short, long])
    assert alone.logits is not None and together.logits is not None
    assert not alone.logits.requires_grad
    torch.testing.assert_close(
        together.logits[0, : len(short.input_ids)], alone.logits[0], atol=1e-5, rtol=0
    )


def test_scores_at_equals_the_rows_of_the_full_scores(tiny_engine: Engine) -> None:
    encoding = tiny_engine.tokenizer.encode("the [MASK] sat on the [MASK]")
    full = tiny_engine.run(BertForMaskedLM, encoding).logits
    assert full is not None
    torch.testing.assert_close(tiny_engine.scores_at(encoding, [2, 6]), full[0, [2, 6]])


def test_a_text_longer_than_the_model_is_refused_with_both_numbers(tiny_engine: Engine) -> None:
    encoding = tiny_engine.tokenizer.encode("cat " * 60)
    with pytest.raises(InputError, match=r"62 tokens.*at most\s48"):
        tiny_engine.run(BertForMaskedLM, encoding)


def test_the_second_casing_keeps_capitals_and_the_vocabulary(tiny_engine: Engine) -> None:
    kept = tiny_engine.tokenizer_for(lower_case=False)
    assert tiny_engine.tokenizer_for(lower_case=True) is tiny_engine.tokenizer
    assert kept is tiny_engine.tokenizer_for(lower_case=False)
    assert kept.vocab == tiny_engine.tokenizer.vocab
    assert kept.tokenize("Cat cat") == ["[UNK]", "cat"]


def test_provenance_names_the_folder_but_not_its_path(
    tiny_engine: Engine, tiny_folder: Path
) -> None:
    card = tiny_engine.provenance
    assert card.name == tiny_folder.name
    assert "/" not in card.name
    assert (card.layers, card.heads, card.hidden, card.max_length) == (2, 4, 32, 48)
    assert card.licence == "cc0-1.0"
    assert len(card.fingerprint) == 12
    assert card.lower_case


def test_the_fingerprint_is_what_other_tools_compute_and_changes_with_every_weight(
    tiny_engine: Engine, tiny_folder: Path, headless_folder: Path, tmp_path: Path
) -> None:
    files = ["model.safetensors", *sorted(tiny_folder.glob("heads/*/model.safetensors"))]
    digest = hashlib.sha256(b"".join((tiny_folder / file).read_bytes() for file in files))
    assert len(files) == 5
    assert tiny_engine.provenance.fingerprint == digest.hexdigest()[:12]
    other = tmp_path / "other"
    shutil.copytree(tiny_folder, other)
    weights = other / "heads" / "BertForQuestionAnswering" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    found = {fingerprint(each) for each in (tiny_folder, headless_folder, other)}
    assert len(found) == 3


def test_eight_threads_get_the_numbers_that_one_gets(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    encodings = [tiny_engine.tokenizer.encode("the cat " * n + "[MASK]") for n in range(1, 9)]
    at = [encoding.input_ids.index(4) for encoding in encodings]
    alone = [tiny_engine.scores_at(e, [p]) for e, p in zip(encodings, at, strict=True)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            monkeypatch.setattr(engine_module, "RECENT", Cache(0))  # computes every time
            together = list(pool.map(lambda e, p: tiny_engine.scores_at(e, [p]), encodings, at))
            for one, other in zip(alone, together, strict=True):
                torch.testing.assert_close(one, other)


def test_equal_passes_are_computed_once_and_others_apart(
    tiny_engine: Engine, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []

    class Counting:
        def run(self, work: Callable[[], object], *, tokens: int) -> object:
            passes.append(tokens)
            with torch.inference_mode():
                return work()

    monkeypatch.setattr(engine_module, "PROCESSOR", Counting())
    monkeypatch.setattr(engine_module, "RECENT", Cache(2**20))
    read, cls = tiny_engine.tokenizer.encode, BertForSequenceClassification
    one, same, pair = read("the cat sat"), read("The  cat sat"), read("the", "cat sat")
    for encoding in (one, same):
        tiny_engine.run(cls, encoding)
        tiny_engine.logits(cls, [encoding])
    assert len(passes) == 1
    for other in (pair, read("the cat"), [one, one]):
        tiny_engine.run(cls, other)
    assert len(passes) == 4
    tiny_engine.run(cls, one, hidden_states=True)
    tiny_engine.run(BertForTokenClassification, one)
    assert len(passes) == 6
    for positions in ([1], [1], [2], [1, 2]):
        found = tiny_engine.scores_at(one, positions)
        assert found.shape[0] == len(positions)
    assert len(passes) == 9
    Engine(str(tiny_folder)).run(cls, one)
    assert len(passes) == 10  # another engine, even of the same files, has results of its own


@pytest.mark.parametrize("cls", [BertForQuestionAnswering, BertForTokenClassification])
def test_an_answer_is_kept_without_the_vectors_that_no_page_reads(
    tiny_engine: Engine, cls: type[BertPreTrainedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    recent = Cache(2**20)
    monkeypatch.setattr(engine_module, "RECENT", recent)
    encoding = tiny_engine.tokenizer.encode("the cat sat " * 4)
    tiny_engine.run(cls, encoding)
    vectors = len(encoding) * tiny_engine.model(cls).config.hidden_size * 4
    assert 0 < recent.held < vectors


def test_logits_of_many_inputs_are_those_of_each_in_the_same_order(tiny_engine: Engine) -> None:
    texts = ["the cat", "a " * 30, "river", *["the dog sat"] * 9]
    encodings = [tiny_engine.tokenizer.encode(text) for text in texts]
    told: list[tuple[int, int]] = []
    found = tiny_engine.logits(
        BertForSequenceClassification, encodings, lambda *step: told.append(step)
    )
    for encoding, row in zip(encodings, found, strict=True):
        alone = tiny_engine.run(BertForSequenceClassification, encoding).logits
        assert alone is not None
        torch.testing.assert_close(row, alone[0], atol=1e-5, rtol=1e-5)
    assert [done for done, _ in told] == [8, 12]
    with pytest.raises(InputError, match="empty"):
        tiny_engine.logits(BertForSequenceClassification, [])
    with pytest.raises(InputError, match="empty"):
        tiny_engine.run(BertForMaskedLM, [])
    long = tiny_engine.tokenizer.encode("a " * 60)
    with pytest.raises(InputError, match="62 tokens"):
        tiny_engine.logits(BertForSequenceClassification, [long])


def test_warming_up_computes_a_text_of_full_length(
    tiny_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []
    real = tiny_engine._collate
    monkeypatch.setattr(
        tiny_engine,
        "_collate",
        lambda batch: lengths.extend(len(each.input_ids) for each in batch) or real(batch),
    )
    tiny_engine.warm_up()
    assert lengths == [tiny_engine.max_length] * 2  # attentions, and words
