"""The value of a target with any selection of a text's tokens hidden, in batches.

"mask" replaces a token by [MASK], which BERT has seen in training; "attention" removes it with the
attention mask. Deleting it would also move the others.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.analysis.forward import Floats, Progress, as_array, in_batches, input_tensors
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding

Selection = NDArray[np.bool_]
MASK = "[MASK]"
OPERATORS = ("mask", "attention")


def free_tokens(encoding: Encoding, target: Target) -> list[int]:
    """Return the positions of the tokens that may be hidden.

    Frozen are the added special tokens and, if the target asks what is at a [MASK], that [MASK].
    """
    asked = target.position if target.kind in ("token", "token_difference") else -1
    if asked >= 0 and encoding.input_ids[asked] != encoding.special_id(MASK):
        asked = -1
    added = encoding.special_tokens_mask
    return [at for at in range(len(encoding)) if not added[at] and at != asked]


@torch.inference_mode()
def masked_values(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    hidden: Selection,
    *,
    operator: str = "mask",
    progress: Progress | None = None,
) -> Floats:
    """Compute a target (N,) with tokens hidden where `hidden` (N, T) is true; equal rows run once.

    Raises:
        InputError: there is no such operator; or see `Target.check`.
    """
    if operator not in OPERATORS:
        raise InputError(
            f"There is no operator {operator!r}; expected one of {', '.join(OPERATORS)}."
        )
    ids, types = input_tensors(model, encoding)
    target.check(model, ids.shape[1])
    encoder = encoder_of(model)
    mask_id = encoding.special_id(MASK) if operator == "mask" else 0
    different, places = np.unique(hidden, axis=0, return_inverse=True)

    def values(rows: Tensor) -> Tensor:
        if operator == "mask":
            outputs = encoder.encode(ids.masked_fill(rows, mask_id), types)
        else:
            outputs = encoder.encode(ids.expand(len(rows), -1), types, ~rows)
        return target.read(model, outputs.last_hidden_state)

    rows = torch.from_numpy(different).to(model.device)
    found = as_array(in_batches(values, rows, ids.shape[1], progress))
    return found[places.reshape(-1)]
