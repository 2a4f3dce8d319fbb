"""Compiled layers: on a graphics card one kernel does what a dozen small ones did.

Compiled are the encoder's layers, one by one: they share their code, so a model of six is
compiled once, not six times. Embeddings and heads stay as they are. The parameters keep their
names and places; a model that was compiled is saved and shared like any other.
"""

from bert_core.errors import InputError
from bert_core.model.bert import BertPreTrainedModel


def compile_layers(model: BertPreTrainedModel, *, workers: int = 1) -> None:
    """Have a model's layers compiled at their first call, for batches of any shape.

    Args:
        model: any model of this package; changed in place.
        workers: threads that will train it.

    Raises:
        InputError: several threads; the compiler serves one.
    """
    if workers != 1:
        raise InputError(
            f"Compiled steps run in one thread, and workers is {workers}. Set workers=1, or "
            "compiled=False."
        )
    for block in model.encoder_model.encoder.blocks():
        block.compile(dynamic=True)
