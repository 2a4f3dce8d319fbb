"""Fill-mask: what the model would write at every [MASK] of a text.

`fill_mask` is the task; `mask_at_end` prepares a text for it. The modules `task_<name>` answer what
the tabs of the page ask. A text longer than the model's input is never cut silently: each mask is
read in the window that shows most of the text around it (`bert_core.reading.windows`), and the
result reports the window's size.
"""

import math
from collections import defaultdict
from typing import Annotated

import torch
from torch import Tensor

from app.engine.models import Engine
from app.features.fill_mask.result import MASK, Candidate, FillMaskResult, Slot, Spelled, Word
from app.records.fields import SHUFFLE, Field
from app.records.pieces import letters
from bert_core import BertForMaskedLM, Encoding
from bert_core.errors import InputError
from bert_core.reading.gaps import (
    fill_together,
    pieces_after,
    read_signs,
    shuffle_words,
    widen_gaps,
    written_before,
)
from bert_core.reading.unread import unread
from bert_core.reading.windows import Windows, cut_windows, readers

_MAX_MASKS = 20  # each costs one row of the whole vocabulary, and a chart on the page
_MAX_CANDIDATES = 100
_CONTEXT = 40  # characters shown on each side of a mask
_MAX_PIECES = 12  # of a word that is named; each is one more pass
_MAX_TOKENS = 16_000  # read for such a word


def fill_mask(
    engine: Engine,
    text: Annotated[str, Field("Text ([MASK] or ___ hides a word)", lines=3)],
    *,
    top_k: Annotated[int, Field("Candidates", key="k", low=1, high=_MAX_CANDIDATES, most=20)] = 5,
    word: Annotated[str, Field("How likely is this word?", lines=1)] = "",
    shuffle: Annotated[int, SHUFFLE] = 0,
) -> FillMaskResult:
    """Guess the hidden words of a text: the likeliest entries of the vocabulary at each [MASK].

    Several masks are predicted independently, each with the others still hidden. Other common
    signs of a gap ("___", "<mask>", "[mask]") are read as [MASK].

    Args:
        engine: the model.
        text: the text, with [MASK] in place of each hidden word; of a long text, the model reads
            the part around each mask.
        top_k: number of candidates for each mask.
        word: a word whose probability and rank at every mask are reported as well; "" for none.
        shuffle: the number of another order for the words of the text, which shows whether order
            matters; gaps keep their places. 0 for the text as written.

    Raises:
        InputError: the text is empty or has too many masks, or the vocabulary has no [MASK].
    """
    if not text.strip():
        raise InputError(
            "The text is empty. Type a sentence and write [MASK] where a word is hidden."
        )
    text, read_as = read_signs(text, engine.tokenizer.mask_token)
    text = shuffle_words(text, shuffle, engine.tokenizer.mask_token)
    whole = engine.tokenizer.encode(text)
    masks = masks_of(engine, whole)
    limit = engine.max_length
    windows = cut_windows(
        engine.tokenizer,
        whole,
        fits=limit if masks else len(whole),
        size=limit,
        stride=limit // 2,
    )
    named, note = _named(engine, whole, masks, word)
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
            wanted=engine.tokenizer.vocab[pieces[0]] if len(pieces) == 1 else None,
            spelled=_spelled(engine, whole, mask, pieces, scale.temperature),
        )
        for number, (mask, scores, pieces) in enumerate(
            zip(masks, _scores(engine, windows, masks), named, strict=True), start=1
        )
    )
    return FillMaskResult(
        model=engine.provenance.name,
        text=text,
        read_as=read_as,
        slots=slots,
        words=_words(engine, whole),
        filled=_filled(engine, text, slots),
        vocabulary=engine.provenance.vocabulary,
        tokens=len(whole.input_ids),
        read=max(map(len, windows.inputs)),
        note=note,
        unread=unread(engine.tokenizer, [whole]),
        calibration=scale,
        shuffle=shuffle,
    )


def with_masks(engine: Engine, text: str) -> FillMaskResult:
    """Return the answer for a text that must have a mask.

    Raises:
        InputError: it has none.
    """
    found = fill_mask(engine, text)
    if not found.slots:
        raise InputError("The text has no [MASK]. Write [MASK] or ___ in place of a word.")
    return found


def mask_at_end(text: str) -> str:
    """Put a mask at the end of a text, before its final punctuation mark.

    >>> mask_at_end("We sat by the."), mask_at_end("We sat by the ")
    ('We sat by the [MASK].', 'We sat by the [MASK].')
    """
    body = text.rstrip()
    closing = body[-1:] if body[-1:] in {".", "!", "?", "…"} else "."
    return f"{body.removesuffix(closing).rstrip()} {MASK}{closing}".lstrip()


def masks_of(engine: Engine, whole: Encoding) -> list[int]:
    """Return the positions of the masks that the text itself contains."""
    mask = engine.tokenizer.mask_token
    mask_id = engine.tokenizer.vocab.get(mask)
    if mask_id is None:
        raise InputError(
            f"The vocabulary of {engine.provenance.name} has no {mask}, so it cannot fill one. "
            "Choose a model that was trained with masks."
        )
    found = [position for position, id_ in enumerate(whole.input_ids) if id_ == mask_id]
    if len(found) > _MAX_MASKS:
        raise InputError(
            f"The text has {len(found)} masks; this page fills at most {_MAX_MASKS} at once. "
            "Fill in some of them yourself."
        )
    return found


def _scores(engine: Engine, windows: Windows, masks: list[int]) -> list[Tensor]:
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


