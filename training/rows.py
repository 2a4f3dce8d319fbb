"""Labelled rows of a data folder: questions, tagged words, sentiment, choices.

Unless stated otherwise, functions read only rows that may be trained on: the development articles
of the question set are excluded, because the evaluation uses the same articles.
"""

import csv
import itertools
import json
import lzma
import math
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bert_core.errors import InputError, MissingFileError
from bert_core.finetuning import Choices, LabelledText, Question, TaggedWords
from bert_core.pretraining import split_sentences

TAGS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-MISC", "I-MISC")
SENTIMENTS = ("negative", "positive")
QUESTION_FILES = ("train", "train_lower")
SHORT_QUESTION_FILES = ("extra_qamr",)
# The other sources label names of the fourth kind as O, which must not be learnt. RE3D is left out:
# it marks mentions, so "we", "they" and "the regime" are organisations there.
MISC_SOURCES = ("wikigold", "wnut17-train", "wnut17-dev", "crossner-train", "crossner-dev")
PARTIAL_SOURCES = ("btc-train", "gum-derived")
# Annotated with all four kinds and never trained on: half for fitting, half for measuring.
MISC_TESTS = ("crossner-test", "wnut17-test")
# Four choices: text continuations and questions; two choices: which is more plausible.
CHOICE_FILES = ("nextsentence_train", "openstax_train", "codah_train")
TWO_CHOICE_FILES = ("copa_train",)
# Files of sources that state no licence; without them the recipe trains on the rest.
OPTIONAL = frozenset({"sst2/train.tsv", "sst2/phrases.tsv", "mc/copa_train.jsonl"})
# One choice row and one passage in this many are held out for fitting temperatures; all other
# temperatures are fitted on files that nothing is trained on.
HELD_OUT_CHOICES = 16
HELD_OUT_PASSAGES = 32  # with about 700 questions of the training set
HELD_OUT_REVIEWS = 10  # one in this many is measured on
_NEAREST = 4  # candidate passages for each unanswerable question
_WORD = re.compile(r"\w+")
_NO_LETTER = re.compile(r"[\W_]+")


def open_text(path: Path) -> Iterator[str]:
    """Yield the lines of a file, plain or xz-compressed; none if it is optional and not there."""
    found = path if path.is_file() else path.with_name(f"{path.name}.xz")
    if not found.is_file():
        if f"{path.parent.name}/{path.name}" in OPTIONAL:
            return
        raise MissingFileError(
            f"There is no {path.name} (nor {found.name}) in {path.parent}. Check --data."
        )
    opened = lzma.open if found.suffix == ".xz" else open
    with opened(found, "rt", encoding="utf-8", newline="") as stream:
        yield from stream


def is_there(path: Path) -> bool:
    """Return whether a file, plain or xz-compressed, or a folder exists."""
    return path.exists() or path.with_name(f"{path.name}.xz").is_file()


def json_rows(path: Path) -> list[dict[str, Any]]:
    """Read a file with one JSON object per line, plain or xz-compressed."""
    return [json.loads(line) for line in open_text(path) if line.strip()]


def questions(data: Path, names: Sequence[str] = QUESTION_FILES) -> list[Question]:
    """Read answered questions from `qa/<name>.jsonl`."""
    return [
        Question(row["question"], row["context"], answer["text"], answer["answer_start"])
        for name in names
        for row in json_rows(data / "qa" / f"{name}.jsonl")
        for answer in row["answers"][:1]
    ]


def held_out(context: str) -> bool:
    """Return whether a passage's questions are held out for fitting and must not be trained on.

    The checksum of the passage's letters and digits decides, so copies in other files, in lower
    case or with different spacing, get the same result, and so do all of its questions.

    >>> held_out("The Nile flows north, through eleven countries."), held_out("Passage 6.")
    (False, True)
    >>> held_out("passage  6"), sum(held_out(f"Passage {number}.") for number in range(3200))
    (True, 96)
    """
    letters = _NO_LETTER.sub("", context).lower()
    return zlib.crc32(letters.encode()) % HELD_OUT_PASSAGES == 0


def unanswerable(
    rows: Sequence[Question], count: int, seed: int, *, among: Sequence[Question] | None = None
) -> list[Question]:
    """Pair questions with passages on the same subject that do not hold their answers.

    The passage is drawn from those most similar by rare words that do not contain the text of the
    answer, among the passages of `among`, by default of the same rows.
    """
    contexts = list(dict.fromkeys(row.context for row in among or rows))
    index = _Index(contexts)
    source = random.Random(seed)
    made = []
    for row in source.sample(list(rows), min(count, len(rows))):
        answer = _letters(row.answer or "")
        alike = index.nearest(f"{row.question} {row.context}", 4 * _NEAREST)
        near = [number for number in alike if answer not in index.letters[number]]
        if near:
            made.append(Question(row.question, contexts[source.choice(near[:_NEAREST])], None))
    return made


