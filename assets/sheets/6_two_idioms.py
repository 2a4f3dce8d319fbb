"""# 6. Fine-tuning in two idioms: this package and `transformers`

The same weights, rows and steps give the same figures in both, to four digits. You write the loop,
the baseline, what is frozen, and the interval over seeds; then you run it on your rows. Page:
*Lab*, tab *Fine-tuning*. Reading: Devlin et al. 2019, section 4.1; Mosbach et al. 2021.

It needs `pip install transformers` for the second idiom, and works without for the first.
"""

# %%
import tempfile
import time
from collections.abc import Callable

import torch
from torch import Tensor

from bert_core import BertConfig, BertForSequenceClassification, BertTokenizer

try:
    import transformers
except ImportError:
    transformers = None  # the checks of its idiom are left out

Batch = tuple[Tensor, Tensor, Tensor]
"""The ids of texts (B, T), which of them are read (B, T), and the labels (B,)."""


def ours(model: BertForSequenceClassification, batch: Batch) -> Tensor:
    """Return the logits (B, C) in the idiom of `bert_core`."""
    ids, read, _ = batch
    return model(ids, attention_mask=read)


def theirs(model: torch.nn.Module, batch: Batch) -> Tensor:
    """Return the logits (B, C) in the idiom of `transformers`."""
    ids, read, _ = batch
    return model(input_ids=ids, attention_mask=read).logits


