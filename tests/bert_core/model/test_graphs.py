"""PyTorch's graph tools record every class: what they record agrees with eager to 1e-5.

The example of every recording has a mask of ones and one size; the recorded graph is then called
with other sizes and masks. What was decided by a value or a size of the example would show here.
"""

import io
from collections.abc import Callable
from typing import Any

import onnxruntime
import pytest
import torch
from torch import Tensor

from bert_core import BertForMultipleChoice, BertForPreTraining, BertModel
from bert_core.model.pretrained import BertPreTrainedModel
from tests.bert_core.classes import CLASSES
from tests.bert_core.conftest import lift_weights
from tests.compat.torch import tree_leaves

Given = dict[str, Tensor]
Recorded = Callable[[Given], list[Tensor]]

pytestmark = [
    # PyTorch's: it has announced the end of TorchScript; Inductor itself still imports it.
    pytest.mark.filterwarnings(r"ignore:`torch\.jit\.\w+` is deprecated"),
    # PyTorch's: its ONNX exporter copies a kind of tree that PyTorch is about to rename.
    pytest.mark.filterwarnings(
        r"ignore:`isinstance\(treespec, LeafSpec\)` is deprecated:FutureWarning"
    ),
    # PyTorch 2.6's own, two of them, while it exports a mask
    pytest.mark.filterwarnings(r"ignore:.*'?get_attr'? Node"),
]


@pytest.fixture(autouse=True)
def forget_compiled_graphs(tmp_path_factory, monkeypatch):
    """Keep compiled code in a folder of the tests, and none of it in the process."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "compiled"))
    yield
    torch.compiler.reset()


@pytest.fixture
def make_model(make_config):
    def make(cls: type[Any], attentions: bool = False, **changes: Any) -> BertPreTrainedModel:
        torch.manual_seed(0)
        model: BertPreTrainedModel = cls(make_config(**changes), output_attentions=attentions)
        lift_weights(model)
        return model.eval()

    return make


def inputs(model: Any, rows: int, tokens: int, *, mask: str | None) -> Given:
    """Random ids and types, and a mask of ones or one with holes."""
    shape = (rows, tokens)
    if isinstance(model, BertForMultipleChoice):
        shape = (rows, 2, tokens)
    generator = torch.Generator().manual_seed(rows * 100 + tokens)
    given = {
        "input_ids": torch.randint(1, 99, shape, generator=generator),
        "token_type_ids": torch.randint(0, 2, shape, generator=generator),
    }
    if mask == "ones":
        given["attention_mask"] = torch.ones(shape, dtype=torch.long)
    elif mask == "holes":
        given["attention_mask"] = torch.randint(0, 2, shape, generator=generator)
    return given


def any_size(given: Given) -> dict[str, dict[int, Any]]:
    """Rows and tokens of every input may change."""
    free = torch.export.Dim.DYNAMIC
    return {name: {0: free, tensor.dim() - 1: free} for name, tensor in given.items()}


def compiled(model: Any, example: Given, backend: str = "eager") -> Recorded:
    call = torch.compile(model, fullgraph=True, dynamic=True, backend=backend)
    call(**example)
    return lambda given: tree_leaves(call(**given))


def exported(model: Any, example: Given) -> Recorded:
    program = torch.export.export(model, (), example, dynamic_shapes=any_size(example))
    call = program.module()
    return lambda given: tree_leaves(call(**given))


def traced(model: Any, example: Given) -> Recorded:
    # Not strict, as some results are lists.
    call = torch.jit.trace(model, example_kwarg_inputs=example, strict=False)
    return lambda given: tree_leaves(call(**given))


def onnx(model: Any, example: Given) -> Recorded:
    program = torch.onnx.export(
        model, (), kwargs=example, dynamo=True, dynamic_shapes=any_size(example), verbose=False
    )
    file = io.BytesIO()
    program.save(file)
    session = onnxruntime.InferenceSession(file.getvalue())

    def call(given: Given) -> list[Tensor]:
        arrays = {name: tensor.numpy() for name, tensor in given.items()}
        return [torch.from_numpy(array) for array in session.run(None, arrays)]

    return call


SLOW_TOOLS = [pytest.param(each, marks=pytest.mark.slow) for each in (compiled, traced, onnx)]
TOOLS = [compiled, exported, traced, SLOW_TOOLS[-1]]  # that of ONNX begins with an export


BOTH_AND_NEITHER = [(cls, both, both) for cls in CLASSES for both in (True, False)]
CASES = [
    case
    if case == (BertForPreTraining, True, True)
    else pytest.param(*case, marks=pytest.mark.slow)
    for case in [*BOTH_AND_NEITHER, (BertModel, True, False), (BertModel, False, True)]
]


def same(model: Any, recorded: Recorded, assert_close: Any, *, masked: bool) -> None:
    """Compare with eager on three sizes, the last one the longest input."""
    for rows, tokens in ((3, 7), (2, 5), (4, 19)):
        given = inputs(model, rows, tokens, mask="holes" if masked else None)
        expected = tree_leaves(model(**given))
        found = recorded(given)
        assert len(found) == len(expected)
        for mine, wanted in zip(found, expected, strict=True):
            assert_close(mine, wanted)


@pytest.mark.parametrize(("cls", "masked", "attentions"), CASES)
@pytest.mark.parametrize("tool", TOOLS)
def test_what_is_recorded_computes_the_same(
    make_model, assert_close, tool, cls, masked, attentions
):
    model = make_model(cls, attentions)
    with torch.no_grad():
        recorded = tool(model, inputs(model, 3, 7, mask="ones" if masked else None))
        same(model, recorded, assert_close, masked=masked)


@pytest.mark.parametrize("tool", [exported, *SLOW_TOOLS])
def test_square_masks_and_head_masks_are_recorded(make_model, assert_close, tool):
    model = make_model(BertModel)
    ids = inputs(model, 3, 7, mask=None)["input_ids"]
    ones = {"attention_mask": torch.ones(3, 7, 7), "head_mask": torch.ones(2, 4)}
    given = {
        "input_ids": ids,
        "attention_mask": torch.ones(3, 7, 7).tril(),
        "head_mask": torch.tensor([[1.0, 0, 1, 1], [0, 1, 0.5, 1]]),
    }
    with torch.no_grad():
        recorded = recorded_at_one_size(tool, model, {"input_ids": ids, **ones})
        for mine, wanted in zip(recorded(given), tree_leaves(model(**given)), strict=True):
            assert_close(mine, wanted)


def recorded_at_one_size(tool: Any, model: Any, example: Given) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "any_size", lambda given: dict.fromkeys(given))
        recorded: Recorded = tool(model, example)
    return recorded
