"""Measure a model's bias about occupations by paired prompts: he or she.

Each template is used in two versions that differ in one word. If the gap is the pronoun, the
log-odds compare the two pronouns at the gap; if it is the occupation, they compare the occupation
after one pronoun and after the other. Paired sentences with a gap follow Kurita et al. 2019,
"Measuring Bias in Contextualized Word Representations"; sentences and occupations are our own.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Estimate, Leaning
from bert_core.model.heads import BertForPreTraining
from bert_core.reading.running import batches
from bert_core.text.tokenizer import BertTokenizer
from training.scores import RESAMPLED, Floats, aim
from training.unseen import OCCUPATIONS, OPEN_OCCUPATION, OPEN_PRONOUN, PRONOUNS

_NEUTRAL = "person"
_SEED = 7


def measure_bias(model: BertForPreTraining, tokenizer: BertTokenizer) -> Bias:
    """Measure he against she for every occupation."""
    open_word = _open_word(model, tokenizer, [*OCCUPATIONS, _NEUTRAL])  # (O + 1, T)
    open_occupation = _open_occupation(model, tokenizer, OCCUPATIONS)  # (O, U)
    odds = np.concatenate([open_word[:-1], open_occupation], axis=1)
    leanings = [
        Leaning(name, _over_templates(row), float(word.mean()), float(other.mean()))
        for name, row, word, other in zip(
            OCCUPATIONS, odds, open_word, open_occupation, strict=False
        )
    ]
    skew, share = _over_both(odds)
    return Bias(
        words=PRONOUNS,
        templates=OPEN_PRONOUN + OPEN_OCCUPATION,
        leanings=tuple(leanings),
        skew=skew,
        share_first=share,
        neutral=float(open_word[-1].mean()),
    )


def bias_unfit(tokenizer: BertTokenizer) -> str:
    """Return why bias cannot be measured with a vocabulary, or "" if it can."""
    if all(len(tokenizer.tokenize(word)) == 1 for word in PRONOUNS):
        return ""
    return f"its vocabulary does not hold {' and '.join(PRONOUNS)} as whole words"


def bias_figures(bias: Bias) -> list[Figure]:
    """Return the two shares that sum it up."""
    odds = np.array([leaning.log_odds.value for leaning in bias.leanings])
    draws = np.random.default_rng(_SEED).integers(len(odds), size=(RESAMPLED, len(odds)))
    likelier = 1 / (1 + np.exp(-np.abs(odds)))
    low, high = np.percentile(likelier[draws].mean(axis=1), [2.5, 97.5])
    share, skew = bias.share_first, Estimate(float(likelier.mean()), float(low), float(high))
    tasks = {"occupations that lean to he": share, "the likelier pronoun's share": skew}
    return [
        aim(f"bias, {task}").found(each.value, (each.low, each.high), len(odds))
        for task, each in tasks.items()
    ]


def _open_word(
    model: BertForPreTraining, tokenizer: BertTokenizer, occupations: Sequence[str]
) -> Floats:
    """Return (O, T) log-odds of the two words in templates that name the occupation."""
    columns = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word))[0] for word in PRONOUNS]
    texts = [
        template.format(occupation=occupation, word=tokenizer.mask_token)
        for occupation in occupations
        for template in OPEN_PRONOUN
    ]
    scores = [row[0, columns] for row in _log_probabilities(model, tokenizer, texts)]
    odds = np.array([float(first - second) for first, second in scores])
    return odds.reshape(len(occupations), len(OPEN_PRONOUN))


def _open_occupation(
    model: BertForPreTraining, tokenizer: BertTokenizer, occupations: Sequence[str]
) -> Floats:
    """Return (O, T) log-odds of the occupation after the two words.

    An occupation of several pieces gets as many gaps, and the mean of their log-odds.
    """
    pieces = [tokenizer.convert_tokens_to_ids(tokenizer.tokenize(name)) for name in occupations]
    sizes = sorted({len(ids) for ids in pieces})
    prompts = [
        (size, number, _started(template, word, " ".join([tokenizer.mask_token] * size)))
        for size in sizes
        for number, template in enumerate(OPEN_OCCUPATION)
        for word in PRONOUNS
    ]
    found = _log_probabilities(model, tokenizer, [text for _, _, text in prompts])
    odds = np.zeros((len(occupations), len(OPEN_OCCUPATION)))
    for place, ((size, number, _), row) in enumerate(zip(prompts, found, strict=True)):
        sign = 1 if place % 2 == 0 else -1
        for occupation, ids in enumerate(pieces):
            if len(ids) == size:
                odds[occupation, number] += sign * float(row[range(size), ids].mean())
    return odds


def _started(template: str, word: str, gap: str) -> str:
    """Fill a template, its first letter a capital."""
    text = template.format(word=word, occupation=gap)
    return text[0].upper() + text[1:]


@torch.no_grad()
def _log_probabilities(
    model: BertForPreTraining, tokenizer: BertTokenizer, texts: Sequence[str]
) -> list[NDArray[np.float64]]:
    """Return (G, V) for every text: the logarithm of each piece's probability at each gap."""
    mask = tokenizer.mask_token_id
    encodings = [tokenizer.encode(text) for text in texts]
    found: list[NDArray[np.float64]] = [np.zeros((0, 0))] * len(texts)
    for group, (ids, types, attended) in batches(tokenizer, encodings, model.device):
        gaps = [(row == mask).nonzero()[:, 0] for row in ids]
        most = max(len(places) for places in gaps)
        # A row with fewer gaps repeats its last one; what is too much is cut off again.
        places = torch.stack([torch.cat([p, p[-1:].expand(most - len(p))]) for p in gaps])
        scores = model.scores_at(ids, places, types, attended).double().log_softmax(-1).cpu()
        for index, row, own in zip(group, scores, gaps, strict=True):
            found[index] = row[: len(own)].numpy()
    return found


def _over_templates(odds: Floats) -> Estimate:
    """Return the mean of one occupation's log-odds (T,), its interval from resampling them."""
    draws = np.random.default_rng(_SEED).integers(len(odds), size=(RESAMPLED, len(odds)))
    return _estimate(float(odds.mean()), odds[draws].mean(axis=1))


def _over_both(odds: Floats) -> tuple[Estimate, Estimate]:
    """Return mean absolute log-odds and share above 0; occupations and templates resampled."""
    source = np.random.default_rng(_SEED)
    rows, columns = odds.shape
    means = []
    for _ in range(RESAMPLED):
        drawn = odds[source.integers(rows, size=rows)]
        means.append(drawn[:, source.integers(columns, size=columns)].mean(axis=1))
    skews = np.abs(means).mean(axis=1)  # (R,)
    shares = (np.array(means) > 0).mean(axis=1)
    own = odds.mean(axis=1)
    return (_estimate(float(np.abs(own).mean()), skews), _estimate(float((own > 0).mean()), shares))


def _estimate(value: float, drawn: Floats) -> Estimate:
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, float(low), float(high))
