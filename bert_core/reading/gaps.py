"""Fill several masks together, and score the pieces of a text that has none.

The best pieces of two masks, taken alone, need not fit together. `fill_together` scores joint
fillings by the chain rule: one mask is filled, the model reads the text again, the next is filled,
and the conditional probabilities are multiplied. The order is "left" (to right, the same for every
filling) or "certain" (always the open mask of lowest entropy, given what this filling contains).
Each filling is reached along exactly one path, so the probabilities of all add up to 1. A narrow
beam may miss the best filling; it never misstates the score of one that it returns.

All compute through a `Scorer` (`scorer_of` a model). `read_signs` says what counts as a gap in a
text that a person typed.
"""

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, product
from statistics import fmean
from typing import Annotated, Literal

import torch
from torch import Tensor

from bert_core.errors import InputError
from bert_core.model.heads import BertForMaskedLM, BertForPreTraining
from bert_core.text.batches import TextTokenizer
from bert_core.text.byte_level import SPACE
from bert_core.text.encoding import Encoding
from bert_core.text.vocabulary import CONTINUATION

Scorer = Callable[[Tensor, Tensor], Tensor]
"""Scores the vocabulary: ids (B, T) and positions (B, P) -> logits (B, P, V)."""

Order = Literal["left", "certain"]

_SIGNS = re.compile(r"_{3,}|[<]mask>|\[\s?mask\s?\]", re.IGNORECASE)
_MASK = "[MASK]"
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = r"[^\s!-/:-@\[-`{-~¡«»¿\u2010-\u205e\u3000-\u303f]"  # also what combines with one
_MOVED = re.compile(rf"({_LETTER}+(?:['’-]{_LETTER}+)*)")
_TOKENS = 4096  # computed at once
_ROWS = 64  # the same, of short texts: each row holds V float64 numbers


# -- gaps in what a person typed ------------------------------------------------------------------


def read_signs(text: str, mask: str = _MASK) -> tuple[str, tuple[str, ...]]:
    """Write a mask for other signs of a gap, and return those that were found.

    Signs are three or more underscores, <mask>, and [mask] in any case. [MASK], which stands for
    `mask`, the model's own, is not returned.

    >>> read_signs("A ___ and a <mask>, a ___ and a [MASK].")
    ('A [MASK] and a [MASK], a [MASK] and a [MASK].', ('___', '<mask>'))
    """
    found = dict.fromkeys(sign for sign in _SIGNS.findall(text) if sign not in (mask, _MASK))
    return _SIGNS.sub(lambda _: mask, text), tuple(found)


def shuffle_words(text: str, seed: int, mask: str = _MASK) -> str:
    """Put the words of a text into another order; gaps, punctuation and spaces keep their places.

    `seed` names the order, the same one everywhere; 0 leaves the text as it is.

    >>> shuffle_words("The capital of France is [MASK].", 1)
    'of France is The capital [MASK].'
    """
    parts = [_MOVED.split(part) for part in re.split(f"({re.escape(mask)})", text)]
    words = [word for part in parts[::2] for word in part[1::2]]
    mixed, chance = list(words), random.Random(seed)
    while seed and len(set(words)) > 1 and mixed == words:
        chance.shuffle(mixed)
    rest = iter(mixed)
    for part in parts[::2]:
        part[1::2] = [next(rest) for _ in part[1::2]]
    return "".join(map("".join, parts))


def hide_word(text: str) -> tuple[str, str]:
    """Write [MASK] for the last word of more than three letters, or else for the last one.

    Returns the text and the word; the text as it is and "" if it has no word.

    >>> hide_word("The capital of France is Rome, no?")
    ('The capital of France is [MASK], no?', 'Rome')
    """
    words = list(_WORD.finditer(text))
    long = [word for word in words if len(word[0]) > 3]
    if not words:
        return text, ""
    found = (long or words)[-1]
    return f"{text[: found.start()]}{_MASK}{text[found.end() :]}", found[0]