def _named(
    engine: Engine, whole: Encoding, masks: list[int], word: str
) -> tuple[list[list[str]], str]:
    """Cut the word that the user named into pieces for every mask, or say why it has none."""
    cuts = [pieces_after(engine.tokenizer, written_before(whole, mask), word) for mask in masks]
    pieces = max(cuts, key=len, default=pieces_after(engine.tokenizer, " ", word))
    shown = word.strip()[:60]
    none: list[list[str]] = [[] for _ in masks]
    tokens = len(masks) * min(len(whole), engine.max_length)  # read to score one piece everywhere
    if engine.tokenizer.unk_token in pieces:
        return none, (
            f"“{shown}” contains something this vocabulary cannot spell, so the model can never "
            "write it: it has no probability. Try another word."
        )
    if len(pieces) > _MAX_PIECES:
        return none, (
            f"“{shown}” is {len(pieces)} pieces in this vocabulary; this page puts at most "
            f"{_MAX_PIECES} into one gap. Choose a shorter word."
        )
    if len(pieces) > 1 and tokens * len(pieces) > _MAX_TOKENS:
        return none, (
            f"“{shown}” is {len(pieces)} pieces; to score them in every gap, the model would read "
            f"{tokens * len(pieces):,} tokens, and this page reads at most {_MAX_TOKENS:,} for it. "
            "Hide fewer words or shorten the text."
        )
    return cuts, ""


def _spelled(
    engine: Engine, whole: Encoding, mask: int, pieces: list[str], temperature: float
) -> Spelled | None:
    if len(pieces) < 2:
        return None
    ids, places = around(engine, whole, [mask], spare=len(pieces) - 1)
    ids, places = widen_gaps(engine.tokenizer, ids, places, [len(pieces)])
    wanted = [torch.tensor([id_]) for id_ in engine.tokenizer.convert_tokens_to_ids(pieces)]
    (found,) = fill_together(
        engine.score_rows, ids, places, width=1, allowed=wanted, temperature=temperature
    )
    return Spelled(
        tuple(map(engine.tokenizer.readable, pieces)), tuple(map(math.exp, found.log_probabilities))
    )


def around(
    engine: Engine, whole: Encoding, places: list[int], *, spare: int = 0
) -> tuple[list[int], list[int]]:
    """Cut a text that is too long to the part around some places.

    Args:
        engine: the model.
        whole: the text.
        places: ascending positions among its tokens.
        spare: tokens to leave room for.

    Returns:
        The ids with [CLS] and [SEP], and the places among them.

    Raises:
        InputError: the places are too far apart.
    """
    ids, room = whole.input_ids, engine.max_length - 2 - spare
    if len(ids) - 2 <= room:
        return ids, places
    first, last = places[0], places[-1]
    if last - first + 1 > room:
        raise InputError(
            f"The masks are {last - first + 1:,} tokens apart; the model reads {room:,} at once. "
            "Hide words that are closer together."
        )
    start = min(max(1, (first + last + 1 - room) // 2), len(ids) - 1 - room)
    return [ids[0], *ids[start : start + room], ids[-1]], [place - start + 1 for place in places]


def probabilities(engine: Engine, text: str) -> list[Tensor]:
    """Return the probabilities (V,) at every mask; of a long text, each is read with what is near.

    Raises:
        InputError: there are too many masks, or the vocabulary has no [MASK].
    """
    whole = engine.tokenizer.encode(text)
    masks = masks_of(engine, whole)
    temperature = engine.calibration(BertForMaskedLM).temperature
    rows: list[Tensor] = []
    fits = masks and len(whole) <= engine.max_length
    for group in [masks] if fits else [[mask] for mask in masks]:
        ids, places = around(engine, whole, group)
        scores = engine.score_rows(torch.tensor([ids]), torch.tensor([places]))[0]  # (P, V)
        rows += torch.softmax(scores.double() / temperature, dim=-1)
    return rows


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
    spelled: Spelled | None,
) -> Slot:
    # In float32 a softmax over the whole vocabulary is off by up to 9e-6.
    log_probabilities = torch.log_softmax(scores.double() / temperature, dim=-1)
    probabilities = log_probabilities.exp()
    best = torch.topk(scores, min(top_k, len(scores)))
    # A score of -inf would give exp(-inf) * -inf, which is NaN; such entries add nothing.
    entropy = -torch.nansum(probabilities * log_probabilities).item() / math.log(2)

    def candidate(id_: int, rank: int) -> Candidate:
        return Candidate(engine.readable(id_), id_, float(probabilities[id_]), rank)

    start, end = _without_space(whole.text, *whole.spans[mask])
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
        spelled=spelled,
        entropy=max(0.0, entropy),
    )


def _words(engine: Engine, whole: Encoding) -> tuple[Word, ...]:
    mask_id = engine.tokenizer.vocab.get(engine.tokenizer.mask_token)
    words: list[Word] = []
    for word in whole.typed_words():
        start, end = _without_space(whole.text, word.start, word.end)
        masked = whole.input_ids[word.positions[0]] == mask_id
        words.append(Word(whole.text[start:end], start, end, masked, tuple(word.positions)))
    return tuple(words)


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    return end - len(text[start:end].lstrip()), end


def _filled(engine: Engine, text: str, slots: tuple[Slot, ...]) -> tuple[tuple[str, int], ...]:
    names = engine.tokenizer.ids_to_tokens
    parts: list[tuple[str, int]] = []
    done = 0
    for slot in slots:
        before = text[done : slot.start]
        best = slot.candidates[0]
        if not engine.tokenizer.begins_word(names.get(best.id, "")):
            before = before.rstrip()
        parts += [(before, 0), (letters(best.token), slot.number)]
        done = slot.end
    return tuple(part for part in [*parts, (text[done:], 0)] if part[0])
