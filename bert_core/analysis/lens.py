"""`lens`: what the masked-word head would say of the vectors of every layer.

The raw lens applies the head to each hidden state as it is (nostalgebraist 2020, "interpreting GPT:
the logit lens"). In the first layers it misleads, because the head was trained on the last layer's
vectors only. The affine lens first maps each layer to the last (see `bert_core.analysis.fitting`).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from bert_core.analysis.fitting import fitted
from bert_core.analysis.forward import Input, head_outputs, listed, record
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel

KINDS = ("raw", "affine")


@torch.inference_mode()
def lens(
    model: BertPreTrainedModel,
    encoding: Input,
    positions: int | Sequence[int],
    *,
    kind: str = "raw",
) -> Tensor:
    """Score the vocabulary at P positions of every layer, (L + 1, P, V), embeddings first.

    Raises:
        InputError: the model has no such head, the text no such position, or there is no such kind.
    """
    places = listed(positions)
    states = torch.cat(record(model, encoding).hidden_states)  # (L + 1, T, D)
    for place in places:
        Target.token(place, 0).check(model, states.shape[1])
    logits = head_outputs(model, lens_states(model, states[:, places], kind)).logits
    assert logits is not None
    return logits


@torch.inference_mode()
def lens_states(model: BertPreTrainedModel, states: Tensor, kind: str = "raw") -> Tensor:
    """Prepare hidden states (L + 1, P, D), embeddings first, for the head of any class.

    "raw" leaves them as they are, "affine" maps them to the last layer; the last are the model's
    own.

    Raises:
        InputError: there is no such kind.
    """
    if kind not in KINDS:
        raise InputError(f"There is no lens {kind!r}; expected one of {', '.join(KINDS)}.")
    if kind == "raw":
        return states
    maps = fitted(model).maps
    return torch.cat([states[:-1] @ maps[:, :-1] + maps[:, -1:], states[-1:]])
