"""How reliable the model was when it was measured."""

from app.features.next_sentence.result_reliability import ReliabilityResult
from app.words.blocks import line
from app.words.reliability import leaning, reliability_note, reliability_picture
from app.words.screen import Screen

TITLE = "Reliability"

_LEAST = 0.5  # the likelier of two answers cannot have less


def screen(result: ReliabilityResult, _: str = "") -> Screen:
    """Say what is shown."""
    if not result.rows:
        told = "The reliability of this model was not measured: nothing is stored with its weights."
        return Screen("Nothing was measured.", (line(told),))
    note = reliability_note("Two kinds that lean to different sides cancel in a figure for both.")
    drawn = reliability_picture(result.rows, "next-sentence-reliability", least=_LEAST)
    return Screen(" ".join(f"{leaning(each)}." for each in result.rows[:2]), (note, drawn))
