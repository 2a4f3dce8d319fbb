"""# 3. Masking 80/10/10, and the loss

BERT learns from text alone: 15 % of the tokens are chosen, most of them hidden, and the loss counts
the chosen ones only. Pages: *Fill-mask*, *Lab*. Reading: Devlin et al. 2019, section 3.1 and
appendix C.2; Wettig et al. 2023, section 3.
"""

# %%
import torch
from torch import Tensor

from bert_core import BertForMaskedLM, BertTokenizer

tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
model = BertForMaskedLM.from_pretrained("explorer-mini-uncased").eval()
MASK, SIZE, IGNORED = tokenizer.vocab["[MASK]"], len(tokenizer.vocab), -100


# %% [markdown]
# Two ways are usual, and both are right here: a coin for each token (the collator of
# `transformers`), or the same share of every row (google-research/bert).


# %% blank choose 2
def choose(special: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Choose tokens at random: (B, T) true or false, from special (B, T).

    `rate` of the tokens that are not special are chosen: by a coin for each, or rounded in each
    row.
    """
    raise NotImplementedError


# %% check choose
special = torch.zeros(400, 48, dtype=torch.bool)
special[:, 0] = special[:, 39] = special[:, 40:] = True  # [CLS], 38 tokens, [SEP], [PAD]
chosen = choose(special, 0.15, torch.Generator().manual_seed(0))
assert chosen.dtype == torch.bool and chosen.shape == special.shape, "Expected (B, T) of booleans."
assert not bool(chosen[:, 40:].any()), (
    "[PAD] is chosen: the loss would count padding as words to be guessed (see masked_loss)."
)
assert not bool((chosen & special).any()), (
    f"[CLS] is chosen in {chosen[:, 0].float().mean():.0%} of the rows. It and [SEP] are special, "
    "and are never chosen."
)
share, places = chosen[:, 1:39].float().mean(), chosen[:, 1:39].float().mean(0)
assert abs(share - 5 / 38) > 1e-4, "15 % of 38 are 5.7: you round down to 5. Round to 6."
assert abs(share - 7 / 38) > 1e-4, (
    "7 of 38 are chosen: that is 15 % of the row with its padding, which does not count."
)
assert abs(share - 0.15) < 0.012, f"15 % are chosen; found {share:.1%}."
assert places.min() > 0.06, "Every place should get its chance, independently in each row."
again = choose(special, 0.15, torch.Generator().manual_seed(0))
assert bool((again == chosen).all()), (
    "The same generator gives the same choice: use it, not another."
)


# %% blank corrupt 3
def corrupt(
    input_ids: Tensor, chosen: Tensor, mask_id: int, size: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return what the model reads, and the labels: the old ids where chosen, -100 elsewhere.

    Of the chosen tokens 80 % become [MASK], 10 % a random id below `size`, 10 % stay.
    """
    raise NotImplementedError


# %% check corrupt
before = torch.randint(1000, SIZE, (300, 100), generator=torch.Generator().manual_seed(3))
chosen = torch.rand(before.shape, generator=torch.Generator().manual_seed(4)) < 0.5
kept = before.clone()
given, labels = corrupt(before, chosen, MASK, SIZE, torch.Generator().manual_seed(5))
assert bool((before == kept).all()), "The ids that came in are changed. Work on a copy."
assert bool((given == before)[~chosen].all()), "Tokens that were not chosen stay as they are."
assert bool((labels[~chosen] == IGNORED).all()), "Labels are -100 where nothing was chosen."
assert bool((labels == before)[chosen].all()), (
    "The labels are the old ids of all chosen tokens, also of those that stay as they are."
)
masked = (given == MASK)[chosen].float().mean()
same = (given == before)[chosen].float().mean()
assert masked < 0.97, "Not every chosen token is hidden: 10 % get a random id, and 10 % stay."
assert abs(masked - 0.8) < 0.02, f"80 % of the chosen become [MASK]; found {masked:.0%}."
assert same > 0.01, "10 % of the chosen stay; found none."
assert abs(same - 0.1) < 0.02, f"10 % of the chosen stay; found {same:.0%}. Is it 10 % of the rest?"
others = given[chosen & (given != MASK) & (given != before)]
assert len(others.unique()) > 1000, "The random ids differ from place to place."


# %% blank masked_loss 3
def masked_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of the tokens with a label; logits (B, T, V), labels (B, T).

    Use `log_softmax`; do not use `cross_entropy` or `nll_loss`.
    """
    raise NotImplementedError


# %% check masked_loss
texts = ["The keys to the cabinet are made of iron.", "She is afraid of big spiders."]
rows = [tokenizer.encode(each).input_ids for each in texts]
given = torch.full((2, max(map(len, rows))), tokenizer.vocab["[PAD]"])
for n, row in enumerate(rows):
    given[n, : len(row)] = torch.tensor(row)
read, labels = given != tokenizer.vocab["[PAD]"], torch.full_like(given, IGNORED)
for row, place in ((0, 2), (1, 4), (1, 6)):
    labels[row, place], given[row, place] = given[row, place].item(), MASK
with torch.no_grad():
    logits = model(given, read.long())
    entropy = torch.nn.functional.cross_entropy
    wanted, each = (
        entropy(logits.flatten(0, 1), labels.flatten()),
        entropy(logits.flatten(0, 1), labels.flatten().clamp(min=0), reduction="none").view_as(
            labels
        ),
    )
    found = masked_loss(logits, labels)
    assert found > 0, "A loss is the negative logarithm of a probability."
    assert abs(found - each.mean()) > 1e-4, (
        f"{found:.2f} instead of {wanted:.2f}: you count positions without a label, padding too, "
        "as if id 0 had to be guessed there."
    )
    assert abs(found - wanted * 3 / labels.numel()) > 1e-5, (
        "Divide by the number of labels, not by the number of all tokens."
    )
    means = [entropy(logits[n], labels[n]) for n in (0, 1)]
    assert abs(found - (means[0] + means[1]) / 2) > 1e-5, (
        "Each chosen token counts alike. You take the mean of rows, which have one and two of them."
    )
    assert abs(found - wanted) < 1e-5, f"Expected {wanted:.5f}, found {found:.5f}."
    large = logits + 1000
    assert torch.isfinite(masked_loss(large, labels)), "Large logits overflow: use `log_softmax`."


# %% blank floor_of_guessing 2
def floor_of_guessing(train: Tensor, test: Tensor, size: int) -> float:
    """Return the loss on `test` of a guesser who knows how often each id is in `train`.

    Count each id once more than it is there, so that none has the probability 0.
    """
    raise NotImplementedError


# %% check floor_of_guessing
train, test = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 1, 2])
found = floor_of_guessing(train, test, 3)
assert found != float("inf"), "Id 2 is not in `train`; with one more count of each it has 1 of 7."
wanted = -float(torch.tensor([4 / 7, 2 / 7, 1 / 7]).log().mean())
own = -sum(p * float(torch.tensor(p).log()) for p in (4 / 7, 2 / 7, 1 / 7))
assert abs(found - own) > 1e-5, (
    "That is the entropy of `train`. Take the mean over the ids of `test`."
)
assert abs(found - wanted / float(torch.tensor(2.0).log())) > 1e-5, "Use the natural logarithm."
assert abs(found - wanted) < 1e-5, f"Expected {wanted:.5f}, found {found:.5f}."
