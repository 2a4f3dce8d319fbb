"""Pictures, tables and text of fill-mask; the tabs have views of their own."""

from collections.abc import Iterable
from functools import partial
from itertools import zip_longest
from unicodedata import east_asian_width

from app.features.fill_mask.result import Candidate, FillMaskResult, Slot, mask_word
from app.records.fields import SHUFFLE
from app.records.pieces import SPACE
from app.words.blocks import Html, hint, join, line, note, pick, tag, visible
from app.words.format import count, percent
from app.words.notes import calibration_hint, gaps_note, shuffled_note, unread_note
from app.words.pictures import Picture, bars, linked, picture
from app.words.screen import Beside, Drawn, Parts, Screen

_MODEL = """
tokenizer = load_tokenizer({model!r})
model = BertForMaskedLM.from_pretrained({model!r})
temperature = model.config.temperature("BertForMaskedLM")
encoding = tokenizer.encode({text!r})
"""
_MASKS = f"""import torch
from bert_core import BertForMaskedLM, load_tokenizer
from bert_core.reading.windows import cut_windows, readers
{_MODEL}
mask = tokenizer.mask_token_id
masks = [n for n, id_ in enumerate(encoding.input_ids) if id_ == mask]
# In a text that is too long to read at once, each mask is read with what is around it.
size = model.config.max_length
windows = cut_windows(tokenizer, encoding, fits=size, size=size, stride=size // 2)
reader, _ = readers(windows.bounds)
for mask in masks:
    window = reader[mask - 1, 0]
    ids = torch.tensor([windows.inputs[window].input_ids])
    with torch.inference_mode():
        scores = model.scores_at(ids, torch.tensor([[mask - windows.bounds[window][0]]]))[0, 0]
    best = (scores / temperature).softmax(dim=-1).topk({{k}})
    for id_, probability in zip(best.indices.tolist(), best.values.tolist()):
        print(tokenizer.ids_to_tokens[id_], probability)
"""
_NO_MASK = f"""import math
from bert_core import BertForMaskedLM, load_tokenizer
from bert_core.reading.gaps import score_pieces, scorer_of
{_MODEL}
places = range(1, len(encoding) - 1)
for piece in score_pieces(
    scorer_of(model), tokenizer, encoding.input_ids, places,
    words=encoding.words, temperature=temperature,
):
    print(tokenizer.ids_to_tokens[piece.id], math.exp(piece.log_probability))
"""

PICKABLE = 120  # most words that can be clicked; longer texts are not practical to show as buttons

_SCALES = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0)  # ends of axes, for comparable bars
_LONG = 700  # characters; a longer text scrolls in a box that starts at its gap
OPEN_BOX = "\u2423"  # the sign of a piece that is only a space

_NEAR = 24  # characters around a mask in its title


def sentence(result: FillMaskResult, pickable: range, *, attend: bool = False) -> Html:
    """Draw the text with the best candidate at every mask; a click on another word hides it."""
    filled = iter([(text, number) for text, number in result.filled if number])
    parts: list[Html | str] = []
    done, first = 0, True
    for number, word in enumerate(result.words):
        before = result.text[done : word.start]
        done = word.end
        look: dict[str, str | int | None] = {"data_at": linked(word.pieces)}
        live = number in pickable and (attend or not word.masked)
        if word.masked:
            text, slot = next(filled)
            if live:
                look |= pick("attend", slot - 1, stop=first) | {"title": "What it attends to"}
            parts += [visible(before), _filled(text, slot, len(result.slots) > 1, look)]
        else:
            if live:
                look |= pick("hide", number, stop=first) | {"class_": "bx-word"}
            parts += [visible(before), tag("span", visible(word.text), **look)]
        first = first and not live
    parts.append(visible(result.text[done:]))
    kind = "bx-text bx-sentence bx-scroll" if len(result.text) > _LONG else "bx-text bx-sentence"
    stop = 0 if first and len(result.text) > _LONG else None  # a box that scrolls takes the focus
    drawn = tag("p", *parts, class_=kind, dir="auto", data_rove="words", tabindex=stop)
    if not pickable:
        return drawn
    more = " A click on a filled gap shows what it attends to." if attend and result.slots else ""
    keys = " With the keyboard: arrow keys, then Enter."
    return tag("div", drawn, hint("A click on a word hides it.", more, keys), class_="bx-ask")


