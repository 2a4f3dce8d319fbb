"""Reading a passage for a question: one input, or overlapping windows where it is longer.

A passage that fits is read at once, even where the model was trained on shorter windows: with the
bundled model, trained on 320 tokens, 150 passages of 304 to 718 pieces gave the same F1 (78.4, on
rows of its training data) in this way, with all cut into windows of 384 tokens, and of 320.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.features.qa.result import Floats, Places
from app.models import Engine
from bert_core import BertForQuestionAnswering, Encoding
from bert_core.errors import InputError
from bert_core.reading.spans import WindowLogits

WINDOW = 384  # tokens; what Devlin et al. used
SHARED = 128  # pieces; likewise
GROUP = 4  # windows computed at once: others get their turn between two groups

_SPECIALS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]")  # an unknown word may well be an answer

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Window:
    """One input: which piece of the passage it begins with, and the logits of its T tokens."""

    first: int
    start: Floats
    end: Floats


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything the model said about one question and one passage of N pieces.

    `spans` (N, 2) are the characters of the pieces, `words` (N,) their word, counted from 0
    without gaps, `special` (N,) where a special token is written in the passage; `asked` (Q, 2)
    are the characters of the question's pieces.
    """

    spans: Places
    words: Places
    special: NDArray[np.bool_]
    asked: Places
    windows: tuple[Window, ...]
    shared: int

    @property
    def offset(self) -> int:
        """The position of the first piece of the passage in every window."""
        return len(self.asked) + 2

    @property
    def nbytes(self) -> int:
        """The memory that its arrays take."""
        arrays = (self.spans, self.words, self.special, self.asked)
        logits = sum(2 * window.start.nbytes for window in self.windows)
        return sum(array.nbytes for array in arrays) + logits

    def parts(self, starts: Sequence[int]) -> Places:
        """Return (N,) how many of these characters stand at or before each piece's first."""
        return np.searchsorted(starts, self.spans[:, 0], side="right")

    def logits(self) -> list[WindowLogits]:
        """Return what the windows say about the passage and about "no answer"."""
        inside = slice(self.offset, -1)
        return [
            WindowLogits(w.first, w.start[inside], w.end[inside], float(w.start[0] + w.end[0]))
            for w in self.windows
        ]


def read(engine: Engine, passage: str, question: str, progress: Progress | None) -> Reading:
    """Run the model over the whole passage, a few windows at a time.

    Raises:
        InputError: an empty text, or a question too long for the model.
    """
    whole = engine.tokenizer.encode(question, passage)
    sides = whole.sequence_ids
    asked = sides.count(0)
    _check(asked, sides.count(1), min(WINDOW, engine.max_length))
    encodings, shared = _windows(engine, whole, asked)
    windows: list[Window] = []
    first = 0
    for begin in range(0, len(encodings), GROUP):
        group = encodings[begin : begin + GROUP]
        outputs = engine.run(BertForQuestionAnswering, group)
        assert outputs.start_logits is not None
        assert outputs.end_logits is not None
        for row, encoding in enumerate(group):
            start = outputs.start_logits[row, : len(encoding)].double().numpy()
            end = outputs.end_logits[row, : len(encoding)].double().numpy()
            windows.append(Window(first, start, end))
            first += len(encoding) - asked - 3 - shared
        if progress is not None:
            progress(len(windows), len(encodings))
    inside = slice(asked + 2, -1)
    words = np.array(whole.word_ids[inside], dtype=np.intp)
    specials = [engine.tokenizer.vocab.get(name, -1) for name in _SPECIALS]
    return Reading(
        spans=np.array(whole.offsets[inside], dtype=np.intp),
        words=np.cumsum(np.diff(words, prepend=words[0]) != 0),
        special=np.isin(whole.input_ids[inside], specials),
        asked=np.array(whole.offsets[1 : asked + 1], dtype=np.intp),
        windows=tuple(windows),
        shared=shared,
    )


def _check(asked: int, pieces: int, size: int) -> None:
    """Refuse texts without a piece, and a question that leaves the passage no room."""
    if not pieces:
        raise InputError("The passage holds nothing that the model reads. Write or paste a text.")
    if not asked:
        raise InputError("The question holds nothing that the model reads. Ask something.")
    if asked > size // 2:
        raise InputError(
            f"The question has {asked:,} pieces; it may have at most {size // 2:,}, half of the "
            f"{size:,} tokens that are read at once, so that the passage has room beside it. "
            "Shorten the question."
        )


def _windows(engine: Engine, whole: Encoding, asked: int) -> tuple[list[Encoding], int]:
    """Return the inputs, and how many pieces neighbours share; a text that fits is not cut."""
    if len(whole) <= engine.max_length:
        return [whole], 0
    assert whole.text_pair is not None
    size = min(WINDOW, engine.max_length)
    shared = min(SHARED, (size - 3 - asked) // 2)
    encodings = engine.tokenizer.encode_windows(
        whole.text, whole.text_pair, max_length=size, stride=shared
    )
    return encodings, shared
