"""Find the span of a passage that answers a question.

1. `read_passages` keeps the logits of each passage. One that fits is read in one go, others in
   overlapping windows (150 passages of 304 to 718 pieces gave the same F1 either way).
2. `PassageReading.answers` scores every span that may be an answer, and "no answer" (see `spans`).
   Neighbouring windows share more pieces than an answer may have, so none is lost at a cut.
3. `PassageAnswers.best` lists the best answers; spans with the same wording (see `wordings`) count
   as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bert_core.config import HAS_ANSWER
from bert_core.errors import InputError
from bert_core.model.heads import BertForQuestionAnswering
from bert_core.reading.running import Floats, Runner
from bert_core.reading.sentences import typed_sentence_starts
from bert_core.reading.spans import SpanScores, Window, score_spans
from bert_core.reading.windows import Windows, cut_windows, first_of_text
from bert_core.reading.wordings import Places, Wordings
from bert_core.text.batches import TextTokenizer
from bert_core.text.encoding import Encoding

LONGEST = 30  # pieces of an answer, the usual limit
WINDOW = 384  # tokens, as in Devlin et al.
SHARED = 128  # pieces, as in Devlin et al.

_MOST_PLACES = 100  # places kept per answer


@dataclass(frozen=True, slots=True)
class Rules:
    """Further conditions that a span must meet to count as an answer."""

    whole_words: Annotated[bool, "it must not begin or end inside a word"] = True
    one_sentence: Annotated[bool, "it must begin and end in the same sentence"] = True


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of the passage."""

    start: Annotated[int, "index of its first character in the passage"]
    end: Annotated[int, "index after its last character"]
    pieces: Annotated[int, "its number of pieces; the fewest that cover these characters"]
    score: Annotated[float, "start logit plus end logit"]
    probability: Annotated[float, 'its probability, 0 to 1, among all candidates and "no answer"']


@dataclass(frozen=True, slots=True)
class Answer:
    """All spans of a passage with the same wording (see `bert_core.reading.wordings`)."""

    text: Annotated[str, "the best span's characters as typed"]
    places: Annotated[tuple[Span, ...], "most likely first; the best hundred if there are more"]
    count: Annotated[int, "total number of spans"]
    probability: Annotated[float, "how likely this is the answer, added up over its spans"]

    @property
    def best(self) -> Span:
        """The likeliest span."""
        return self.places[0]