def _filled(text: str, slot: int, several: bool, look: dict[str, str | int | None]) -> Html:
    badge = [tag("sub", str(slot))] if several else []
    kind = "bx-filled bx-word" if "role" in look else "bx-filled"
    look |= {"data_here": "gap" if slot == 1 else None}  # where a box that scrolls starts
    return tag("mark", visible(text), *badge, class_=kind, **look)


def explained(*children: Html | str, more: str) -> Html:
    """Draw a muted line with a "?" that unfolds more."""
    return tag("div", hint(more), *children, class_="bx-line")


def slot_title(slot: Slot) -> Html:
    """Title one of several masks with its number and the words around it."""
    before, after = slot.before[-_NEAR:], slot.after[:_NEAR]
    if before != slot.before:
        before = f"… {before.partition(' ')[2]}"
    if after != slot.after:
        after = f"{after.rpartition(' ')[0]} …"
    around = tag("bdi", visible(before), tag("b", "▁▁"), visible(after))
    return tag("h2", f"Gap {slot.number} ", tag("small", around), class_="bx-slot")


def candidates(slot: Slot, top: float) -> Picture:
    """Draw the candidates of one mask as bars, best on top, the named word last."""
    rows = _rows(slot)
    values = [candidate.probability for candidate in rows]
    marked = [slot.named is not None and c.id == slot.named.id for c in rows]
    names = [f"{candidate.rank:,}. {piece_name(candidate.token)}" for candidate in rows]
    printed = [chance(value) for value in values]
    best = ", ".join(f"{c.token} {chance(c.probability)}" for c in slot.candidates[:5])
    named = f"; {slot.named.token} has rank {slot.named.rank:,}" if slot.named else ""
    return picture(
        f"fill-mask-{slot.number}",
        lambda width: bars(names, values, printed, width=width, top=top, marked=marked),
        alt=f"Bar chart of mask {slot.number}, most probable first: {best}{named}.",
        table=[
            (c.rank, c.token, c.id, c.probability, chance(c.probability), linked([slot.position]))
            for c in rows
        ],
        columns=("rank", "piece", "id", "probability", "percent", "at"),
    )


def axis(values: Iterable[float]) -> float:
    """Return the end of an axis for these probabilities; charts side by side share one."""
    most = max(values)
    return next((step for step in _SCALES if most <= step), 1.0)


def screen(result: FillMaskResult, model: str = "", *, attend: bool = False) -> Screen:
    """Say what is shown.

    Args:
        result: the result.
        model: its name on a page, where words can be hidden by a click; "" on paper.
        attend: whether a click on a filled mask opens the attention page.
    """
    on_paper = sentence(result, range(0))
    text = sentence(result, result.nearby(PICKABLE), attend=attend)
    head: Parts = (Drawn(text, "sentence", on_paper), gaps_note(result.read_as))
    best = [slot.candidates[0] for slot in result.slots]
    words = ", ".join(f"{quoted(each.token)} ({chance(each.probability)})" for each in best)
    says = f"The model would write {words}."
    if not result.slots:
        says = "The text has no [MASK], so there is nothing to guess."
        head = (*head, line("Click a word to hide it.")) if model else ()
    else:
        after = " (calibrated)" if result.calibration.named else ""
        alone = f"Probability in the gap{after}:"
        several = f"Probability in each gap{after}, with the others still hidden:"
        trust = calibration_hint(result.calibration, "first guesses", model=model)
        title = tag("div", trust, several if len(best) > 1 else alone, class_="bx-line")
        head = (*head, title, *_slots(result))
    return Screen(
        says,
        head,
        first=(
            shuffled_note(result.text, result.shuffle),
            window(result),
            note(visible(result.note)) if result.note else join(),
            unread_note(result.unread),
        ),
        answer=join(),
        why=bool(result.slots),
        unanswered=not result.slots,
        clicks={"hide": partial(_hidden, result)},
        text=result.text,
    )