def without_answer(rows: Sequence[Question], count: int, seed: int) -> list[Question]:
    """Ask questions of their own passages without the sentences that hold the answer.

    A passage is used if it has two other sentences at least, and at most two hold the answer.
    """
    found: list[Question] = []
    for row in random.Random(seed).sample(list(rows), len(rows)):
        if len(found) == count:
            break
        answer, sentences = f" {_letters(row.answer or '')} ", split_sentences(row.context)
        left = [one for one in sentences if answer not in f" {_letters(one)} "]
        if len(left) >= 2 and 1 <= len(sentences) - len(left) <= 2:
            found.append(Question(row.question, " ".join(left), None))
    return found


def _letters(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


class _Index:
    """An index of passages by their words."""

    def __init__(self, contexts: Sequence[str]) -> None:
        self.letters = [_letters(context) for context in contexts]
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, letters in enumerate(self.letters):
            for word in set(letters.split()):
                self._holders[word].append(number)

    def nearest(self, text: str, count: int) -> list[int]:
        """Return the passages that share the most rare words with a text, best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(_letters(text).split()):  # the same order in every process
            holders = self._holders.get(word, [])
            if 0 < len(holders) <= max(10.0, len(self.letters) / 20):
                for number in holders:
                    scores[number] += math.log(len(self.letters) / len(holders))
        return sorted(scores, key=lambda number: -scores[number])[:count]


def tagged_words(
    data: Path, names: Sequence[str], *, folder: str = "ner/by-source"
) -> list[TaggedWords]:
    """Read sentences of words and IOB2 tags from `<name>.conll` files."""
    numbers = {tag: number for number, tag in enumerate(TAGS)}
    rows: list[TaggedWords] = []
    for name in names:
        lines = (line.rstrip("\r\n") for line in open_text(data / folder / f"{name}.conll"))
        for blank, group in itertools.groupby(lines, key=lambda line: not line.strip()):
            pairs = [] if blank else [line.split("\t") for line in group]
            for pair in pairs:
                if len(pair) != 2 or pair[1] not in numbers:
                    raise InputError(f"{name}.conll has the line {pair}; expected word, tab, tag.")
            if pairs:
                words, tags = zip(*pairs, strict=True)
                rows.append(TaggedWords(tuple(words), tuple(numbers[tag] for tag in tags)))
    return rows


_CLITIC = re.compile(r" (n't|'s|'re|'ve|'ll|'d|'m)\b")
_JOINED = re.compile(r"\b(can|gon|wan|got|gim|lem) (not|na|ta|me)\b")
_BEFORE_MARK = re.compile(r" ([,.;:!?%)\]}])")
_AFTER_MARK = re.compile(r"([(\[{]) ")
_QUOTED = re.compile(r"(``|\") ?(.*?) ?(''|\")")


@dataclass(frozen=True, slots=True)
class Sentiment:
    """A sentence as in the data set (split into words) and as a person would type it."""

    split: LabelledText
    typed: LabelledText


def sentiments(data: Path, name: str) -> list[Sentiment]:
    """Read `sst2/<name>.tsv`: film-review sentences or phrases, 0 negative, 1 positive."""
    lines = csv.DictReader(
        open_text(data / "sst2" / f"{name}.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    return [
        Sentiment(LabelledText(row["sentence"], label), LabelledText(typed(row["sentence"]), label))
        for row in lines
        for label in [int(row["label"])]
    ]


def typed(sentence: str) -> str:
    """Join the words of a split sentence as a person would type it.

    >>> typed("it does n't ( quite ) work , though it 's fun")
    "It doesn't (quite) work, though it's fun."
    """
    text = sentence.replace("-lrb-", "(").replace("-rrb-", ")").replace("\\/", "/")
    text = _QUOTED.sub(r'"\2"', text)
    text = _JOINED.sub(r"\1\2", _CLITIC.sub(r"\1", text))
    text = _AFTER_MARK.sub(r"\1", _BEFORE_MARK.sub(r"\1", text)).strip()
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", '"', "…")) else f"{text}."


def reviews(data: Path, *, kept_apart: bool = False) -> list[LabelledText]:
    """Read `sentiment/train.tsv`: sentences about products, films and restaurants, as typed.

    A tenth, chosen by checksum, is held out for measuring: `kept_apart` returns these.
    """
    lines = csv.DictReader(
        open_text(data / "sentiment" / "train.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    return [
        LabelledText(row["sentence"], int(row["label"]))
        for row in lines
        if (zlib.crc32(_letters(row["sentence"]).encode()) % HELD_OUT_REVIEWS == 0) == kept_apart
    ]


def choices(data: Path, names: Sequence[str], *, kept_apart: bool = False) -> list[Choices]:
    """Read `mc/<name>.jsonl`; the text before a choice is the context and the question, if any.

    `kept_apart` returns the rows of training files that are held out, see `is_held_out`.
    """
    return [
        Choices(
            " ".join(part for part in (row["context"], row["question"]) if part),
            tuple(row["choices"]),
            row["label"],
        )
        for name in names
        for row in json_rows(data / "mc" / f"{name}.jsonl")
        if name.endswith("_test") or is_held_out(row["id"]) == kept_apart
    ]


def is_held_out(row_id: str) -> bool:
    """Return whether a row is held out for fitting the temperature.

    >>> sum(is_held_out(f"row-{number}") for number in range(1600))
    96
    """
    return zlib.crc32(row_id.encode()) % HELD_OUT_CHOICES == 0
