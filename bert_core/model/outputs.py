"""What a model returns when the caller asks for names instead of positions.

The shape legend of the whole package; the same letters stand in every docstring:

    B batch    T tokens    D hidden size    H heads    K = D / H, size of one head
    F intermediate size    V vocabulary     L layers   C labels   P chosen positions
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class ModelOutputs:
    """Everything one forward pass can show; what was not asked for is None.

    Attributes:
        last_hidden_state: (B, T, D), the output of the last layer.
        hidden_states: L + 1 tensors (B, T, D); the embeddings first, then every layer.
        attentions: L tensors (B, H, T, T); the softmax itself, rows are queries and sum to 1.
        pooler_output: (B, D), or None for the classes without a pooler.
        logits: what the class scores: (B, T, V) for masked words, (B, 2) for next sentences,
            (B, C) for sequences, (B, N) for choices, (B, T, C) for tokens.
        start_logits: (B, T), question answering only.
        end_logits: (B, T), question answering only.
        seq_relationship_logits: (B, 2), pre-training only; index 0 says "B follows A".
    """

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None
    pooler_output: Tensor | None = None
    logits: Tensor | None = None
    start_logits: Tensor | None = None
    end_logits: Tensor | None = None
    seq_relationship_logits: Tensor | None = None