# -- filling --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filling:
    """One way to fill several gaps, each with a word of one or more pieces, a mask for each.

    Probabilities hold for a text with exactly so many masks; how many a gap should have, the model
    does not say.
    """

    words: Annotated[tuple[tuple[int, ...], ...], "the pieces in each gap, in text order"]
    log_probabilities: Annotated[
        tuple[float, ...],
        "of each piece, given those filled before it, with the masks filled after it still hidden",
    ]
    order: Annotated[tuple[int, ...], "the masks, counted from 0, in the order they were filled"]

    @property
    def ids(self) -> tuple[int, ...]:
        """The piece in each mask, in text order."""
        return tuple(chain.from_iterable(self.words))

    @property
    def log_probability(self) -> float:
        """The natural logarithm of the pseudo-joint probability."""
        return math.fsum(self.log_probabilities)

    @property
    def per_piece(self) -> float:
        """The mean of `log_probabilities`, for comparing fillings of different lengths."""
        return self.log_probability / len(self.log_probabilities)


def scorer_of(model: BertForMaskedLM | BertForPreTraining) -> Scorer:
    """Return a scorer that runs a model on its current device, without gradients."""

    @torch.inference_mode()
    def score(input_ids: Tensor, positions: Tensor) -> Tensor:
        return model.scores_at(input_ids.to(model.device), positions.to(model.device))

    return score


def fill_together(
    scorer: Scorer,
    input_ids: Sequence[int],
    masks: Sequence[int],
    *,
    width: int = 10,
    order: Order = "left",
    allowed: Sequence[Tensor | None] | None = None,
    temperature: float = 1.0,
) -> list[Filling]:
    """Fill several masks together by beam search.

    Args:
        masks: positions of the n masks to fill, ascending; other masks stay hidden.
        width: the most fillings that are kept after each step and returned.
        allowed: for each mask the ids it may take, or None for all. The others are left out; the
            probabilities of these stay as the model gives them, so with one id for each mask a
            given filling is scored.

    Returns:
        At most `width` fillings, the most probable first; each mask is a gap of one piece.

    Raises:
        InputError: there is no mask to fill, or the positions are not ascending places of the text.
    """
    _check(input_ids, masks)
    if width < 1 or order not in ("left", "certain"):
        raise InputError(f"Found width={width}, order={order!r}; expected 1 or more, left/certain.")
    rows = torch.tensor([list(input_ids)])  # (B, T), B hypotheses
    places = torch.tensor(list(masks))
    filled = torch.zeros(1, len(masks), dtype=torch.float64)  # (B, n) log-probabilities
    path = torch.zeros(1, 0, dtype=torch.long)  # (B, step) masks already filled
    for _ in masks:
        number, logs = _next_mask(scorer, rows, places, path, order, temperature)  # (B,), (B, V)
        for row, mask in enumerate(number.tolist()):
            if allowed is not None and (ids := allowed[mask]) is not None:
                kept = torch.full_like(logs[row], -math.inf)
                logs[row] = kept.index_copy(0, ids, logs[row, ids])
        totals = (filled.sum(1)[:, None] + logs).flatten()
        best = totals.topk(max(1, min(width, int(totals.isfinite().sum())))).indices
        parent, piece = best // logs.shape[1], best % logs.shape[1]
        chosen, every = number[parent], torch.arange(len(best))
        rows, filled, path = rows[parent].clone(), filled[parent].clone(), path[parent]
        rows[every, places[chosen]] = piece
        filled[every, chosen] = logs[parent, piece]
        path = torch.cat([path, chosen[:, None]], dim=1)
    found = zip(rows[:, places, None].tolist(), filled.tolist(), path.tolist(), strict=True)
    fillings = [
        Filling(tuple(map(tuple, ids)), tuple(logs), tuple(way)) for ids, logs, way in found
    ]
    return sorted(fillings, key=lambda each: -each.log_probability)


def _next_mask(
    scorer: Scorer, rows: Tensor, places: Tensor, path: Tensor, order: Order, temperature: float
) -> tuple[Tensor, Tensor]:
    """Return the mask that each hypothesis fills next, (B,), and its log-probabilities, (B, V).

    Masks in `path` (B, step) are filled already; `places` (n,) are the positions of all.
    """
    is_open = torch.ones(len(rows), len(places), dtype=torch.bool).scatter(1, path, False)
    numbers = is_open.nonzero()[:, 1].view(len(rows), -1)  # (B, masks still open)
    if order == "left":
        numbers = numbers[:, :1]
    parts = [logs for _, logs in _batched(scorer, rows, places[numbers], temperature)]
    logs = torch.cat(parts)  # (B, open, V)
    surest = (logs.exp() * logs).nansum(dim=-1).argmax(dim=1)  # of the lowest entropy
    every = torch.arange(len(rows))
    return numbers[every, surest], logs[every, surest]


