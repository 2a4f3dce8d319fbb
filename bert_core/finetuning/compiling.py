"""Compiling the encoder layers, which on a GPU fuses many small kernels into one.

Each layer is compiled separately. Layers share their code, so a six-layer model is compiled once,
not six times. Embeddings and heads are not compiled. Parameters keep their names, so a compiled
model can be saved and shared like any other.
"""

from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel


def compile_layers(model: BertPreTrainedModel, *, workers: int = 1) -> None:
    """Make a model compile its layers on the first call, for batches of any shape.

    Raises:
        InputError: `workers` is not 1; the compiler supports one thread.
    """
    if workers != 1:
        raise InputError(
            f"Compiled steps run in one thread, but workers is {workers}. Set workers=1 or "
            "compiled=False."
        )
    for block in model.encoder_model.encoder.blocks():
        block.compile(dynamic=True)
