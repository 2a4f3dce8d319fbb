"""Find the names in many sentences, and compare them with names that a person put in brackets."""

import re
from typing import Annotated

from app.engine.compute.recent import RECENT
from app.engine.compute.visitor import check_text
from app.engine.models import Engine
from app.engine.models.windows import window_runner
from app.features.ner.result import Name
from app.features.ner.result_agreement import Agreement, Named
from app.features.ner.result_lines import NamesResult, Tagged
from app.features.ner.task_annotated import agreement
from app.records.fields import Field
from app.records.lines import MOST, Line, read_lines
from bert_core import BertForTokenClassification
from bert_core.errors import InputError
from bert_core.reading.entities import TaggedText, read_texts
from bert_core.reading.running import Progress
from bert_core.reading.tagging import TagScheme

_OPENS = re.compile(r"\[[A-Z]+ ")
_NAME = re.compile(r"\[([A-Z]+) +([^\[\]]*[^\[\]\s])\s*\]")
_NO_SIGN = r"(?!)"  # a line is a sentence, whatever it contains

_LABEL = f"Sentences, one per line (at most {MOST}); wanted names as in [LOC Rome]"


def ner_lines(
    engine: Engine,
    sentences: Annotated[str, Field(_LABEL, lines=6)],
    progress: Progress | None = None,
) -> NamesResult:
    """Find the names in many sentences, and compare them with names in brackets.

    Every sentence is read alone, and every word has the label of its first piece.

    Args:
        engine: the model.
        sentences: one sentence per line; names that should be found are in brackets after their
            kind, as in "[PER Ada Lovelace] lived in [LOC London]." The model reads no brackets.
        progress: called for each group of windows with the number done and the total.

    Raises:
        InputError: there are no lines or too many, or one has no piece or an open bracket.
    """
    read = read_lines(sentences, "sentences", signs=_NO_SIGN)
    check_text(sentences)
    plain = [_without_brackets(line) for line in read]
    scale = engine.calibration(BertForTokenClassification)
    model = engine.model(BertForTokenClassification)
    scheme = TagScheme.of(model.config)

    def find() -> tuple[Tagged, ...]:
        runner = window_runner(engine, BertForTokenClassification, progress, texts=MOST)
        found = read_texts(runner, [text for text, _ in plain], scale.temperature)
        for line, each in zip(read, found, strict=True):
            if not len(each):
                raise InputError(
                    f"Line {line.number} has no piece that the model reads. Write a word."
                )
        return tuple(
            Tagged(each.text, _names(each, scheme), wanted)
            for each, (_, wanted) in zip(found, plain, strict=True)
        )

    rows = RECENT.get(
        ("names", engine.provenance.fingerprint, id(model), read),
        make=find,
        size=lambda rows: 4 * len(sentences) + 300 * sum(1 + len(row.found) for row in rows),
    )
    compared = _compare(rows, scheme) if any(row.wanted for row in rows) else None
    return NamesResult(rows, compared, scale)


def _without_brackets(line: Line) -> tuple[str, tuple[Named, ...]]:
    """Return a sentence as the model reads it, and the names that were in brackets."""
    text, done = "", 0
    names: list[Named] = []
    for match in _NAME.finditer(line.text):
        text += line.text[done : match.start()]
        names.append(Named(match[1], len(text), len(text) + len(match[2])))
        text, done = text + match[2], match.end()
    text += line.text[done:]
    if _OPENS.search(text):
        raise InputError(
            f"Line {line.number} has a bracket that is not closed, or a name in it that has "
            "brackets itself. Write names as in [LOC Rome]."
        )
    return text, tuple(names)


def _names(pieces: TaggedText, scheme: TagScheme) -> tuple[Name, ...]:
    """Read the names of one sentence."""
    return tuple(
        Name(pieces.text[each.start : each.end], each.kind, each.start, each.end, each.score)
        for each in pieces.entities(scheme).entities
    )


def _compare(rows: tuple[Tagged, ...], scheme: TagScheme) -> Agreement:
    """Compare the names of all sentences, which are put below each other."""
    gold: list[tuple[int, Named]] = []
    found: list[tuple[int, Named]] = []
    place = 0
    for number, row in enumerate(rows, start=1):
        gold += [(number, Named(n.kind, place + n.start, place + n.end)) for n in row.wanted]
        found += [(number, Named(n.label, place + n.start, place + n.end)) for n in row.found]
        place += len(row.text) + 1
    text = "\n".join(row.text for row in rows)
    return agreement(text, (len(text.split()), len(rows)), gold, found, scheme.kinds)