# -- gaps of several pieces -----------------------------------------------------------------------


def fill_gaps(
    scorer: Scorer,
    tokenizer: TextTokenizer,
    input_ids: Sequence[int],
    gaps: Sequence[int],
    *,
    befores: Sequence[str] = (),
    most: int = 1,
    width: int = 10,
    order: Order = "left",
    temperature: float = 1.0,
) -> list[Filling]:
    """Fill gaps with words of one to `most` pieces each, by one beam search per choice of lengths.

    A gap of one piece takes anything in the vocabulary; of several, a piece that begins a word
    (after a space, if that is in `befores`), then pieces that continue it. Every further piece is a
    further factor, so fillings are in the order of `Filling.per_piece`, the geometric mean.
    `input_ids` has one [MASK] per gap; the other arguments are those of `fill_together`.

    Raises:
        InputError: `most` is below 1, there is no gap, or the vocabulary has no [MASK].
    """
    _check(input_ids, gaps)
    if most < 1:
        raise InputError(f"Found most={most}; a gap takes at least 1 piece.")
    starts, continues = _word_pieces(tokenizer)
    spaced = (pieces_after(tokenizer, each, "a")[0] for each in befores or " " * len(gaps))
    firsts = [starts if tokenizer.begins_word(each) else continues for each in spaced]
    found: list[Filling] = []
    for lengths in product(range(1, most + 1), repeat=len(gaps)):
        ids, masks = widen_gaps(tokenizer, input_ids, gaps, lengths)
        allowed = [
            piece
            for length, first in zip(lengths, firsts, strict=True)
            for piece in ([None] if length == 1 else [first] + [continues] * (length - 1))
        ]
        for filling in fill_together(
            scorer, ids, masks, width=width, order=order, allowed=allowed, temperature=temperature
        ):
            rest = iter(filling.ids)
            found.append(replace(filling, words=tuple(tuple(islice(rest, n)) for n in lengths)))
    return sorted(found, key=lambda each: -each.per_piece)[:width]


def written_before(encoding: Encoding, position: int) -> str:
    """Return the text before a token; a space that the mask of some families takes is in it."""
    side, (start, end) = encoding.sequence_ids[position], encoding.spans[position]
    text = (encoding.text_pair if side else encoding.text) or ""
    return " " if side is None else text[: end - len(text[start:end].lstrip())]


def pieces_after(tokenizer: TextTokenizer, before: str, word: str) -> list[str]:
    """Return the pieces of a word as it is cut after some text: a space, "(" or nothing.

    Byte-level BPE and SentencePiece have one piece for a word after a space, another for the same
    word without one. WordPiece, which has no such pieces, cuts it as a word of its own.
    """
    word = word.strip()
    if not word or not before or before[-1].isspace():
        return tokenizer.tokenize(f" {word}" if word and before else word)
    found = tokenizer.encode(f"({word}")  # any punctuation mark: no piece goes across it
    rows = zip(found.tokens, found.offsets, found.sequence_ids, strict=True)
    return [token for token, (start, _), side in rows if side == 0 and start > 0]


