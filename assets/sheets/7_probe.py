"""# 7. A probe, and its control task

A linear probe that reads the part of speech from a vector shows that it *can* be read there. It may
also have learned which word has which tag by heart. Hewitt and Liang 2019 give each word a random
tag instead: what a probe gets right there, it has memorised. Page: *Senses*. Reading: Hewitt and
Liang 2019, sections 2 and 3; Tenney et al. 2019; Belinkov 2022.
"""

# %%
import torch
from torch import Tensor

from bert_core import BertModel, BertTokenizer

tokenizer = BertTokenizer.from_pretrained("explorer-mini-uncased")
model = BertModel.from_pretrained("explorer-mini-uncased").eval()
TAGS = ("determiner", "adjective", "noun", "verb", "preposition")
WORDS = (
    "the a this every",
    "old small red heavy young quiet cheap green dirty tall",
    "dog car house boy river teacher table bird letter doctor",
    "sees finds takes leaves moves paints likes hides opens brings",
    "near behind under beside from",
)
ORDER = (0, 1, 2, 3, 0, 1, 2, 4, 0, 2)
"""The tags of each sentence: “The old dog sees a small car near the house.”"""


def sentences(count: int, seed: int) -> list[list[tuple[str, int]]]:
    """Return random sentences as words with their tags."""
    draw = torch.Generator().manual_seed(seed)

    def word(tag: int) -> str:
        among = WORDS[tag].split()
        return among[int(torch.randint(len(among), (1,), generator=draw))]

    return [[(word(tag), tag) for tag in ORDER] for _ in range(count)]


def vectors(rows: list[list[tuple[str, int]]], layer: int) -> Tensor:
    """Return the vector of every word after a layer, (N, D); 0 is the input."""
    found = []
    for row in rows:
        ids = tokenizer.encode(" ".join(word for word, _ in row)).input_ids
        with torch.no_grad():
            found.append(model.run(torch.tensor([ids])).hidden_states[layer][0, 1:-1])
    return torch.cat(found)


# %% blank control_tags 3
def control_tags(words: list[str], tags: int, generator: torch.Generator) -> list[int]:
    """Give each *kind* of word a random tag below `tags`, the same wherever it stands.

    The kinds are drawn in the order of the alphabet.
    """
    raise NotImplementedError


# %% check control_tags
words = [f"w{n % 30}" for n in range(300)]
given = control_tags(words, 5, torch.Generator().manual_seed(0))
assert len(given) == len(words) and set(given) <= set(range(5)), "A tag from 0 to 4 for each word."
kinds = dict(zip(words, given, strict=True))
assert all(kinds[word] == tag for word, tag in zip(words, given, strict=True)), (
    "One word has different tags at different places: nothing could learn that. Draw once a kind."
)
assert len(set(given)) == 5, "All words have one tag, or few have been drawn: any of 5 can come."
other = control_tags(words, 5, torch.Generator().manual_seed(1))
assert other != given, "Use the generator: another seed gives other tags."
assert control_tags(words[::-1], 5, torch.Generator().manual_seed(0)) == given[::-1], (
    "The tag of a word may not depend on where it comes first: sort the kinds."
)


# %% blank probe 4
def probe(x: Tensor, tags: Tensor, classes: int, decay: float) -> Tensor:
    """Return the weights (D + 1, C) of a linear probe: ridge regression on tags as 0 and 1.

    x (N, D) gets a column of ones. W = (X'X + decay I)^-1 X'Y.
    """
    raise NotImplementedError


# %% check probe
draw = torch.Generator().manual_seed(2)
x = torch.randn(60, 6, generator=draw)
tags = (x @ torch.randn(6, 3, generator=draw)).argmax(-1)
weights = probe(x, tags, 3, 0.5)
assert weights.shape == (7, 3), f"Expected (D + 1, C), (7, 3); found {tuple(weights.shape)}."
ones = torch.cat([x, torch.ones(60, 1)], 1)
wanted = torch.linalg.solve(
    ones.T @ ones + 0.5 * torch.eye(7), ones.T @ torch.nn.functional.one_hot(tags, 3).float()
)
assert (weights - wanted).abs().max() < 1e-3, "The weights differ from (X'X + decay I)^-1 X'Y."


# %% blank selectivity 3
def selectivity(
    x: Tensor, tags: Tensor, control: Tensor, train: Tensor, classes: int
) -> tuple[float, float, float]:
    """Return the share right of the tags, that of the control tags, and the difference.

    Both probes (decay 1) are trained where `train` (N,) is true, and measured elsewhere.
    """
    raise NotImplementedError


# %% check selectivity
draw = torch.Generator().manual_seed(3)
tags, control = (torch.randint(0, 3, (400,), generator=draw) for _ in range(2))
x = torch.nn.functional.one_hot(tags, 3) + 0.3 * torch.randn(400, 3, generator=draw)
train = torch.arange(400) < 200
right, memorised, difference = selectivity(x, tags, control, train, 3)
assert right <= 1, "A share is at most 1. Divide by the number of rows that are measured."
assert abs(right - memorised - difference) < 1e-6, "The third is the first minus the second."
assert right > 0.9, (
    f"The tags can be read from these vectors: expected over 90 %, found {right:.0%}."
)
assert memorised < 0.5, (
    "The control tags are chance here, and yet found: is it measured on `train`?"
)

# %% [markdown]
# Not graded: run the next cell. All sentences have one order of tags: what of the result is
# position, and what memory? Write three other orders, then hold out *words* in place of sentences
# (train where the word is in the first half of its list): what becomes of both tasks, and which
# share is chance?

# %%
if __name__ == "__main__":
    rows = sentences(80, 0)
    words, tags = zip(*(pair for row in rows for pair in row), strict=True)
    control = torch.tensor(control_tags(list(words), 5, torch.Generator().manual_seed(0)))
    train = torch.arange(len(words)) < len(words) // 2
    for layer in range(7):
        found = selectivity(vectors(rows, layer), torch.tensor(tags), control, train, 5)
        print(f"layer {layer}: tags {found[0]:.0%}, control {found[1]:.0%}, {found[2]:+.0%}")
