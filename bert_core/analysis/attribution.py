"""`attribute`: how much each token of a text contributes to one number of a model's answer.

Scores are of word embeddings before position and token type are added, summed over dimensions:
integrated gradients (Sundararajan et al. 2017), gradient length (Simonyan et al. 2014), gradient x
input (Shrikumar et al. 2016), occlusion (Zeiler and Fergus 2014), Shapley values (Shapley 1953;
sampled orders as in Castro et al. 2009). Attention is the same for every answer and therefore
explains none: as it is, rolled out, or by the length of vectors (`bert_core.analysis.mixing`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.analysis.forward import Floats, Progress, as_array, in_batches, input_tensors, record
from bert_core.analysis.masking import MASK, Selection, free_tokens, masked_values
from bert_core.analysis.mixing import norms, rolled, rollout
from bert_core.analysis.targets import Target
from bert_core.errors import InputError
from bert_core.model.bert import encoder_of
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.text.encoding import Encoding

_FIRST_STEPS, _MOST_STEPS, _LARGEST_GAP = 8, 64, 0.01
_SEED = 0
_EXACT, _MOST_EXACT = 7, 10  # free tokens: 128 and 1024 selections


@dataclass(frozen=True, slots=True, eq=False)
class Attribution:
    """The scores of one text for one target."""

    scores: Annotated[Floats, "(T,), positive for the answer; 0 for `frozen` tokens"]
    method: str
    target: Annotated[Target, "what was explained"]
    frozen: Annotated[tuple[int, ...], "not scored: added special tokens, and the asked [MASK]"]
    baseline: Annotated[str, 'what a token was compared with; "" if the method has none'] = ""
    steps: Annotated[int, "points of the path, or orders of tokens; 0 if the method has none"] = 0
    gap: Annotated[
        float | None, "share of the target's fall that the scores miss; None: no such sum"
    ] = None
    passes: Annotated[int, "texts run through the model; a backward pass counts as one more"] = 1

    @property
    def order(self) -> tuple[int, ...]:
        """The positions that were scored, highest score first, equal ones in reading order."""
        free = [at for at in range(len(self.scores)) if at not in self.frozen]
        return tuple(sorted(free, key=lambda at: -self.scores[at]))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a method gets: the arguments of `attribute`, and the positions of the free tokens.

    A method returns the scores of these, (n,), and the last four fields of `Attribution`.
    """

    model: BertPreTrainedModel
    encoding: Encoding
    target: Target
    free: list[int]
    progress: Progress | None
    baseline: str
    operator: str
    orders: int
    exact: bool | None
    layers: str


_Found = tuple[Floats, dict[str, Any]]


def attribute(
    model: BertPreTrainedModel,
    encoding: Encoding,
    target: Target,
    *,
    method: str = "integrated_gradients",
    baseline: str = MASK,
    operator: str = "mask",
    orders: int = 10,
    exact: bool | None = None,
    layers: str = "mean",
    progress: Progress | None = None,
) -> Attribution:
    """Score each token of a text for one number of the answer.

    Args:
        baseline: for integrated gradients, a special token such as "[MASK]" or "[PAD]", or "zero".
        operator: for occlusion and Shapley values, how tokens are hidden, see `masked_values`.
        orders: for sampled Shapley values, the number of orders.
        exact: for Shapley values, whether to use all 2^n selections of the n free tokens; None
            means up to 7, and more than 10 are refused.
        layers: for "attention", "mean" of all layers, or "last".

    Raises:
        InputError: an argument is not as described.
    """
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}; expected one of {', '.join(METHODS)}.")
    target.check(model, len(encoding))
    free = free_tokens(encoding, target)
    options = (baseline, operator, orders, exact, layers)
    # Also where the caller is in inference mode, whose tensors refuse gradients.
    with torch.inference_mode(False), torch.no_grad():
        found, about = METHODS[method](_Asked(model, encoding, target, free, progress, *options))
    scores = np.zeros(len(encoding))
    scores[free] = found
    scores.setflags(write=False)
    frozen = tuple(at for at in range(len(encoding)) if at not in set(free))
    return Attribution(scores, method, target, frozen, **about)


# -- gradients -------------------------------------------------------------------------------------


def _word_vectors(asked: _Asked) -> Tensor:
    """Return the rows of the word embeddings of the text, (1, T, E)."""
    return _table(asked)[asked.encoding.input_ids][None]


