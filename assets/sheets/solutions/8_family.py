"""Solutions of sheet 8."""

from collections.abc import Callable

import torch

BertForMaskedLM = torch.nn.Module  # the sheet has it


# %% blank parameters
def parameters(model: torch.nn.Module) -> int:
    """Return how many numbers are learned; a tensor that two layers share counts once."""
    return sum(each.numel() for each in {id(each): each for each in model.parameters()}.values())


# %% blank milliseconds
def milliseconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return the median of seven runs in milliseconds, after one that does not count."""
    work()
    took = []
    for _ in range(7):
        begun = clock()
        work()
        took.append(clock() - begun)
    return 1000 * sorted(took)[3]


# %% blank first_guess
def first_guess(model: BertForMaskedLM, tokenizer: object, text: str) -> str:
    """Return the likeliest token where the text has `___`, in any family's own mask."""
    encoding = tokenizer.encode(text.replace("___", tokenizer.mask_token))
    at = encoding.tokens.index(tokenizer.mask_token)
    with torch.inference_mode():
        logits = model(torch.tensor([encoding.input_ids]))
    return tokenizer.ids_to_tokens[int(logits[0, at].argmax())]
