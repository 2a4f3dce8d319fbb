"""What happens inside a model, and what causes its answers. This package must not modify a model.

Where to look:

- `targets`: the number of an answer that is explained;
- `interventions`, `effects`: parts switched off, replaced or patched, and what changes then;
- `lens`: the masked-word head on every layer (`fitting`: means and maps that belong to a model);
- `attribution`, `faithfulness` (and `masking`): which tokens an answer depends on, and how well
  a method finds them;
- `mixing`: how much of each token flows into each other one;
- `differences`: two runs compared;
- `head_statistics`, `head_atlas` (and `statistics_file`), `input_parts`, `similarity`: what heads
  look at, which of them are alike, and vectors.

`forward` contains the forward pass that the analyses share.
"""

from bert_core.analysis.attribution import METHODS, Attribution, WordScore, attribute, by_word
from bert_core.analysis.differences import Differences, differences
from bert_core.analysis.effects import (
    LayerEffects,
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
    "LayerEffects",
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
