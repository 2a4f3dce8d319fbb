"""What the zoom shows: the heads of a layer, and one number of a head with what comes of it."""

import math

from torch import Tensor

from app.engine.compute.processor import PROCESSOR
from app.engine.models import Engine
from app.features.xray.result import CellPath, XrayResult
from app.features.xray.task_run import see, text_of
from app.records.results import CellArithmetic
from bert_core.analysis.head_statistics import HeadName, name_heads, text_statistics


def head_notes(engine: Engine, result: XrayResult) -> tuple[tuple[HeadName, ...], ...]:
    """Name what every head does in this text, with what is off taken into account."""
    return name_heads(text_statistics(result.attentions, text_of(engine, result).encoding))


def cell_path(
    engine: Engine, result: XrayResult, place: tuple[int, int], row: int, column: int
) -> CellPath:
    """Compute one number of a head step by step, and what comes of it."""
    text = text_of(engine, result)
    states = see(text).states
    layer, head = place
    block = text.model.encoder_model.encoder.layer_at(layer).attention

    def work() -> CellPath:
        own = block.self.heads.index(head)
        query, key, value = (each[0, own] for each in block.self.project(states[layer : layer + 1]))
        size = block.self.head_size
        columns = slice(own * size, (own + 1) * size)
        weight = block.output.dense.weight[:, columns]  # (D, K)
        attention = result.attentions[layer][head]
        context = value.new_tensor(attention[row]) @ value  # (K,)
        sites: dict[str, Tensor] = {}
        block(states[layer : layer + 1], edit=sites.setdefault)
        one = float(attention[row, column]) * value[column]
        return CellPath(
            arithmetic=CellArithmetic(
                place=place,
                row=row,
                column=column,
                tokens=result.tokens,
                query=query[row].cpu().numpy(),
                key=key[column].cpu().numpy(),
                scores=(key @ query[row] / math.sqrt(size)).cpu().numpy(),
                value=float(attention[row, column]),
            ),
            value=float(value[column].norm()),
            added=float((weight @ one).norm()),
            head=float((weight @ context).norm()),
            block=float(sites["attention"][0, row].norm()),
        )

    return PROCESSOR.run(work, tokens=len(result.tokens))
