"""What a model brings, and whether it suits a page: every rule on a model that breaks it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from app.catalog import FEATURES
from app.engine.models import Engine, usable
from app.engine.models.facts import ModelFacts, read_facts
from app.engine.models.fit import Severity, misfits
from app.engine.models.shelf import not_models
from app.faces.paper.answers import ask
from app.faces.streamlit.about import heads, sizes
from app.words.blocks import facts as block_of_facts
from app.words.notes import holdings, misfit_note
from bert_core import (
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertModel,
)
from bert_core.errors import CheckpointError, ConfigError, MissingFileError
from bert_core.model.kinds import KINDS
from tests.conftest import VOCABULARY, save_heads, save_tiny

TAGS = {"0": "O", "1": "B-PER", "2": "I-PER"}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ModelFacts]:
    """Write a tiny model, change its configuration or vocabulary, and read what it brings."""

    def build(cls: Any, *, vocabulary: list[str] | None = None, **changes: Any) -> ModelFacts:
        folder = save_tiny(tmp_path_factory.mktemp("made"), cls)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (folder / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
        if vocabulary is not None:
            (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        return read_facts(folder)

    return build


def says(facts: ModelFacts, *needs: str) -> str:
    return " ".join(misfit.says for misfit in misfits(facts, needs))


def gravest(facts: ModelFacts, *needs: str) -> Severity | None:
    found = misfits(facts, needs)
    return found[0].severity if found else None


def test_a_complete_model_suits_every_page(tiny_folder: Path) -> None:
    facts = read_facts(tiny_folder)
    assert {row.slug: misfits(facts, row.needs) for row in FEATURES} == {
        row.slug: () for row in FEATURES
    }


def test_the_facts_are_what_the_engine_finds(tiny_engine: Engine, headless_folder: Path) -> None:
    for engine in (tiny_engine, Engine(str(headless_folder))):
        for name, head in engine.facts.heads.items():
            assert head.missing == engine.missing(name)
            assert head.trained == (not engine.missing(name))


@pytest.mark.parametrize("name", [kind.name for kind in KINDS.values() if kind.answers])
def test_an_encoder_alone_would_answer_by_chance(untrained_folder: Path, name: str) -> None:
    facts = read_facts(untrained_folder)
    assert gravest(facts, name) is Severity.NOISE
    assert f"no trained {KINDS[name].head}" in says(facts, name)
    assert misfits(facts, [name])[0].names == facts.heads[name].missing


def test_a_head_without_the_pooler_it_reads_from_is_told_so(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForPreTraining)
    model = BertForPreTraining.from_pretrained(folder)
    kept = {k: v for k, v in model.state_dict().items() if "pooler" not in k}
    (folder / "model.safetensors").unlink()
    torch.save(kept, folder / "pytorch_model.bin")
    facts = read_facts(folder)
    assert "not all of the weights below it" in says(facts, "BertForNextSentencePrediction")
    assert says(facts, "BertForMaskedLM") == ""


TEXTS, WORDS, CHOICES = (
    "BertForSequenceClassification",
    "BertForTokenClassification",
    "BertForMultipleChoice",
)
NUMBERED = {"0": "LABEL_0", "1": "LABEL_1"}
OF_LABELS: tuple[tuple[str, dict[str, Any], str, Severity | None, str], ...] = (
    (TEXTS, {}, TEXTS, Severity.REMARK, "its 2 labels mean"),
    (TEXTS, {}, WORDS, Severity.NOISE, "is a head for classifying texts"),
    (TEXTS, {"id2label": {"0": "bad", "1": "good"}}, TEXTS, None, ""),
    (TEXTS, {"architectures": None}, WORDS, Severity.NOISE, "does not say what it classifies"),
    (TEXTS, {"architectures": None}, TEXTS, Severity.NOISE, "no trained"),
    (WORDS, {}, TEXTS, Severity.NOISE, "is a head for labelling words"),
    (WORDS, {"id2label": NUMBERED}, WORDS, Severity.REMARK, "its 2 labels mean"),
    (WORDS, {"id2label": {"0": "O", "1": "B-PER"}}, WORDS, None, ""),
    (WORDS, {"id2label": TAGS}, WORDS, Severity.UNUSABLE, "configuration, which has 3 labels"),
    (WORDS, {"id2label": {"1": "O", "2": "B-PER"}}, WORDS, Severity.UNUSABLE, "id2label"),
    (WORDS, {"id2label": {"0": "O", "2": "B-PER"}}, TEXTS, Severity.UNUSABLE, "expected"),
    (WORDS, {"id2label": {"0": "O", "1": None}}, WORDS, Severity.UNUSABLE, "id2label"),
    (WORDS, {"id2label": {"0": 0, "1": 1}}, WORDS, None, ""),  # no text, but can be shown
    (CHOICES, {}, WORDS, Severity.NOISE, "is a multiple-choice head"),
)


@pytest.mark.parametrize(("cls", "changes", "need", "severity", "why"), OF_LABELS)
def test_labels_decide_what_a_classifier_is_good_for(
    make: Callable[..., ModelFacts],
    cls: str, changes: dict[str, Any], need: str, severity: Severity | None, why: str,
) -> None:  # fmt: skip
    facts = make(KINDS[cls].cls, **changes)
    assert gravest(facts, need) is severity
    assert why in says(facts, need)
    assert gravest(facts) is None  # pages without a head can do with it
    assert severity or says(facts, need) == ""


@pytest.mark.parametrize("token", ["[MASK]", "[CLS]", "[SEP]"])
def test_a_vocabulary_without_a_special_token(make: Callable[..., ModelFacts], token: str) -> None:
    words = ["x-y" if word == token else word for word in VOCABULARY]
    facts = make(BertForMaskedLM, vocabulary=words)
    assert gravest(facts, "BertForMaskedLM") is Severity.UNUSABLE
    assert f"has no {token}; it is needed" in says(facts, "BertForMaskedLM")
    assert (gravest(facts) is None) == (token == "[MASK]")
    assert ("Vocabulary file", f"{len(words)} entries, without {token}") in sizes(facts)


def test_a_vocabulary_larger_than_the_weights_belongs_to_another_model(
    make: Callable[..., ModelFacts],
) -> None:
    size = len(VOCABULARY)
    with pytest.raises(CheckpointError, match=rf"{size + 2} entries.* room for {size};"):
        make(BertForMaskedLM, vocabulary=[*VOCABULARY, "one", "more"])
    smaller = make(BertForMaskedLM, vocabulary=VOCABULARY[:-2])
    assert misfits(smaller, ["BertForMaskedLM"]) == ()
    assert f"room in the weights for {size}" in sizes(smaller)[2][1]


def test_pairs_need_two_token_types_and_every_page_some_length(tiny_folder: Path) -> None:
    facts = read_facts(tiny_folder)
    single = replace(facts, segments=1)
    assert "only one token type" in says(single, "BertForQuestionAnswering")
    assert "only one token type" in says(single, "BertForNextSentencePrediction")
    assert says(single, "BertForTokenClassification") == ""
    short = replace(facts, positions=8)
    assert "at most 8 tokens" in says(short)
    assert gravest(short) is Severity.UNUSABLE


def test_the_gravest_reason_comes_first(make: Callable[..., ModelFacts]) -> None:
    words = ["x-y" if word == "[MASK]" else word for word in VOCABULARY]
    found = misfits(make(BertModel, vocabulary=words), ["BertForMaskedLM"])
    assert [misfit.severity for misfit in found] == [Severity.UNUSABLE, Severity.NOISE]


def test_the_first_model_that_nothing_speaks_against_is_offered(
    tiny_folder: Path,
    untrained_folder: Path,
    make: Callable[..., ModelFacts],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table: dict[str, ModelFacts] = {
        "bare": read_facts(untrained_folder),
        "nameless": make(BertForTokenClassification),
        "full": read_facts(tiny_folder),
        "fuller": read_facts(tiny_folder),
    }

    def facts_of(name: str) -> ModelFacts:
        if name not in table:
            raise CheckpointError(f"{name} cannot be read.")
        return table[name]

    monkeypatch.setattr(usable, "usable", lambda: {name: name for name in ("unreadable", *table)})
    monkeypatch.setattr(usable, "offered_facts", facts_of)
    assert usable.another_fitting("", ["BertForTokenClassification"]) == "full"
    assert usable.another_fitting("full", ["BertForTokenClassification"]) == "fuller"
    assert usable.another_fitting("", []) == "bare"
    for name in ("full", "fuller"):
        del table[name]
    assert usable.another_fitting("", ["BertForMaskedLM"]) is None


def test_folders_that_are_no_bert_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"config\.json"):
        read_facts(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "vocab_size": 9}')
    with pytest.raises(ConfigError, match="'gpt2'"):
        read_facts(tmp_path)
    folder = save_tiny(tmp_path / "cut", BertForMaskedLM)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-100])
    with pytest.raises(CheckpointError, match="truncated"):
        read_facts(folder)


def test_facts_are_read_again_when_a_file_changes(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForMaskedLM)
    before = read_facts(folder)
    assert read_facts(folder) is before
    save_tiny(folder, BertForPreTraining)
    assert read_facts(folder).heads["BertForNextSentencePrediction"].trained
    assert not before.heads["BertForNextSentencePrediction"].trained


def test_an_encoder_of_its_own_is_known_and_counted(tiny_folder: Path, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForPreTraining)
    base = BertForPreTraining.from_pretrained(folder)
    BertForQuestionAnswering.from_model(base).save_pretrained(
        folder / "heads" / "BertForQuestionAnswering"
    )
    facts = read_facts(folder)
    assert facts.heads["BertForQuestionAnswering"].own_encoder
    assert not read_facts(tiny_folder).heads["BertForQuestionAnswering"].own_encoder
    one = 4 * sum(parameter.numel() for parameter in base.parameters())
    head = 4 * sum(p.numel() for p in BertForQuestionAnswering(base.config).parameters())
    assert facts.memory_bytes == one + head
    files = list(folder.rglob("model.safetensors"))
    assert facts.file_bytes == sum(path.stat().st_size for path in files)
    words = [row.says for row in heads(facts) if row.title == "Answers in a text"]
    assert "encoder of its own" in words[0]


def test_what_a_model_holds_is_told_with_signs_and_escaped(
    tiny_folder: Path, make: Callable[..., ModelFacts]
) -> None:
    rows = {row.title: row for row in heads(read_facts(tiny_folder))}
    assert rows["Labels of words"].labels == ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
    assert all(row.there for row in rows.values())
    less = heads(make(BertForMaskedLM))
    assert [row.title for row in less if row.there] == ["Hidden words"]
    markup = str(holdings(less, ["odd.<tensor>"]))
    assert markup.count("✓") == 1 and markup.count("✗") == len(rows) - 1 == 5
    assert "odd.&lt;tensor&gt;" in markup


@pytest.mark.parametrize(
    "sign", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
def test_what_turns_the_direction_of_a_text_is_marked_in_the_facts(
    tiny_folder: Path, sign: str
) -> None:
    odd, told = f"B-{sign}REP", f"B-[U+{ord(sign):04X}]REP"
    found = read_facts(tiny_folder)
    head = replace(found.heads[WORDS], labels=("O", odd))
    facts = replace(found, heads={**found.heads, WORDS: head})
    label_list = str(holdings(heads(facts), [odd]))
    note = str(misfit_note(f"It has {odd}.", [odd], grave=True, noise=True))
    for markup in (label_list, note, str(block_of_facts([("Licence", odd)], "facts"))):
        assert sign not in markup and told in markup
    assert label_list.count(told) == note.count(told) == 2


def test_unused_tensors_are_named(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForMaskedLM)
    state = BertForMaskedLM.from_pretrained(folder).state_dict()
    (folder / "model.safetensors").unlink()
    torch.save({**state, "adapter.weight": torch.zeros(3)}, folder / "pytorch_model.bin")
    assert read_facts(folder).left_over == ("adapter.weight",)


def test_a_tagger_with_a_crf_is_refused_by_name_and_does_everything_else(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "model", BertForPreTraining)
    save_heads(folder)
    head = folder / "heads" / "BertForTokenClassification" / "model.safetensors"
    save_file({**load_file(head), "crf.transitions": torch.zeros(5, 5)}, head)
    facts = read_facts(folder)
    assert "crf.transitions" in facts.heads["BertForTokenClassification"].lacks
    assert facts.heads["BertForQuestionAnswering"].trained
    with pytest.raises(CheckpointError, match=r"crf\.transitions"):
        ask("ner", "Paris is old.", model=str(folder))
    assert ask("fill_mask", "The [MASK] sat.", model=str(folder)).result
    state = load_file(folder / "model.safetensors")
    name = "bert.encoder.layer.0.attention.self.query.lora_A.weight"
    save_file({**state, name: torch.zeros(3, 32)}, folder / "model.safetensors")
    for task in ("ner", "fill_mask"):
        with pytest.raises(CheckpointError, match=rf"{name}.*merge_and_unload"):
            ask(task, "The [MASK] sat.", model=str(folder))


def test_a_folder_with_an_adapter_alone_is_no_model_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(tmp_path / "models"))
    (tmp_path / "models" / "adapter").mkdir(parents=True)
    (tmp_path / "models" / "adapter" / "adapter_config.json").write_text("{}")
    assert "merge_and_unload" in dict(not_models())["adapter"]


def test_a_model_without_all_its_layers_is_not_read_and_not_opened(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path, BertForPreTraining)
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["bert.encoder.layer.1.output.dense.bias"]
    save_file(weights, path)
    for read in (lambda: read_facts(folder), lambda: Engine(str(folder))):
        with pytest.raises(
            CheckpointError, match=r"lack bert\.encoder\.layer\.1\.output\.dense\.bias"
        ):
            read()