def twin(model: BertForSequenceClassification) -> torch.nn.Module:
    """Return the same weights as `transformers` loads them."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return transformers.AutoModelForSequenceClassification.from_pretrained(folder)


def tiny(seed: int) -> BertForSequenceClassification:
    """Return a small model with random weights, without dropout: both idioms draw it otherwise."""
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=37, max_position_embeddings=16, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    return BertForSequenceClassification(config, 3)


def some(number: int) -> list[Batch]:
    """Return random batches."""
    draw = torch.Generator().manual_seed(number)
    ids = [torch.randint(5, 50, (4, 7), generator=draw) for _ in range(3)]
    return [(each, torch.ones_like(each), each[:, 0] % 3) for each in ids]


# %% blank freeze 2
def freeze(model: torch.nn.Module, layers: int) -> None:
    """Freeze the embeddings and so many of the first layers, in either idiom.

    Both name the parameters alike: `bert.embeddings...`, `bert.encoder.layer.0...`.
    """
    raise NotImplementedError


# %% check freeze
model = tiny(0)
freeze(model, 1)
names = {name for name, each in model.named_parameters() if each.requires_grad}
assert names, "Everything is frozen, the classifier too: nothing can be learned."
assert not any("embeddings" in name for name in names), "The embeddings are not frozen."
assert not any("layer.0." in name for name in names), "Layer 0 is not frozen."
assert any("layer.1." in name for name in names), "Layer 1 is frozen, and only one was asked for."
assert any("classifier" in name for name in names), "The classifier must learn."


# %% blank fine_tune 4
def fine_tune(
    model: torch.nn.Module, batches: list[Batch], logits: Callable[..., Tensor], rate: float
) -> list[float]:
    """Train one step of AdamW on each batch, in order; return the loss before each step.

    `logits(model, batch)` is `ours` or `theirs`. What is frozen stays as it is; there is no weight
    decay.
    """
    raise NotImplementedError


# %% check fine_tune
losses = fine_tune(tiny(1), some(1), ours, 1e-3)
assert len(losses) == 3, f"One loss for each batch: expected 3, found {len(losses)}."
again, reference = tiny(1), []
optimizer = torch.optim.AdamW(again.parameters(), lr=1e-3, weight_decay=0.0)
for batch in some(1):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(ours(again, batch), batch[2])
    loss.backward()
    optimizer.step()
    reference.append(float(loss.detach()))
assert abs(losses[0] - reference[0]) < 1e-5, (
    f"Before any step the loss is {reference[0]:.5f}; found {losses[0]:.5f}. Is it the mean "
    "cross-entropy?"
)
assert abs(losses[1] - reference[1]) < 1e-5, "The second loss differs: is it AdamW, without decay?"
assert abs(losses[2] - reference[2]) < 1e-5, "Gradients add up until `zero_grad()`."
if transformers is not None:
    other = fine_tune(twin(tiny(1)), some(1), theirs, 1e-3)
    far = max(abs(one - two) for one, two in zip(losses, other, strict=True))
    assert far < 1e-4, f"The two idioms differ by {far:.1e}. Call `logits`, not the model."


# %% blank baseline 2
def baseline(trained: list[int], held: list[int]) -> float:
    """Return the share of held-out labels that always the most frequent trained one gets right."""
    raise NotImplementedError


# %% check baseline
found = baseline([0, 1, 1, 2], [1, 0, 0, 0])
assert abs(found - 0.75) > 1e-6, (
    "0 is the most frequent label of the held-out rows. A baseline may not look at them."
)
assert abs(found - 0.25) < 1e-6, f"Expected 1 of 4, 0.25; found {found}."


# %% blank over_seeds 2
def over_seeds(shares: list[float]) -> tuple[float, float, float]:
    """Return the mean of three runs, and both ends of its 95 % interval (Student's t: 4.303)."""
    raise NotImplementedError


# %% check over_seeds
mean, low, high = over_seeds([0.7, 0.8, 0.9])
assert abs(mean - 0.8) < 1e-6, f"Expected the mean 0.8, found {mean}."
assert abs(high - mean - 1.96 * 0.1 / 3**0.5) > 1e-3, (
    "1.96 is for many runs. With three of them it is 4.303."
)
assert abs(high - mean - 4.303 * (0.02 / 3) ** 0.5 / 3**0.5) > 1e-3, (
    "Divide by n - 1: the mean was estimated from the same runs."
)
assert abs(high - mean - 0.24842) < 1e-3 and abs(mean - low - 0.24842) < 1e-3, (
    f"Expected 0.8 ± 0.248; found {low:.3f} to {high:.3f}."
)

# %% [markdown]
# Not graded: your own rows. Put a text, a tab and its label into each line, then run the last cell
# (on a graphics card, if there is one): three seeds, 8 to 28 rows, all or half of the layers
# trained, never the embeddings. Which differences are larger than the spread of the seeds?

# %%
ROWS = """\
The soup needs a little more salt.	food
Our train leaves from platform nine at noon.	travel
The bank raised its interest rates again.	money
It rained all night and the cellar flooded.	weather
She baked two loaves of bread this morning.	food
They missed the last ferry to the island.	travel
She saves a tenth of her wages every month.	money
A cold wind came down from the mountains.	weather
We paid little for the best noodles in town.	food
The ticket cost more than the whole hotel.	travel
The trip cost him two months of pay.	money
The ferry stayed in port because of the storm.	weather
We had grilled fish with lemon for dinner.	food
I packed two shirts and a map of Lisbon.	travel
The company sold its shares at a loss.	money
Heavy snow closed the school for two days.	weather
On the train they served weak tea and dry rolls.	food
Rain or not, we walked up to the castle.	travel
Flour costs twice as much as last year.	money
Thunder woke the children at four.	weather
He peeled the potatoes and cut them small.	food
We drove along the coast for three days.	travel
I asked for a receipt and a refund.	money
Ice covered the road to the bakery.	weather
The cake sank because I opened the oven.	food
The flight was late because of fog.	travel
The loan must be paid back in five years.	money
It has not rained here since March.	weather
On cold days he makes porridge with honey.	food
From the tower you can see the whole old town.	travel
Prices of houses doubled in ten years.	money
The frost killed the first cherries.	weather
Their dumplings are filled with cabbage.	food
We ate in the dining car and watched the hills.	travel
They owe the tax office a large sum.	money
Tomorrow will be warm with a light breeze.	weather
The tea is too strong without milk.	food
The bus to the airport runs every hour.	travel
A pension is little after so many years of work.	money
The hail did damage worth a year of wages.	weather
"""


def batches_of(rows: list[tuple[str, str]], labels: list[str], device: str) -> list[Batch]:
    """Encode rows, eight in a batch; short ones are filled up with [PAD]."""
    tokenizer, made = BertTokenizer.from_pretrained("explorer-mini-uncased"), []
    for start in range(0, len(rows), 8):
        some_rows = rows[start : start + 8]
        encoded = [tokenizer.encode(text).input_ids for text, _ in some_rows]
        ids = torch.zeros(len(encoded), max(map(len, encoded)), dtype=torch.long)
        read = torch.zeros_like(ids)
        for number, each in enumerate(encoded):
            ids[number, : len(each)] = torch.tensor(each)
            read[number, : len(each)] = 1
        wanted = torch.tensor([labels.index(label) for _, label in some_rows])
        made.append((ids.to(device), read.to(device), wanted.to(device)))
    return made


def run(seed: int, count: int, frozen: int, *, idiom: str = "ours") -> tuple[float, float, float]:
    """Train on so many rows for eight epochs; return right, the last loss, and the baseline."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = [tuple(line.split("\t")) for line in ROWS.splitlines()]
    labels = sorted({label for _, label in rows})
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed)).tolist()
    held, trained = ([rows[n] for n in part] for part in (order[:12], order[12 : 12 + count]))
    torch.manual_seed(seed)
    model = BertForSequenceClassification.from_pretrained(
        "explorer-mini-uncased", num_labels=len(labels), ignore_mismatched_sizes=True
    )
    for each in model.modules():
        if isinstance(each, torch.nn.Dropout):
            each.p = 0.0
    model, logits = (model, ours) if idiom == "ours" else (twin(model), theirs)
    model.to(device).train()
    freeze(model, frozen)
    losses = fine_tune(model, batches_of(trained, labels, device) * 8, logits, 2e-4)
    model.eval()
    with torch.no_grad():
        right = sum(int((logits(model, each).argmax(-1) == each[2]).sum())
                    for each in batches_of(held, labels, device))  # fmt: skip
    guess = baseline(*([labels.index(label) for _, label in part] for part in (trained, held)))
    return right / len(held), losses[-1], guess


if __name__ == "__main__":
    begun = time.monotonic()
    for frozen in (0, 3):
        for count in (8, 16, 28):
            runs = [run(seed, count, frozen) for seed in range(3)]
            mean, low, high = over_seeds([each[0] for each in runs])
            guess = sum(each[2] for each in runs) / 3
            ends = f"{max(0.0, low):.0%} to {min(1.0, high):.0%}"
            print(
                f"{frozen} layers frozen, {count} rows: {mean:.0%} ({ends}); baseline {guess:.0%}"
            )
    if transformers is not None:
        one, two = run(0, 28, 0), run(0, 28, 0, idiom="theirs")
        print(
            f"both idioms: {one[0]:.0%} and {two[0]:.0%}, losses {abs(one[1] - two[1]):.1e} apart"
        )
    print(f"{time.monotonic() - begun:.0f} seconds")
