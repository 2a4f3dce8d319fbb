"""What happens inside a model, and what causes its answers. This package must not modify a model.

`targets` is the number of an answer that is explained. Causes: `interventions` and `effects` (parts
switched off, replaced, patched); which tokens matter: `attribution`, and `faithfulness` of an order
of tokens (both with `masking`); layers: `lens` (with `fitting`); `mixing` of token vectors;
`differences` of two runs; where heads look: `head_statistics`, `head_atlas`, `statistics_file`;
vectors: `input_parts`, `similarity`. `forward` has what they share.

Everywhere, `model` is one of the eight classes in evaluation mode (with the head that a target
asks), `encoding` one text or its ids (T,), and `progress` is called with the work done and the
total; an exception that it raises cancels.
"""

from bert_core.analysis.attribution import METHODS, Attribution, WordScore, attribute, by_word
from bert_core.analysis.differences import Differences, differences
from bert_core.analysis.effects import (
    effects_by_layer,
    head_effects,
    layer_effects,
    patching_by_layer,
    patching_grid,
)
from bert_core.analysis.faithfulness import Contender, Faithfulness, compare_methods, faithfulness
from bert_core.analysis.fitting import fitted
from bert_core.analysis.head_atlas import HeadAtlas, head_atlas
from bert_core.analysis.head_statistics import (
    HeadStatistics,
    head_statistics,
    name_heads,
    rank_heads,
    text_statistics,
)
from bert_core.analysis.interventions import Attention, FeedForward, Heads, Intervention, Patch, run
from bert_core.analysis.lens import lens, lens_states
from bert_core.analysis.mixing import norms, part_biases, parts, rolled, rollout, value_zeroing
from bert_core.analysis.targets import Target

__all__ = [
    "METHODS",
    "Attention",
    "Attribution",
    "Contender",
    "Differences",
    "Faithfulness",
    "FeedForward",
    "HeadAtlas",
    "HeadStatistics",
    "Heads",
    "Intervention",
    "Patch",
    "Target",
    "WordScore",
    "attribute",
    "by_word",
    "compare_methods",
    "differences",
    "effects_by_layer",
    "faithfulness",
    "fitted",
    "head_atlas",
    "head_effects",
    "head_statistics",
    "layer_effects",
    "lens",
    "lens_states",
    "name_heads",
    "norms",
    "part_biases",
    "parts",
    "patching_by_layer",
    "patching_grid",
    "rank_heads",
    "rolled",
    "rollout",
    "run",
    "text_statistics",
    "value_zeroing",
]