def _table(asked: _Asked) -> Tensor:
    encoder = encoder_of(asked.model)
    return encoder.embeddings.word_embeddings.weight.detach()


def _target_of(asked: _Asked, words: Tensor) -> Tensor:
    """Compute the target with other word vectors (N, T, E) in the places of the text's: (N,)."""
    ids, types = input_tensors(asked.model, asked.encoding)
    encoder = encoder_of(asked.model)
    rows = encoder.embeddings
    hidden = rows.normalised(words + rows.positions(ids) + rows.types(types))
    return asked.target.read(asked.model, encoder.encoder(hidden).last_hidden_state)


def _gradients(asked: _Asked, words: Tensor) -> Tensor:

    def gradients(batch: Tensor) -> Tensor:
        batch = batch.detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(_target_of(asked, batch).sum(), batch)[0]

    return in_batches(gradients, words, words.shape[1], asked.progress)


def _gradient(asked: _Asked) -> _Found:
    gradients = _gradients(asked, _word_vectors(asked))[0, asked.free]
    return as_array(gradients.norm(dim=-1)), {"passes": 2}


def _gradient_x_input(asked: _Asked) -> _Found:
    words = _word_vectors(asked)
    products = (_gradients(asked, words) * words)[0, asked.free]
    return as_array(products.sum(-1)), {"passes": 2}


def _integrated_gradients(asked: _Asked) -> _Found:
    """Double the number of steps until the scores sum to the difference they divide up."""
    words = _word_vectors(asked)
    start = words.clone()
    zero = asked.baseline == "zero"
    start[:, asked.free] = 0.0 if zero else _table(asked)[asked.encoding.special_id(asked.baseline)]
    whole, empty = _target_of(asked, torch.cat([words, start])).double().tolist()
    steps, passes = _FIRST_STEPS, 2
    while True:
        scores = _along_path(asked, start, words, steps)
        gap = _gap(scores, whole - empty)
        passes += 2 * steps
        if gap < _LARGEST_GAP or steps >= _MOST_STEPS:
            about = {"baseline": asked.baseline, "steps": steps, "gap": gap, "passes": passes}
            return scores, about
        steps *= 2


def _along_path(asked: _Asked, start: Tensor, end: Tensor, steps: int) -> Floats:
    """Integrate the gradient along the straight line, by the midpoint rule."""
    wide = torch.promote_types(end.dtype, torch.float32)  # bfloat16 has no 128.5
    start, end = start.to(wide), end.to(wide)
    ways = (torch.arange(steps, device=end.device, dtype=wide) + 0.5) / steps
    points = start + ways[:, None, None] * (end - start)  # (steps, T, E)
    mean = _gradients(asked, points.to(asked.model.dtype)).double().mean(dim=0)
    return as_array(((end - start)[0].double() * mean).sum(dim=-1)[asked.free])


def _gap(scores: Floats, difference: float) -> float:
    missing = abs(float(scores.sum()) - difference)
    return missing / abs(difference) if difference else float(missing > 0)


# -- hiding tokens ---------------------------------------------------------------------------------


def _values(asked: _Asked, hidden: Selection) -> Floats:
    whole = np.zeros((len(hidden), len(asked.encoding)), dtype=np.bool_)
    whole[:, asked.free] = hidden
    how: dict[str, Any] = {"operator": asked.operator, "progress": asked.progress}
    return masked_values(asked.model, asked.encoding, asked.target, whole, **how)


def _occlusion(asked: _Asked) -> _Found:
    count = len(asked.free)
    values = _values(asked, np.vstack([np.zeros(count, bool), np.eye(count, dtype=bool)]))
    return values[0] - values[1:], {"baseline": asked.operator, "passes": count + 1}


def _shapley(asked: _Asked) -> _Found:
    """Return the mean change when a token appears, over orders of appearance."""
    count = len(asked.free)
    exact = count <= _EXACT if asked.exact is None else asked.exact
    if exact and count > _MOST_EXACT:
        raise InputError(
            f"Exact Shapley values of {count} tokens need 2^{count} passes; at most "
            f"{_MOST_EXACT} tokens are computed exactly. Leave exact out to sample orders."
        )
    scores, difference, about = (_exact_shapley if exact else _sampled_shapley)(asked, count)
    return scores, {"baseline": asked.operator, "gap": _gap(scores, difference), **about}


