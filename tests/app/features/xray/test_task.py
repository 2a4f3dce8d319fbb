"""Test the X-ray's numbers against the library, one intervention and one layer at a time."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from app.engine.models import Engine, open_engine
from app.faces.paper.json import as_json
from app.features.xray.result import Kind, Part, all_parts, names_of, read_parts
from app.features.xray.task import MOST_TOKENS, fitting, offered, xray
from app.features.xray.task_ranking import rank_parts
from app.features.xray.task_run import CLASSES, Text, see, shares_of, text_of
from app.features.xray.task_target import target_of
from app.features.xray.view_words import headline
from bert_core import BertForMaskedLM
from bert_core.analysis import (
    Attention,
    FeedForward,
    Heads,
    head_effects,
    layer_effects,
    lens,
    run,
)
from bert_core.analysis.forward import record
from bert_core.errors import InputError
from tests.conftest import save_tiny

ASKED: dict[Kind, tuple[str, str]] = {
    "word": ("the cat sat on the [MASK] .", ""),
    "entity": ("the cat sat on the mat .", ""),
    "label": ("the cat sat .", "on the mat"),
    "next": ("the cat sat .", "on the mat"),
    "start": ("the cat sat on the mat", "the dog"),
    "end": ("the cat sat on the mat", "the dog"),
}
OFF = "0.1 0.3 1.a 1.f"
CHANGES = {
    mode: [Heads(0, [1, 3], mode=mode), Attention(1, mode=mode), FeedForward(1, mode=mode)]
    for mode in ("mean", "zero")
}


def asked(engine: Engine, kind: Kind, **given: Any) -> Any:
    text, pair = ASKED[kind]
    return xray(engine, text, text_pair=pair, ask=kind, **given)


@torch.inference_mode()
def logits_of(engine: Engine, result: Any, changes: list[Any]) -> np.ndarray:
    """Run the library alone and return the scores of all answers."""
    text = text_of(engine, result)
    outputs = run(text.model, text.encoding, interventions=changes)
    kind, at = result.question.kind, result.question.position
    found = {"start": outputs.start_logits, "end": outputs.end_logits}.get(kind, outputs.logits)
    assert found is not None
    return (found[0, at] if kind in ("word", "entity") else found[0]).double().numpy()


@torch.inference_mode()
def value_of(engine: Engine, result: Any, changes: list[Any]) -> float:
    text, question = text_of(engine, result), result.question
    last = run(text.model, text.encoding, interventions=changes).last_hidden_state
    target = target_of(question.kind, question.position, question.chosen)
    return float(target.read(text.model, last)[0])


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("mode", ["mean", "zero"])
def test_switching_off_is_what_the_library_does(tiny_engine: Engine, kind: Kind, mode: Any) -> None:
    result = asked(tiny_engine, kind, off=OFF, mode=mode)
    temperature = text_of(tiny_engine, result).temperature
    for changes, name in (([], "before"), (CHANGES[mode], "probability")):
        shares = shares_of(logits_of(tiny_engine, result, changes), temperature)
        for each in result.candidates:
            assert getattr(each, name) == pytest.approx(shares[each.number], abs=1e-5)
        best = min(result.candidates, key=lambda each: getattr(each, name) * -1)
        assert best.number == shares.argmax()
    effect = value_of(tiny_engine, result, CHANGES[mode]) - value_of(tiny_engine, result, [])
    towards = -1 if kind == "next" and result.question.chosen == 1 else 1
    assert result.effect == pytest.approx(towards * effect, abs=1e-4)


def test_nothing_off_is_the_whole_model(tiny_engine: Engine) -> None:
    result = asked(tiny_engine, "word")
    assert result.off == () and result.effect == 0
    assert [each.probability for each in result.candidates] == [
        each.before for each in result.candidates
    ]
    assert result.followed == result.best.name == result.first.name
    outputs = tiny_engine.run(
        CLASSES["word"], text_of(tiny_engine, result).encoding, attentions=True
    )
    for mine, own in zip(result.attentions, outputs.attentions or (), strict=True):
        assert np.array_equal(mine, own[0].numpy())


@pytest.mark.parametrize("kind", ["affine", "raw"])
@torch.inference_mode()
def test_the_lens_of_every_cell_is_the_librarys(tiny_engine: Engine, kind: Any) -> None:
    result = asked(tiny_engine, "word", lens=kind)
    text = text_of(tiny_engine, result)
    every = range(len(result.tokens))
    shares = lens(text.model, text.encoding, every, kind=kind).softmax(-1).numpy()  # (L+1, T, V)
    names = tiny_engine.tokenizer.ids_to_tokens
    best = shares.argmax(-1)
    assert [list(row) for row in result.readings.names] == [
        [names[number] for number in row] for row in best.tolist()
    ]
    np.testing.assert_allclose(result.readings.shares, shares.max(-1), atol=1e-5)
    final = np.take_along_axis(shares, np.broadcast_to(best[-1], best.shape)[..., None], -1)[..., 0]
    np.testing.assert_allclose(result.readings.agreement, final, atol=1e-5)
    at = result.question.position
    for column, step in enumerate(result.path):
        assert step.layer == (column - 1 if column else None)
        assert step.followed == pytest.approx(shares[column, at, result.question.chosen], abs=1e-5)
    assert result.path[-1].probability == pytest.approx(result.best.probability, abs=1e-6)


@pytest.mark.parametrize("kind", ASKED)
def test_layers_before_the_first_part_that_is_off_are_not_read_again(
    tiny_engine: Engine, kind: Kind
) -> None:
    whole, off = asked(tiny_engine, kind), asked(tiny_engine, kind, off="1.0")
    for name in ("shares", "agreement"):
        before, after = (getattr(each.readings, name) for each in (whole, off))
        np.testing.assert_array_equal(before[:2], after[:2])
    assert whole.readings.names[:2] == off.readings.names[:2]
    if kind in ("label", "next"):  # the head reads [CLS] alone
        assert np.isnan(whole.readings.shares[:, 1:]).all()
        assert not np.isnan(whole.readings.shares[:, 0]).any()
    else:
        assert not np.array_equal(whole.readings.shares[2], off.readings.shares[2])


def test_changes_compare_the_vectors_of_each_layer(tiny_engine: Engine) -> None:
    result = asked(tiny_engine, "word", off=OFF)
    states = see(text_of(tiny_engine, result)).states.numpy()
    before, after = states[1, 3], states[2, 3]
    cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
    assert result.changes.turned[1, 3] == pytest.approx(1 - cosine, abs=1e-5)
    whole = asked(tiny_engine, "word")
    text = text_of(tiny_engine, whole)
    with torch.inference_mode():
        found = record(text.model, text.encoding)
    for site, values in (
        ("attention", whole.changes.by_attention),
        ("feed_forward", whole.changes.by_feed_forward),
    ):
        share = found.at[site, 1][0, 3].norm() / found.hidden_states[1][0, 3].norm()
        assert values[1, 3] == pytest.approx(float(share), rel=1e-4)


@pytest.mark.parametrize(("kind", "mode"), [("word", "mean"), ("next", "zero"), ("start", "mean")])
def test_the_ranking_is_what_happens_without_each_part(
    tiny_engine: Engine, kind: Kind, mode: Any
) -> None:
    result = asked(tiny_engine, kind, mode=mode, rank=True)
    text, question = text_of(tiny_engine, result), result.question
    target = target_of(kind, question.position, question.chosen)
    towards = -1 if kind == "next" and question.chosen == 1 else 1
    heads = towards * head_effects(text.model, text.encoding, target, mode)
    blocks = towards * layer_effects(text.model, text.encoding, target, mode)
    expected = {f"{layer}.{head}": heads[layer, head] for layer in (0, 1) for head in range(4)}
    expected |= {f"{layer}.{'af'[k]}": blocks[layer, k] for layer in (0, 1) for k in (0, 1)}
    assert {each.part: each.effect for each in result.ranking} == pytest.approx(expected, abs=1e-5)
    effects = [each.effect for each in result.ranking]
    assert effects == sorted(effects)


def test_work_ends_where_its_progress_raises(tiny_folder: Any) -> None:
    engine = Engine(str(tiny_folder))  # nothing is kept for it yet
    steps: list[int] = []

    def cancel(done: int, total: int) -> None:
        steps.append(done)
        raise KeyboardInterrupt

    text = Text(engine, "word", engine.tokenizer.encode("the river [MASK]"))
    question = xray(engine, "the river [MASK]").question
    with pytest.raises(KeyboardInterrupt):
        rank_parts(text, question, cancel)
    assert steps == [1]
    with pytest.raises(KeyboardInterrupt):
        xray(engine, "the river [MASK] on", progress=cancel)
    assert xray(engine, "the river [MASK] on").tokens[2] == "river"


def test_what_fits_the_text_is_asked(tiny_engine: Engine, untrained_folder: Any) -> None:
    assert set(offered(tiny_engine)) == set(CLASSES)
    assert fitting(tiny_engine, "the [MASK]", "a dog") == "word"
    assert fitting(tiny_engine, "the cat", "a dog") == "next"
    assert fitting(tiny_engine, "the cat", " ") == "entity"
    with pytest.raises(InputError, match="has no trained head"):
        xray(Engine(str(untrained_folder)), "the cat")


def test_a_text_without_names_is_not_asked_for_one() -> None:
    assert xray(open_engine(), "Ada lived in London.").question.kind == "entity"
    found = xray(open_engine(), "The soup was far too hot.")
    assert found.question.kind == "label" and found.followed == "negative"
    asked_for = xray(open_engine(), "The soup was far too hot.", ask="entity")
    assert "O, no name (" in headline(asked_for)


def test_a_model_is_asked_only_what_it_was_trained_for(headless_folder: Any) -> None:
    engine = Engine(str(headless_folder))
    assert offered(engine) == ("word",)
    assert xray(engine, "the cat sat").question.kind == "word"
    with pytest.raises(InputError, match="no trained head for this question"):
        xray(engine, "the cat", text_pair="a dog", ask="next")


def test_the_piece_and_the_answer_can_be_named(tiny_engine: Engine) -> None:
    result = xray(tiny_engine, "the cat sat on the mat .", ask="word")
    assert result.tokens[result.question.position] == "mat"  # the last word
    result = xray(tiny_engine, "the cat sat", ask="word", at=2, answer="Dog")
    assert result.question.position == 2 and result.followed == "dog"
    assert str(result.question.target).endswith("at position 2")
    assert sum(each.followed for each in result.candidates) == 1
    label = asked(tiny_engine, "label", answer="odd")
    assert label.followed == "odd" and label.question.position == 0
    start = asked(tiny_engine, "start", at=4)
    assert start.followed == f"{start.tokens[4]} (4)"
    assert start.tokens[:3] == ("[CLS]", "the", "dog")  # the question comes first


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": " "}, "no piece"),
        ({"text": "the cat", "ask": "next"}, "a second text is missing"),
        ({"text": "the cat", "ask": "start"}, "a question is missing"),
        ({"text": "the cat", "at": 4}, "0 to 3"),
        ({"text": "the cat", "ask": "word", "answer": "zebra"}, "not one piece"),
        ({"text": "the cat", "ask": "label", "answer": "zebra"}, "Answers are: bad, good, odd"),
        ({"text": "the cat", "off": "2.0"}, "no head 0 of layer 2"),
        ({"text": "the cat", "off": "1.4"}, "no head 4 of layer 1"),
        ({"text": "cat " * 60}, "62 pieces; the X-ray shows at most 48"),
    ],
)
def test_what_cannot_be_asked_is_explained(
    tiny_engine: Engine, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        xray(tiny_engine, **given)


def test_long_texts_are_refused_even_where_the_model_reads_them(tmp_path: Any) -> None:
    engine = Engine(str(save_tiny(tmp_path, BertForMaskedLM, max_length=200)))
    assert len(xray(engine, "cat " * (MOST_TOKENS - 2)).tokens) == MOST_TOKENS
    with pytest.raises(InputError, match="129 pieces; the X-ray shows at most 128"):
        xray(engine, "cat " * (MOST_TOKENS - 1))


def test_parts_are_read_as_they_are_written() -> None:
    parts = all_parts(3, 2)
    assert len(parts) == 3 * 4 and len(set(parts)) == 12
    assert read_parts(names_of(parts)) == tuple(sorted(parts))
    assert read_parts("nonsense 1.a 1.a <b> 99999.1") == (Part(1, "attention"),)


def test_the_answer_as_json_is_small(tiny_engine: Engine) -> None:
    answer = as_json(asked(tiny_engine, "word", off=OFF, rank=True))
    assert answer["off"] == ["0.1", "0.3", "1.a", "1.f"]
    assert answer["path"][0]["layer"] is None and len(answer["ranking"]) == 12
    assert len(json.dumps(answer)) < 4000
