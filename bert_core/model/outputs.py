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

from torch import Tensor


@dataclass(frozen=True, slots=True)
class ModelOutputs:
    """The named outputs of one forward pass; outputs that were not requested are None.

    Attributes:
        last_hidden_state: (B, T, D), the output of the last layer.
        hidden_states: L + 1 tensors (B, T, D); the embeddings first, then every layer.
        attentions: L tensors (B, H, T, T) after the softmax; rows are queries and sum to 1.
        pooler_output: (B, D), or None for classes without a pooler.
        logits: scores of the head: (B, T, V) for masked words, (B, 2) for two sentences, (B, C)
            for sequences, (B, N) for multiple choice, (B, T, C) for tokens, (B, T) for replaced
            tokens.
        start_logits: (B, T), question answering only.
        end_logits: (B, T), question answering only.
        seq_relationship_logits: (B, 2), pre-training only; index 0 means "the second
            text follows the first", or "in order" in ALBERT.
    """

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None
    pooler_output: Tensor | None = None
    logits: Tensor | None = None
    start_logits: Tensor | None = None
    end_logits: Tensor | None = None
    seq_relationship_logits: Tensor | None = None