@dataclass(frozen=True, slots=True)
class PassageReading:
    """A model's output for a question and a passage of N pieces."""

    passage: Annotated[str, "as typed"]
    question: Annotated[str, "as typed"]
    spans: Annotated[Places, "(N, 2) characters of each passage piece (`Encoding.spans`)"]
    words: Annotated[Places, "(N,) word number of each piece, counted from 0 without gaps"]
    sentences: Annotated[Places, "(N,) sentence number of each piece, counted likewise"]
    special: Annotated[NDArray[np.bool_], "(N,) where the passage contains a special token"]
    asked: Annotated[Places, "(Q, 2) characters of each question piece"]
    windows: Annotated[tuple[Window, ...], "the inputs, in passage order"]
    shared: Annotated[int, "number of passage pieces that neighbouring windows share"]

    @property
    def offset(self) -> int:
        """The position of the first piece of the passage in every window."""
        return self.windows[0].offset

    @property
    def nbytes(self) -> int:
        """The memory used by the arrays, in bytes."""
        arrays = (self.spans, self.words, self.sentences, self.special, self.asked)
        logits = sum(2 * window.start.nbytes for window in self.windows)
        return sum(array.nbytes for array in arrays) + logits

    def _ends(self, whole_words: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (N,) pieces with which an answer may begin, and those with which it may end.

        Of the pieces that begin at one character, any may; so, too, at the end, but for the mark
        of a space, which has no characters.
        """
        starts, stops = self.spans.T
        new = np.diff(self.words) != 0 if whole_words else np.ones(len(starts) - 1, dtype=np.bool_)
        begins, ends = np.append(True, new), np.append(new, True) & (starts < stops)
        return np.isin(starts, starts[begins]), np.isin(stops, stops[ends]) & (starts < stops)

    def answers(
        self,
        longest: int = LONGEST,
        rules: Rules | None = None,
        *,
        temperature: float = 1.0,
        has_answer: float = 1.0,
    ) -> "PassageAnswers":
        """Score every span that may be an answer.

        Args:
            longest: maximum pieces; with several windows, capped at one more than they share.
            rules: further conditions; by default whole words within a single sentence.
            temperature: divisor of the span scores (`BertConfig.temperature`).
            has_answer: divisor of the best span's score minus the score of "no answer".

        Raises:
            InputError: nothing in the passage can be an answer.
        """
        if len(self.windows) > 1:
            longest = min(longest, self.shared + 1)
        rules = rules or Rules()
        ends = self._ends(rules.whole_words)
        parts = self.sentences if rules.one_sentence else None
        spans = score_spans(self.windows, longest, self.special, ends=ends, parts=parts)
        return PassageAnswers(self, longest, rules, spans, temperature, has_answer)


@dataclass(frozen=True, slots=True)
class PassageAnswers:
    """Every candidate answer to a question, with scores; see `PassageReading.answers`."""

    reading: PassageReading
    longest: int
    rules: Rules
    spans: SpanScores
    temperature: float = 1.0
    has_answer: float = 1.0

    @property
    def text(self) -> str:
        """The characters of the best span."""
        first, last = self.spans.best
        pieces = self.reading.spans
        return self.reading.passage[pieces[first, 0] : pieces[last, 1]]

    @property
    def probability(self) -> Floats:
        """(N, M) probability of every span; the remainder to 1 is "no answer"."""
        return self.spans.probability(self.temperature, has_answer=self.has_answer)

    @property
    def null_probability(self) -> float:
        """The probability of "no answer"; above one half if and only if it beats the best span."""
        return self.spans.null_probability(self.has_answer)

    def answered(self, threshold: float = 0.0) -> bool:
        """Return whether "no answer" outscores the best span by at most `threshold`."""
        return -self.spans.margin <= threshold

    def alike(self) -> NDArray[np.bool_]:
        """Return (N, M): which spans have the same wording as the best one, itself included."""
        found = np.zeros(self.spans.score.shape, dtype=np.bool_)
        found[self._wordings().alike(self.spans.score, *self.spans.best)] = True
        return found

    def _wordings(self) -> Wordings:
        return Wordings(self.reading.passage, self.reading.spans)

    def best(self, most: int = 1) -> tuple[Answer, ...]:
        """Return at least one and at most `most` of the best answers with distinct wordings."""
        probability, wordings = self.probability, self._wordings()
        passage, bounds = self.reading.passage, self.reading.spans
        left = self.spans.score.copy()
        found: list[Answer] = []
        while len(found) < most and np.isfinite(left.max()):
            first, more = np.unravel_index(int(left.argmax()), left.shape)
            rows, columns = wordings.alike(self.spans.score, int(first), int(first + more))
            left[rows, columns] = -np.inf
            # Different piece spans may cover the same characters.
            held = np.column_stack([bounds[rows, 0], bounds[rows + columns, 1]])
            places, place = np.unique(held, axis=0, return_inverse=True)
            place = place.ravel()
            shares = np.bincount(place, probability[rows, columns])
            scores = np.full(len(places), -np.inf)
            np.maximum.at(scores, place, self.spans.score[rows, columns])
            pieces = np.full(len(places), left.shape[1])
            np.minimum.at(pieces, place, columns + 1)
            best = np.argsort(-scores, kind="stable")[:_MOST_PLACES]
            kept = (each[best].tolist() for each in (places, pieces, scores, shares))
            spans = tuple(Span(*ends, *figures) for ends, *figures in zip(*kept, strict=True))
            text = passage[spans[0].start : spans[0].end]
            found.append(Answer(text, spans, len(places), float(shares.sum())))
        return tuple(found)


def answer_question(
    model: BertForQuestionAnswering,
    tokenizer: TextTokenizer,
    passage: str,
    question: str,
    *,
    longest: int = LONGEST,
    rules: Rules | None = None,
) -> PassageAnswers:
    """Find the answer to a question in a passage of any length; see `PassageReading.answers`.

    Probabilities use the temperatures in the model's configuration.

    Raises:
        InputError: a text is empty, the question is too long for the model, or nothing in the
            passage can be an answer.
    """
    [reading] = read_passages(Runner.of(model, tokenizer), [(passage, question)])
    temperature = model.config.temperature("BertForQuestionAnswering")
    outer = model.config.temperature(HAS_ANSWER)
    return reading.answers(longest, rules, temperature=temperature, has_answer=outer)


def read_passages(runner: Runner, asked: Sequence[tuple[str, str]]) -> list[PassageReading]:
    """Run a model over whole passages, each with its question.

    Raises:
        InputError: a text is empty, or a question is too long for the model.
    """
    wholes = [runner.tokenizer.encode(question, passage) for passage, question in asked]
    windows = [_cut(runner, whole) for whole in wholes]
    inputs = [each for found in windows for each in found.inputs]
    logits = iter(runner.logits(inputs, "start_logits", "end_logits"))
    return [
        _reading(runner.tokenizer, whole, found, [next(logits) for _ in found.inputs])
        for whole, found in zip(wholes, windows, strict=True)
    ]


def _cut(runner: Runner, whole: Encoding) -> Windows:
    first, asked = first_of_text(whole), whole.sequence_ids.count(0)
    size = min(WINDOW, runner.max_length)
    if len(whole) == first + 1:
        raise InputError("The passage has no text that the model can read. Write or paste one.")
    if not asked:
        raise InputError("The question has no text that the model can read. Ask a question.")
    if asked > size // 2:
        raise InputError(
            f"The question has {asked:,} pieces; it may have at most {size // 2:,}, half of the "
            f"{size:,} that are read at once. Shorten it."
        )
    stride = min(SHARED, (size - first - 1) // 2)
    return cut_windows(runner.tokenizer, whole, fits=runner.max_length, size=size, stride=stride)


def _reading(
    tokenizer: TextTokenizer,
    whole: Encoding,
    windows: Windows,
    logits: Sequence[tuple[Floats, ...]],
) -> PassageReading:
    assert whole.text_pair is not None
    first = first_of_text(whole)
    inside = slice(first, -1)
    spans = np.array(whole.spans[inside], dtype=np.intp)
    starts = typed_sentence_starts(whole.text_pair)
    names = tokenizer.cls_token, tokenizer.sep_token, tokenizer.pad_token, tokenizer.mask_token
    specials = [tokenizer.vocab.get(name, -1) for name in names]  # an unknown word may be an answer
    sides = zip(whole.spans, whole.sequence_ids, strict=True)
    bounds = zip(windows.bounds, logits, strict=True)
    return PassageReading(
        passage=whole.text_pair,
        question=whole.text,
        spans=spans,
        words=np.array(whole.words[inside], dtype=np.intp),
        sentences=np.searchsorted(starts, spans[:, 0], side="right"),
        special=np.isin(whole.input_ids[inside], specials),
        asked=np.array([span for span, side in sides if side == 0], dtype=np.intp),
        windows=tuple(Window(start, first, *pair) for (start, _), pair in bounds),
        shared=windows.shared,
    )
