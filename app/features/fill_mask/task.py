"""Fill-mask: what the model would write at every [MASK] of a text.

`fill_mask` is the task; `mask_word` and `mask_at_end` prepare a text for it. A text longer than
the model's input is never cut silently: each mask is read in the window that shows most of the
text around it (`bert_core.reading.windows`), and the result reports the window's size.
"""

import math
from collections import defaultdict
from itertools import groupby

import torch
from torch import Tensor

from app.features.fill_mask.result import Candidate, FillMaskResult, Slot, Word
from app.models import Engine
from bert_core import BertForMaskedLM, Encoding
from bert_core.errors import InputError
from bert_core.reading.windows import Windows, cut_windows, readers

MASK = "[MASK]"
_MAX_MASKS = 20  # each costs one row of the whole vocabulary, and a chart on the page
_MAX_CANDIDATES = 100
_CONTEXT = 40  # characters shown on each side of a mask


def fill_mask(engine: Engine, text: str, *, top_k: int = 5, word: str = "") -> FillMaskResult:
    """Ask the masked-language head for the likeliest entries at each mask.

    Several masks are predicted independently, each with the others still hidden.

    Args:
        engine: the model.
        text: any text; without a [MASK] the result has no slots.
        top_k: how many candidates per mask.
        word: a word to report the probability and rank of at every mask, or "".

    Raises:
        InputError: the text is empty or has too many masks, the vocabulary has no [MASK], or
            `top_k` is outside 1..100.
    """
    if not text.strip():
        raise InputError("The text is empty. Type a sentence and write [MASK] where a word hides.")
    if not 1 <= top_k <= _MAX_CANDIDATES:
        raise InputError(f"Found top_k={top_k}; expected 1 to {_MAX_CANDIDATES}.")
    whole = engine.tokenizer.encode(text)
    masks = _masks(engine, whole)
    limit = engine.max_length
    windows = cut_windows(
        engine.tokenizer,
        whole,
        fits=limit if masks else len(whole),
        size=limit,
        stride=limit // 2,
    )
    wanted, note = _named(engine, word)
    scale = engine.calibration(BertForMaskedLM)
    slots = tuple(
        _slot(
            engine,
            whole,
            mask,
            scores,
            temperature=scale.temperature,
            top_k=top_k,
            number=number,
            wanted=wanted,
        )
        for number, (mask, scores) in enumerate(
            zip(masks, _scores(engine, windows, masks), strict=True), start=1
        )
    )
    return FillMaskResult(
        text=text,
        slots=slots,
        words=_words(engine, whole),
        filled=_filled(text, slots),
        vocabulary=engine.provenance.vocabulary,
        tokens=len(whole.input_ids),
        read=max(map(len, windows.inputs)),
        note=note,
        calibration=scale,
    )


def mask_word(text: str, word: Word) -> str:
    """Mask one word of a text; other occurrences of the same word stay.

    >>> mask_word("the cat saw the dog", Word("the", 12, 15, False))
    'the cat saw [MASK] dog'
    """
    return text[: word.start] + MASK + text[word.end :]


def mask_at_end(text: str) -> str:
    """Put a mask at the end of a text, before its final punctuation mark.

    >>> mask_at_end("We sat by the."), mask_at_end("We sat by the ")
    ('We sat by the [MASK].', 'We sat by the [MASK].')
    """
    body = text.rstrip()
    closing = body[-1:] if body[-1:] in {".", "!", "?", "…"} else "."
    return f"{body.removesuffix(closing).rstrip()} {MASK}{closing}".lstrip()


def _masks(engine: Engine, whole: Encoding) -> list[int]:
    """Return the positions of the masks that the text itself contains."""
    mask_id = engine.tokenizer.vocab.get(MASK)
    if mask_id is None:
        raise InputError(
            f"The vocabulary of {engine.provenance.name} has no {MASK}, so it cannot fill one. "
            "Choose a model that was trained with masks."
        )
    found = [position for position, id_ in enumerate(whole.input_ids) if id_ == mask_id]
    if len(found) > _MAX_MASKS:
        raise InputError(
            f"The text has {len(found)} masks; this page fills at most {_MAX_MASKS} at once. "
            "Write some of the words again."
        )
    return found


