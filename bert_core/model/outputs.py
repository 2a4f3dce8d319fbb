"""`ModelOutputs`, the named outputs of a model, and the letters used for shapes.

Every docstring of the package uses these letters:

    B batch    T tokens    D hidden size    H heads    K = D / H before pruning, size of a head
    F intermediate size    V vocabulary     L layers   C labels   P chosen positions
    N choices  I, O input and output size of a linear layer
    E width of the word vectors: D, unless a family projects them

The BERT paper calls D H and H A; Vaswani et al. call D, H, K, F d_model, h, d_k, d_ff. After
pruning, H in a result counts the heads that this layer still has.
"""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor


@dataclass(frozen=True, slots=True)
class ModelOutputs:
    """The named outputs of one forward pass; outputs that were not requested are None."""

    last_hidden_state: Annotated[Tensor, "(B, T, D), the output of the last layer"]
    hidden_states: Annotated[tuple[Tensor, ...] | None, "L + 1 tensors (B, T, D)"] = None
    attentions: Annotated[
        tuple[Tensor, ...] | None,
        "L tensors (B, H, T, T) after the softmax; rows are queries and sum to 1",
    ] = None
    pooler_output: Annotated[Tensor | None, "(B, D), or None for classes without a pooler"] = None
    logits: Annotated[
        Tensor | None,
        "scores of the head: (B, T, V) for masked words, (B, 2) for two sentences, (B, C) for "
        "sequences, (B, N) for multiple choice, (B, T, C) for tokens, (B, T) for replaced tokens",
    ] = None
    start_logits: Annotated[Tensor | None, "(B, T), question answering only"] = None
    end_logits: Annotated[Tensor | None, "(B, T), question answering only"] = None
    seq_relationship_logits: Annotated[Tensor | None, "(B, 2); 0: follows, in order"] = None
