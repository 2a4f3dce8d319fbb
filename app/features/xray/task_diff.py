"""Diff: two sentences in one model, or one sentence in two models.

What `differences` of the library measures, with pieces aligned, and the answers of both.
"""

from difflib import SequenceMatcher
from typing import Annotated

from app.engine.compute.processor import PROCESSOR
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.second import second_model
from app.features.xray.result import Ask, Floats, XrayResult
from app.features.xray.result_diff import Difference, TwoShares
from app.features.xray.task import xray
from app.features.xray.task_run import Text, layer_scores, see, shares_of, text_of
from app.features.xray.task_target import name_of
from app.records.fields import Field
from bert_core.analysis import differences
from bert_core.errors import InputError
from bert_core.model.outputs import ModelOutputs
from bert_core.reading.gaps import read_signs

_TOP = 5  # answers of each run

Pairs = tuple[tuple[int, int], ...]


def xray_diff(
    engine: Engine,
    text: Annotated[str, Field("First sentence", lines=2)],
    *,
    against: Annotated[str, Field("Second sentence", key="second", lines=2)] = "",
    other_model: Annotated[str, Field("Second model", key="beside", lines=1, model=True)] = "",
    text_pair: Annotated[str, Field("Second text, or the question", lines=2)] = "",
    ask: Annotated[Ask, Field("What is asked")] = "auto",
    at: Annotated[int | None, Field("Piece that is asked", low=0)] = None,
) -> Difference:
    """Compare two sentences in one model, or one sentence in two models.

    Args:
        engine: the model of the first run.
        text: the sentence of the first run.
        against: the sentence of the second run; "" for the same one.
        other_model: the model of the second run, by its name on offer; "" for the same one.
        text_pair: a second text of both; "" for none.
        ask: as in `xray`.
        at: the piece that is asked; if empty, the one that fits.

    Raises:
        InputError: see `diff`, and `xray`.
    """
    check_text(against)
    result = xray(engine, text, text_pair=text_pair, ask=ask, at=at)
    return diff(engine, result, against, model=other_model)


def diff(engine: Engine, result: XrayResult, other: str = "", *, model: str = "") -> Difference:
    """Compare the run of a text with another run.

    What is switched off does not matter here.

    Args:
        engine: the model of the first run.
        result: the first sentence, and what is asked of it.
        other: the sentence of the second run; "" for the same one.
        model: the model of the second run, by its name on offer; "" for the same one.

    Raises:
        InputError: there is no such model, it has other numbers of layers, heads or dimensions, it
            cannot answer the question, or the sentences have no piece in common.
    """
    first = text_of(engine, result).whole
    there = second_model(engine, model) if model not in ("", engine.provenance.name) else engine
    mask = there.tokenizer.mask_token
    other, _ = read_signs(other.strip() or result.text, mask)
    pair, _ = read_signs(result.pair, mask)
    encoding = there.tokenizer.encode(other, pair or None)
    second = Text(there, first.kind, encoding, first.lens)
    second.engine.check_length(second.encoding)
    pairs = align(first.encoding.pieces, second.encoding.pieces)
    runs = [_run(text) for text in (first, second)]
    found = PROCESSOR.run(lambda: differences(*runs, align=pairs), tokens=1)
    return Difference(
        models=(engine.provenance.name, second.engine.provenance.name),
        tokens=tuple(first.encoding.pieces),
        other_tokens=tuple(second.encoding.pieces),
        pairs=pairs,
        answers=_answers(first, second, result.question.position, pairs),
        attention=found.attention,
        turned=found.hidden_states,
    )


def align(first: list[str], second: list[str]) -> Pairs:
    """Pair equal pieces in order, and pieces between them where their number is equal.

    >>> align(["[CLS]", "a", "cat", "[SEP]"], ["[CLS]", "the", "cat", "sat", "[SEP]"])
    ((0, 0), (1, 1), (2, 2), (3, 4))
    """
    found: list[tuple[int, int]] = []
    for kind, a, a_end, b, b_end in SequenceMatcher(None, first, second, False).get_opcodes():
        if kind == "equal" or (kind == "replace" and a_end - a == b_end - b):
            found += zip(range(a, a_end), range(b, b_end), strict=True)
    return tuple(found)


def _run(text: Text) -> ModelOutputs:
    """Return the attentions and hidden states of one text, as the class that answers has them."""
    return text.engine.run(type(text.model), text.encoding, attentions=True, hidden_states=True)


def _answers(first: Text, second: Text, position: int, pairs: Pairs) -> tuple[TwoShares, ...]:
    """Compare the best answers of both runs, by name.

    Raises:
        InputError: the piece that is asked has no partner.
    """
    partner = dict(pairs).get(position)
    if first.piecewise and partner is None:
        raise InputError(
            f"The piece that is asked, “{first.encoding.pieces[position]}”, is not in the second "
            "sentence. Keep it, or ask at another piece."
        )
    here, there = _shares(first, position), _shares(second, partner or 0)
    one = {name_of(first, number): float(share) for number, share in enumerate(here)}
    if first.kind in ("start", "end"):  # pieces of the second text, named as in the first
        other = {name_of(first, a): float(there[b]) for a, b in pairs}
    else:
        other = {name_of(second, number): float(share) for number, share in enumerate(there)}
    best = [
        name for row in (one, other) for name in sorted(row, key=lambda each: -row[each])[:_TOP]
    ]
    found = (
        TwoShares(each, one.get(each, 0.0), other.get(each, 0.0)) for each in dict.fromkeys(best)
    )
    return tuple(sorted(found, key=lambda each: -abs(each.change)))


def _shares(text: Text, position: int) -> Floats:
    """Return the probabilities of all answers at one piece."""
    return shares_of(layer_scores(text, see(text), position)[-1], text.temperature)
