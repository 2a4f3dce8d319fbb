"""Classification: probabilities of the configured kind, labels, pairs."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from app.engine.models import Engine
from app.features.classification import view as view
from app.features.classification.result import ClassificationResult
from app.features.classification.task import classification, kind_of
from bert_core import BertConfig, BertForSequenceClassification
from bert_core.errors import InputError
from tests.conftest import save_tiny
from tests.snippets import ran


def shown(result: ClassificationResult) -> str:
    return "".join(map(str, view.screen(result).report().drawn()))


def engine_of(folder: Path, **settings: object) -> Engine:
    """Save a tiny classifier with these settings in its configuration, and load it."""
    save_tiny(folder, BertForSequenceClassification)
    config = json.loads((folder / "config.json").read_text())
    config.update(settings)
    config["temperatures"] = {"BertForSequenceClassification": 2.0}
    loaded = BertForSequenceClassification(BertConfig.from_dict(config))
    torch.manual_seed(3)
    torch.nn.init.normal_(loaded.classifier.weight, std=1.0)
    loaded.save_pretrained(folder)
    return Engine(str(folder))


def logits_of(engine: Engine, *texts: str) -> torch.Tensor:
    """Return the logits (C,) of the model itself."""
    outputs = engine.run(BertForSequenceClassification, engine.tokenizer.encode(*texts))
    assert outputs.logits is not None
    return outputs.logits[0].double()


def test_probabilities_are_the_softmax_and_labels_those_of_the_configuration(
    tiny_engine: Engine,
) -> None:
    result = classification(tiny_engine, "the cat sat")
    logits = logits_of(tiny_engine, "the cat sat")
    assert result.labels == ("bad", "good", "odd")
    assert result.logits == pytest.approx(logits.tolist(), abs=1e-6)
    assert result.scores == pytest.approx(torch.softmax(logits, 0).tolist(), abs=1e-6)
    assert result.chosen == (("bad", "good", "odd")[int(logits.argmax())],)
    assert [result.scores[n] for n in result.ranking] == sorted(result.scores, reverse=True)


def test_a_second_text_is_the_second_segment(tiny_engine: Engine) -> None:
    result = classification(tiny_engine, "the cat", "a dog")
    assert result.encoding.token_type_ids == [0, 0, 0, 0, 1, 1, 1]
    assert result.logits == pytest.approx(logits_of(tiny_engine, "the cat", "a dog").tolist())
    assert classification(tiny_engine, "the cat", "  ").encoding.text_pair is None


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"num_labels": 3}, "single"),
        ({"num_labels": 1}, "regression"),
        ({"num_labels": 3, "problem_type": "regression"}, "regression"),
        ({"num_labels": 3, "problem_type": "multi_label_classification"}, "multi"),
        ({"num_labels": 1, "problem_type": "multi_label_classification"}, "multi"),
        ({"num_labels": 2, "problem_type": "single_label_classification"}, "single"),
        ({"num_labels": 2, "problem_type": ["nonsense"]}, "single"),
    ],
)
def test_the_configuration_says_what_the_outputs_are(
    settings: dict[str, object], kind: str
) -> None:
    assert kind_of(BertConfig(9, **settings)) == kind  # type: ignore[arg-type]


def test_several_labels_may_be_true(tmp_path: Path) -> None:
    names = {str(n): name for n, name in enumerate(["joy", "fear", "anger", "<b>"])}
    kind = "multi_label_classification"
    engine = engine_of(tmp_path / "many", problem_type=kind, id2label=names)
    result = classification(engine, "the cat sat")
    shares = torch.sigmoid(logits_of(engine, "the cat sat") / 2)
    assert result.scores == pytest.approx(shares.tolist(), abs=1e-6)
    wanted = {names[str(n)] for n, share in enumerate(shares.tolist()) if share >= 0.5}
    assert set(result.chosen) == wanted and 0 < len(wanted) < 4
    assert "do not add up" in shown(result)
    assert "<b>" not in shown(replace(result, scores=(0.9,) * 4))
    none = replace(result, scores=(0.1, 0.2, 0.3, 0.4))
    assert "none of its labels" in shown(none)


def test_a_regression_gives_its_number_and_no_percentage(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "number", id2label={"0": "stars"})
    result = classification(engine, "the cat sat")
    assert result.kind == "regression"
    assert (
        result.scores == result.logits == pytest.approx(logits_of(engine, "the cat sat").tolist())
    )  # the temperature divides no number that is not a probability
    said = shown(result)
    assert f"stars {view.signed(result.logits[0], 3)}" in said
    assert "%" not in said and result.chosen == ()


@pytest.mark.parametrize(("first", "second", "named"), [("", "", "first"), ("a", "\x00", "second")])
def test_a_text_without_pieces_is_refused_by_name(
    tiny_engine: Engine, first: str, second: str, named: str
) -> None:
    with pytest.raises(InputError, match=f"The {named} text has no piece"):
        classification(tiny_engine, first, second)


def test_a_model_of_one_token_type_reads_one_text_only(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "single", type_vocab_size=1)
    assert len(classification(engine, "the cat").scores) == 2
    with pytest.raises(InputError, match="one token type"):
        classification(engine, "the cat", "a dog")


@pytest.mark.parametrize(
    "settings",
    [
        {"id2label": {"0": "x", "1": "y", "2": "z"}},
        {"num_labels": 3, "problem_type": "multi_label_classification"},
        {"num_labels": 1},
    ],
)
def test_the_snippet_computes_the_pages_numbers(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    engine = engine_of(tmp_path / "model", **settings)
    for texts in (("the 'cat'",), ("the cat", 'a "dog"')):
        result = classification(engine, *texts)
        printed = ast.literal_eval(ran(view.snippet(result, str(tmp_path / "model")))[1])
        assert printed == pytest.approx(
            dict(zip(result.labels, result.scores, strict=True)), abs=1e-5
        )