def _slots(result: FillMaskResult) -> Parts:
    if len(result.slots) == 1:
        return _slot(result, result.slots[0])
    each = [(slot_title(slot), *_slot(result, slot)) for slot in result.slots]
    return tuple(Beside(*pair) for pair in zip_longest(each[::2], each[1::2], fillvalue=()))


def _slot(result: FillMaskResult, slot: Slot) -> Parts:
    top = axis(row.probability for each in result.slots for row in _rows(each))
    return named_word(slot, result.vocabulary), candidates(slot, top), certainty(slot)


def _hidden(result: FillMaskResult, clicked: int) -> dict[str, str | int]:
    if clicked not in range(len(result.words)):
        return {}
    return {"text": mask_word(result.text, result.words[clicked]), SHUFFLE.key: 0}


def snippet(result: FillMaskResult, model: str) -> str:
    """Write the same computation in Python."""
    if not result.slots:
        return _NO_MASK.format(model=model, text=result.text)
    return _MASKS.format(model=model, text=result.text, k=len(result.slots[0].candidates))


def certainty(slot: Slot) -> Html:
    """State how sure the model is, without terms from information theory."""
    shown = sum(candidate.probability for candidate in slot.candidates)
    choices = max(1, round(slot.choices))
    return line(
        f"Shown: {chance(shown)} of all probability. As unsure as choosing among "
        f"{count(choices, 'equally likely word')}."
    )


def named_word(slot: Slot, vocabulary: int) -> Html:
    """State the probability of the word that the user named."""
    if (word := slot.spelled) is not None:
        steps, many = " × ".join(map(chance, word.probabilities)), len(word.pieces)
        return explained(
            tag("b", tag("bdi", quoted(" ".join(word.pieces)))),
            f" has {chance(word.probability)} of all probability if the gap has {many} masks.",
            more=(
                f"This word is {many} pieces, and one mask holds one piece. So the gap gets {many} "
                f"masks, which are filled from left to right: {steps}. Do not compare it with "
                "words of one piece: every further piece adds a factor below 1."
            ),
        )
    if slot.named is None:
        return join()
    return line(
        tag("b", tag("bdi", quoted(slot.named.token))),
        f" has {chance(slot.named.probability)} of all probability: rank {slot.named.rank:,} of "
        f"{vocabulary:,}.",
    )


def window(result: FillMaskResult) -> Html:
    """State, for a text longer than the model's input, how much of it each answer uses."""
    if not result.slots or result.read >= result.tokens:
        return join()
    return note(
        tag("strong", "Long text. "),
        f"It has {result.tokens:,} tokens and the model reads {result.read:,} at once, so each "
        "mask was read with the text around it. Text further away had no influence.",
    )


def chance(probability: float) -> str:
    """Format a probability so that small values stay distinguishable.

    >>> chance(0.3412), chance(0.000052)
    ('34.1 %', '0.005 %')
    """
    return percent(probability, finest=3)


def _rows(slot: Slot) -> list[Candidate]:
    rows = list(slot.candidates)
    if slot.named is not None and slot.named.id not in {candidate.id for candidate in rows}:
        rows.append(slot.named)
    return rows


def quoted(word: str) -> str:
    """Write a word in quotation marks, without the mark of the space before it.

    >>> quoted("▁play"), quoted("##ing"), quoted("▁")
    ('“play”', '“##ing”', '“␣”')
    """
    return f"“{visible(word.removeprefix(SPACE)) or OPEN_BOX}”"


def piece_name(token: str) -> str:
    """Name a piece as it is written; one that is only a space gets a sign.

    >>> piece_name("▁play"), piece_name("▁")
    ('▁play', '␣')
    """
    return OPEN_BOX if token == SPACE else token


def letters_wide(text: str) -> int:
    """Estimate the width of a text in units of a drawing."""
    return sum(18 if east_asian_width(letter) in "WF" else 10 for letter in text)
