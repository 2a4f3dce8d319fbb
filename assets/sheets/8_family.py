"""# 8. The family, measured

ALBERT shares its layers and factors its embedding, DistilBERT has half of the layers: that shows in
parameters and time, which you measure. What RoBERTa and ELECTRA changed above all is the training,
which only answers of trained models show. Page: *Variants*. Reading: Liu et al. 2019; Lan et al.
2020; Sanh et al. 2019; Clark et al. 2020.
"""

# %%
import time
from collections.abc import Callable

import torch

from bert_core import BertConfig, BertForMaskedLM, BertModel, load_tokenizer
from bert_core.families import FAMILIES

SIZES = {
    "vocab_size": 8_000, "hidden_size": 192, "num_hidden_layers": 6, "num_attention_heads": 4,
    "intermediate_size": 768, "max_position_embeddings": 130,
}  # fmt: skip
HERE = ["explorer-mini-uncased"]  # add folders of models that you have


def of_family(name: str) -> BertModel:
    """Return an encoder of a family with random weights; of DistilBERT with half of the layers."""
    torch.manual_seed(0)
    layers = SIZES["num_hidden_layers"] // (2 if name == "distilbert" else 1)
    return BertModel(BertConfig(**SIZES | {"num_hidden_layers": layers}, model_type=name)).eval()


# %% blank parameters 3
def parameters(model: torch.nn.Module) -> int:
    """Return how many numbers are learned; a tensor that two layers share counts once."""
    raise NotImplementedError


# %% check parameters
layer = torch.nn.Linear(3, 4)
assert parameters(layer) == 16, f"A weight of 4 x 3 and 4 biases are 16; found {parameters(layer)}."
twice = torch.nn.ModuleList([layer, torch.nn.Linear(3, 4)])
twice[1].weight = layer.weight
assert parameters(twice) != 32, "The shared weight is counted twice."
assert parameters(twice) == 20, f"12 shared, and 4 + 4 biases: 20; found {parameters(twice)}."


# %% blank milliseconds 4
def milliseconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return the median of seven runs in milliseconds, after one that does not count."""
    raise NotImplementedError


# %% check milliseconds
now, runs = [0.0], []


def work() -> None:
    """Take 5 seconds at first, then 1, and 3 once."""
    runs.append(1)
    now[0] += 5.0 if len(runs) == 1 else 3.0 if len(runs) == 4 else 1.0


found = milliseconds(work, lambda: now[0])
assert len(runs) == 8, f"One run to warm up and seven that count: 8; found {len(runs)}."
assert abs(found - 1.0) > 1e-6, "That is in seconds."
assert abs(found - 9000 / 7) > 1e-3, "One slow run moves a mean. Take the median."
assert abs(found - 1000.0) < 1e-6, f"Expected 1,000 ms, found {found:,.0f}."


# %% blank first_guess 3
def first_guess(model: BertForMaskedLM, tokenizer: object, text: str) -> str:
    """Return the likeliest token where the text has `___`, in any family's own mask."""
    raise NotImplementedError


# %% check first_guess
bundled = BertForMaskedLM.from_pretrained(HERE[0]).eval()
own = load_tokenizer(HERE[0])
for text, wanted in (("The capital of France is ___.", "paris"), ("She is afraid ___ mice.", "of")):
    found = first_guess(bundled, own, text)
    assert found == wanted, f"Expected “{wanted}”, found “{found}”. Is it read at the mask?"

# %% [markdown]
# Not graded: run the next cell. Which family saves parameters, which time, and which neither? Why
# does sharing layers save no time? What do the answers of `HERE` prove, and what not?

# %%
if __name__ == "__main__":
    ids = torch.randint(10, 8_000, (4, 128))
    for name, family in FAMILIES.items():
        model = of_family(name)
        with torch.inference_mode():
            took = milliseconds(lambda model=model: model(ids), time.perf_counter)
        print(f"{family.title}: {parameters(model):,} parameters, {took:.0f} ms")
    for name in HERE:
        model = BertForMaskedLM.from_pretrained(name).eval()
        print(name, [first_guess(model, load_tokenizer(name), text) for text in
                     ("The capital of France is ___.", "A robin is not a ___.")])  # fmt: skip