def widen_gaps(
    tokenizer: TextTokenizer, input_ids: Sequence[int], gaps: Sequence[int], lengths: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Put several masks in the place of one, and return the new ids and the masks' positions.

    `gaps` are positions of single masks, ascending; `lengths` how many masks each of them becomes.
    """
    ids: list[int] = []
    masks: list[int] = []
    done = 0
    for gap, length in zip(gaps, lengths, strict=True):
        ids += input_ids[done:gap]
        masks += range(len(ids), len(ids) + length)
        ids += [tokenizer.mask_token_id] * length
        done = gap + 1
    return [*ids, *input_ids[done:]], masks


def _word_pieces(tokenizer: TextTokenizer) -> tuple[Tensor, Tensor]:
    """Return the ids of pieces that begin a word, and of those that continue one."""
    starts: list[int] = []
    continues: list[int] = []
    for token, id_ in tokenizer.vocab.items():
        begins = tokenizer.begins_word(token)
        spelled = tokenizer.readable(token).removeprefix(SPACE if begins else CONTINUATION)
        if not begins and (spelled[:1].isalnum() or token.startswith(CONTINUATION)):
            continues.append(id_)
        elif begins and spelled[:1].isalnum():
            starts.append(id_)
    return torch.tensor(starts, dtype=torch.long), torch.tensor(continues, dtype=torch.long)


# -- scoring --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PieceScore:
    """How well a piece fits its place when it is hidden."""

    position: Annotated[int, "its place among the tokens of the input"]
    id: Annotated[int, "its number in the vocabulary"]
    log_probability: Annotated[float, "natural logarithm of its probability"]
    rank: Annotated[int, "1 if the model expects no piece more"]
    best: Annotated[int, "the piece that the model expects most"]
    best_log_probability: float


def score_pieces(
    scorer: Scorer,
    tokenizer: TextTokenizer,
    input_ids: Sequence[int],
    positions: Sequence[int],
    *,
    words: Sequence[int | None] | None = None,
    temperature: float = 1.0,
) -> list[PieceScore]:
    """Hide every piece in turn and score it: one masked copy of the text for each, in batches.

    The sum of `PieceScore.log_probability` is the pseudo-log-likelihood of the text (Salazar et al.
    2020).

    Args:
        words: word number of each of the T tokens (`Encoding.words`). With it, the later pieces
            of the same word are hidden as well: otherwise a rare word looks probable, because each
            of its pieces is easily guessed from the others (Kauf and Ivanova, 2023).

    Raises:
        InputError: there is nothing to score, or the vocabulary has no [MASK].
    """
    _check(input_ids, positions)
    rows = torch.tensor([list(input_ids)]).repeat(len(positions), 1)  # (P, T)
    for row, position in enumerate(positions):
        end = position + 1
        while words is not None and end < len(words) and words[end] == words[position] is not None:
            end += 1
        rows[row, position:end] = tokenizer.mask_token_id
    at = torch.tensor(list(positions))[:, None]  # (P, 1)
    scores: list[PieceScore] = []
    for start, batch in _batched(scorer, rows, at, temperature):
        for position, logs in zip(positions[start:], batch[:, 0], strict=False):  # logs: (V,)
            own, best = input_ids[position], int(logs.argmax())
            rank = int((logs > logs[own]).sum()) + 1
            own_log, best_log = float(logs[own]), float(logs[best])
            scores.append(PieceScore(position, own, own_log, rank, best, best_log))
    return scores


def odd_word(scores: Sequence[PieceScore], words: Sequence[int | None]) -> list[PieceScore]:
    """Return the pieces of the word with the lowest mean of `PieceScore.log_probability`.

    Of 69 words put into sentences at random, a model of six layers found more so than by the lowest
    sum. `words` has the word number of each token of the text (`Encoding.words`).
    """
    groups = [list(group) for _, group in groupby(scores, key=lambda each: words[each.position])]
    return min(groups, key=lambda group: fmean(each.log_probability for each in group))


def _batched(
    scorer: Scorer, rows: Tensor, at: Tensor, temperature: float
) -> Iterator[tuple[int, Tensor]]:
    """Yield log-probabilities (b, P, V) of consecutive rows, with the number of the first row."""
    size = max(1, min(_ROWS, _TOKENS // rows.shape[1]))
    for start in range(0, len(rows), size):
        logits = scorer(rows[start : start + size], at[start : start + size])
        yield start, torch.log_softmax(logits.double().cpu() / temperature, dim=-1)


def _check(input_ids: Sequence[int], positions: Sequence[int]) -> None:
    places = list(positions)
    if not places:
        raise InputError("No position is given; expected at least one.")
    if places != sorted(set(places)) or places[0] < 0 or places[-1] >= len(input_ids):
        raise InputError(
            f"Found the positions {places}; expected different ones in ascending order, from 0 to "
            f"{len(input_ids) - 1}."
        )