def _scores(engine: Engine, windows: Windows, masks: list[int]) -> list[Tensor]:
    """Score the whole vocabulary at every mask: one (V,) per mask, in their order."""
    reader, _ = readers(windows.bounds)
    by_window: defaultdict[int, list[int]] = defaultdict(list)
    for number, mask in enumerate(masks):
        by_window[int(reader[mask - 1, 0])].append(number)  # [CLS] is no token of the text
    rows: dict[int, Tensor] = {}
    for window, numbers in by_window.items():
        first, _ = windows.bounds[window]
        scores = engine.scores_at(windows.inputs[window], [masks[n] - first for n in numbers])
        rows.update(zip(numbers, scores.float(), strict=True))
    return [rows[number] for number in range(len(masks))]


def _named(engine: Engine, word: str) -> tuple[int | None, str]:
    """Find the vocabulary entry of the word that the user named, or say why it has none."""
    pieces = engine.tokenizer.tokenize(word)
    if not pieces:
        return None, ""
    shown = word.strip()[:60]
    if "[UNK]" in pieces:
        return None, (
            f"“{shown}” contains something this vocabulary cannot spell, so the model can never "
            "write it: it has no probability. Try another word."
        )
    if len(pieces) > 1:
        return None, (
            f"“{shown}” is {len(pieces)} pieces in this vocabulary ({' · '.join(pieces[:12])}), "
            "and one [MASK] stands for one piece only: there is no single probability for it."
        )
    return engine.tokenizer.vocab[pieces[0]], ""


def _slot(
    engine: Engine,
    whole: Encoding,
    mask: int,
    scores: Tensor,
    *,
    temperature: float,
    top_k: int,
    number: int,
    wanted: int | None,
) -> Slot:
    """Turn the scores (V,) at one mask into candidates with probabilities."""
    log_probabilities = torch.log_softmax(scores / temperature, dim=-1)
    probabilities = log_probabilities.exp()
    best = torch.topk(scores, min(top_k, len(scores)))
    # A score of -inf would give exp(-inf) * -inf, which is NaN; such entries add nothing.
    entropy = -torch.nansum(probabilities * log_probabilities).item() / math.log(2)

    def candidate(id_: int, rank: int) -> Candidate:
        token = engine.tokenizer.ids_to_tokens[id_]
        return Candidate(token, id_, float(probabilities[id_]), rank)

    start, end = whole.offsets[mask]
    return Slot(
        number=number,
        position=mask,
        start=start,
        end=end,
        before=whole.text[max(0, start - _CONTEXT) : start],
        after=whole.text[end : end + _CONTEXT],
        candidates=tuple(candidate(id_, n) for n, id_ in enumerate(best.indices.tolist(), 1)),
        named=None
        if wanted is None
        else candidate(wanted, int((scores > scores[wanted]).sum()) + 1),
        entropy=max(0.0, entropy),
    )


def _words(engine: Engine, whole: Encoding) -> tuple[Word, ...]:
    """Return the words of a text as the tokenizer sees them, punctuation marks included."""
    mask_id = engine.tokenizer.vocab.get(MASK)
    rows = zip(whole.word_ids, whole.offsets, whole.input_ids, strict=True)
    words = []
    for number, group in groupby(rows, key=lambda row: row[0]):
        if number is None:
            continue
        pieces = list(group)
        start, end = pieces[0][1][0], pieces[-1][1][1]
        words.append(Word(whole.text[start:end], start, end, pieces[0][2] == mask_id))
    return tuple(words)


def _filled(text: str, slots: tuple[Slot, ...]) -> tuple[tuple[str, int], ...]:
    """Fill every mask with its best candidate; a continuing piece joins the word before it."""
    parts: list[tuple[str, int]] = []
    done = 0
    for slot in slots:
        before = text[done : slot.start]
        token = slot.candidates[0].token
        if token.startswith("##") and len(token) > 2:
            token, before = token[2:], before.rstrip()
        parts += [(before, 0), (token, slot.number)]
        done = slot.end
    return tuple(part for part in [*parts, (text[done:], 0)] if part[0])