def _exact_shapley(asked: _Asked, count: int) -> tuple[Floats, float, dict[str, Any]]:
    selections = np.arange(2**count)
    shown = (selections[:, None] >> np.arange(count)) & 1  # (2^n, n)
    values = _values(asked, shown == 0)
    earlier = shown.sum(axis=1)  # tokens that appeared before the next
    weights = np.array([1 / (count * math.comb(count - 1, size)) for size in range(count)])
    scores = np.empty(count)
    for token in range(count):
        before = selections[shown[:, token] == 0]
        rise = values[before | (1 << token)] - values[before]
        scores[token] = (weights[earlier[before]] * rise).sum()
    about = {"steps": math.factorial(count), "passes": len(selections)}
    return scores, float(values[-1] - values[0]), about


def _sampled_shapley(asked: _Asked, count: int) -> tuple[Floats, float, dict[str, Any]]:
    ranks = random_ranks(count, asked.orders)  # (R, n)
    shown = ranks[:, None, :] < np.arange(count + 1)[:, None]  # (R, n + 1, n)
    values = _values(asked, ~shown.reshape(-1, count)).reshape(len(ranks), count + 1)
    rises = np.take_along_axis(np.diff(values, axis=1), ranks, axis=1)  # (R, n)
    passes = len(np.unique(shown.reshape(-1, count), axis=0))
    about = {"steps": len(ranks), "passes": passes}
    return rises.mean(axis=0), float(values[0, -1] - values[0, 0]), about


def random_ranks(count: int, orders: int) -> NDArray[np.intp]:
    """Draw ranks (orders, count) of things, always the same ones, each followed by its reverse.

    >>> bool((random_ranks(5, 4)[1] == 4 - random_ranks(5, 4)[0]).all())
    True
    """
    generator = np.random.default_rng(_SEED)
    drawn = [generator.permutation(count) for _ in range(-(-orders // 2))]
    both = [each for ranks in drawn for each in (ranks, count - 1 - ranks)]
    return np.array(both[:orders], dtype=np.intp).reshape(orders, count)


# -- attention -------------------------------------------------------------------------------------


def _attentions(asked: _Asked) -> tuple[Tensor, ...]:
    return record(asked.model, asked.encoding, attentions=True).attentions


def _attention(asked: _Asked) -> _Found:
    if asked.layers not in ("mean", "last"):
        raise InputError(f"Found layers={asked.layers!r}; expected 'mean' or 'last'.")
    maps = _attentions(asked)[-1 if asked.layers == "last" else 0 :]
    rows = torch.stack([layer[0, :, asked.target.position].mean(dim=0) for layer in maps])
    return as_array(rows.double().mean(dim=0)[asked.free]), {}


def _rollout(asked: _Asked) -> _Found:
    return rollout(_attentions(asked))[asked.target.position, asked.free], {}


def _norms(asked: _Asked) -> _Found:
    return rolled(norms(asked.model, asked.encoding))[asked.target.position, asked.free], {}


METHODS: dict[str, Callable[[_Asked], _Found]] = {
    "integrated_gradients": _integrated_gradients,
    "occlusion": _occlusion,
    "shapley": _shapley,
    "gradient": _gradient,
    "gradient_x_input": _gradient_x_input,
    "attention": _attention,
    "rollout": _rollout,
    "norms": _norms,
}
"""Name -> method. All code that lists the methods reads this table."""


# -- words -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordScore:
    """The score of one word."""

    text: Annotated[str, "the word as typed"]
    score: Annotated[float, "the sum of the scores of its pieces"]
    positions: Annotated[tuple[int, ...], "its pieces"]
    sequence: Annotated[int, "0 if the word is in the first text, 1 if in the second"]
    start: Annotated[int, "offset of its first character in that text"]
    end: Annotated[int, "offset after its last character"]


def by_word(scores: Sequence[float] | Floats, encoding: Encoding) -> tuple[WordScore, ...]:
    """Sum the scores (T,) of the pieces of each word; added special tokens belong to none.

    Raises:
        InputError: the numbers of scores and tokens differ.
    """
    if len(scores) != len(encoding):
        raise InputError(f"Found {len(scores)} scores for {len(encoding)} tokens.")
    return tuple(
        WordScore(
            word.text, float(sum(scores[at] for at in word.positions)), tuple(word.positions),
            word.side, word.start, word.end,
        )
        for word in encoding.typed_words()
    )  # fmt: skip
