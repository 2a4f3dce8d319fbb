"""Judge labelled rows with each head of a model: all scores, the right one, the best one.

From these, `training.calibration` fits temperatures and measures how well calibrated the stated
probabilities are. Chunks hold only a few rows, because a masked word has a score for every piece of
the vocabulary and a passage has one for every span.
"""

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bert_core.finetuning import Choices, LabelledText, Question, TaggedWords, choice_batch
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.pretraining import MaskedTokens, MaskingVocabulary, mask_tokens
from bert_core.reading.entities import TaggedText, read_texts
from bert_core.reading.passage import PassageAnswers, read_passages
from bert_core.reading.running import Runner, batches, by_length
from bert_core.reading.tagging import TagScheme
from bert_core.reading.wordings import normalized
from bert_core.text.tokenizer import BertTokenizer
from training.rows import TAGS
from training.scores import Bools, Floats, Ints

SCORED = ("PER", "LOC", "ORG")
WORD_RATE = 0.15
_BLOCKS = 8  # their scores are about 150 times the vocabulary
_QUESTIONS = 16  # spans of a passage are some thousands


@dataclass(frozen=True, slots=True)
class Judged:
    """A head's scores for N cases."""

    scores: Annotated[NDArray[np.float32], "(N, C) logits; -inf where there are fewer answers"]
    wanted: Annotated[Ints, "(N,) column of the right answer; -1 where no column is"]
    right: Annotated[Bools, "(N,) whether the answer with the highest score counts as right"]
    alike: Annotated[Bools | None, "(N, C) columns with the wording of the best answer"] = None
    margin: Annotated[Floats | None, "(N,) score of the best answer minus that of none"] = None
    texts: Annotated[Ints | None, "(N,) numbers of the texts that the cases are from"] = None

    @classmethod
    def of(cls, scores: Tensor, wanted: Tensor, texts: Ints | None = None) -> "Judged":
        """Judge by the right column alone."""
        right = scores.argmax(-1) == wanted
        found = cls(scores.float().cpu().numpy(), wanted.cpu().numpy(), right.cpu().numpy())
        return replace(found, texts=texts)


def masked_batches(
    tokenizer: BertTokenizer, blocks: Sequence[list[int]], size: int, seed: int
) -> Iterator[tuple[Tensor, MaskedTokens]]:
    """Yield blocks (B, T) in batches, and the same corrupted as in BERT's pretraining."""
    masking = MaskingVocabulary.from_vocab(tokenizer.vocab)
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, len(blocks), size):
        rows = torch.tensor(blocks[start : start + size])
        yield rows, mask_tokens(rows, masking, rate=WORD_RATE, generator=generator)


@torch.no_grad()
def masked_words(
    model: BertForPreTraining, tokenizer: BertTokenizer, blocks: Sequence[list[int]], seed: int
) -> Iterator[Judged]:
    """Judge masked words in packed blocks of running text of one length."""
    before = 0
    for _, masked in masked_batches(tokenizer, blocks, _BLOCKS, seed):
        scores = model.scores_at(
            masked.input_ids.to(model.device), masked.positions.to(model.device)
        )
        kept = masked.position_labels >= 0  # (B, P)
        block = before + kept.nonzero()[:, 0].numpy()
        before += len(kept)
        yield Judged.of(scores[kept.to(model.device)].cpu(), masked.position_labels[kept], block)


@torch.no_grad()
def sentence_pairs(
    model: BertForPreTraining, tokenizer: BertTokenizer, rows: Sequence[LabelledText]
) -> Iterator[Judged]:
    """Judge pairs of sentences: 0 where the second follows the first, else 1."""
    longest = model.config.max_position_embeddings
    encodings = [tokenizer.encode(row.text, row.text_pair, max_length=longest) for row in rows]
    for group, inputs in batches(tokenizer, encodings, model.device):
        outputs = model.run(*inputs, attentions=False, hidden_states=False, logits=False)
        scores = model.cls.seq_relationship(outputs.pooler_output)
        yield Judged.of(scores.cpu(), torch.tensor([rows[index].label for index in group]))


@torch.no_grad()
def texts(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, rows: Sequence[LabelledText]
) -> Iterator[Judged]:
    """Judge single texts: 0 negative, 1 positive."""
    labels = [name.lower() for name in TagScheme.of(model.config).names]
    columns = torch.tensor([1, 0] if labels[:2] == ["positive", "negative"] else [0, 1])
    longest = model.config.max_position_embeddings
    encodings = tokenizer.encode_batch([row.text for row in rows], max_length=longest)
    for group, inputs in batches(tokenizer, encodings, model.device):
        outputs = model.run(*inputs, attentions=False, hidden_states=False)
        assert outputs.logits is not None
        wanted = columns[[int(rows[index].label) for index in group]]
        yield Judged.of(outputs.logits.cpu(), wanted)


Labelled = list[tuple[Floats, Ints]]
"""Of each row, probabilities (W, C) of the first pieces of its words, and their tags (W,)."""


def word_labels(
    model: BertForTokenClassification, tokenizer: BertTokenizer, rows: Sequence[TaggedWords]
) -> Labelled:
    """Predict labels for the tagged words of each row, as the site does.

    Words without pieces, and words that are not to be learnt, are left out.
    """
    labelled = read_texts(Runner.of(model, tokenizer), [" ".join(row.words) for row in rows])
    return [_first_pieces(*each) for each in zip(rows, labelled, strict=True)]


def _first_pieces(row: TaggedWords, labelled: TaggedText) -> tuple[Floats, Ints]:
    ends = itertools.accumulate(len(word) + 1 for word in row.words)  # one space after each
    places = [(end - 1 - len(word), end - 1) for word, end in zip(row.words, ends, strict=True)]
    pieces, tags = labelled.first_pieces(places), np.array(row.tags, dtype=np.int64)
    kept = (pieces >= 0) & (tags >= 0)
    return labelled.probabilities[pieces[kept]], tags[kept]


def names(
    scheme: TagScheme,
    rows: Sequence[TaggedWords],
    read: Labelled,
    kinds: Sequence[str] = SCORED,
) -> Judged:
    """Judge the labelled pieces that the model takes for part of an entity of these kinds.

    Pieces predicted O are left out: nine in ten are, correctly and confidently, and they would mask
    the rest. So are pieces of kinds that the rows do not annotate.
    """
    scored = np.array([tag.kind in kinds for tag in scheme.tags])
    columns = np.array([scheme.names.index(tag) if tag in scheme.names else -1 for tag in TAGS])
    number = np.repeat([_number(" ".join(row.words)) for row in rows], [len(t) for _, t in read])
    probabilities, tags = (np.concatenate(each) for each in zip(*read, strict=True))
    kept = scored[probabilities.argmax(axis=1)]
    logs = torch.from_numpy(np.log(probabilities[kept]))
    return Judged.of(logs, torch.from_numpy(columns[tags[kept]]), number[kept])


@torch.no_grad()
def choices(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, rows: Sequence[Choices]
) -> Iterator[Judged]:
    """Judge contexts with several ways to go on, those with as many in a chunk."""
    longest = model.config.max_position_embeddings
    for count in sorted({len(row.choices) for row in rows}):
        alike = [row for row in rows if len(row.choices) == count]
        contexts = tokenizer.encode_ids([row.context for row in alike])
        widest = [
            len(context) + max(map(len, tokenizer.encode_ids(row.choices)))
            for row, context in zip(alike, contexts, strict=True)
        ]
        scores = torch.zeros(len(alike), count)
        for group in by_length(widest, model.device, each=count):
            batch = choice_batch(tokenizer, [alike[place] for place in group], max_length=longest)
            inputs = {name: value.to(model.device) for name, value in batch.items()}
            inputs.pop("labels")
            outputs = model.run(**inputs, attentions=False, hidden_states=False)
            assert outputs.logits is not None
            scores[group] = outputs.logits.float().cpu()
        yield Judged.of(scores, torch.tensor([row.label for row in alike]))


def read_questions(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, rows: Sequence[Question]
) -> list[PassageAnswers]:
    """Score every span of each question's passage, as the site does."""
    asked = [(row.context, row.question) for row in rows]
    return [each.answers() for each in read_passages(Runner.of(model, tokenizer), asked)]


def questions(rows: Sequence[Question], read: Sequence[PassageAnswers]) -> Iterator[Judged]:
    """Judge the best span of each passage among all spans of it.

    A span counts as right by exact match, as SQuAD compares it, and as wrong where the passage
    does not answer the question: a page that shows it states its probability beside "no answer".
    """
    pairs = list(zip(rows, read, strict=True))
    for start in range(0, len(pairs), _QUESTIONS):
        group = pairs[start : start + _QUESTIONS]
        yield Judged(
            _padded([each.spans.score.ravel() for _, each in group], -np.inf).astype(np.float32),
            np.array([_wanted(*pair) for pair in group], dtype=np.int64),
            np.array([_right(*pair) for pair in group], dtype=np.bool_),
            alike=_padded([each.alike().ravel() for _, each in group], fill=False),
            margin=np.array([each.spans.margin for _, each in group]),
            texts=np.array([_number(row.context) for row, _ in group]),
        )


def has_answer(rows: Sequence[Question], read: Sequence[PassageAnswers]) -> Judged:
    """Judge whether a passage answers: "no answer", column 0, against its best span, column 1."""
    return Judged.of(
        torch.tensor([[each.spans.null, each.spans.best_score] for each in read]),
        torch.tensor([int(row.answer is not None) for row in rows]),
        np.array([_number(row.context) for row in rows]),
    )


def _padded(rows: Sequence[NDArray[Any]], fill: float) -> NDArray[Any]:
    """Put rows of several lengths into one array."""
    width = max(map(len, rows))
    return np.stack([np.pad(row, (0, width - len(row)), constant_values=fill) for row in rows])


def _wanted(row: Question, read: PassageAnswers) -> int:
    """Return the column of the span that was marked as the answer; -1 if it may be none."""
    pieces, longest = read.reading.spans, read.spans.score.shape[1]
    if row.answer is None:
        return -1
    starts = np.flatnonzero(pieces[:, 0] == row.answer_start)
    ends = np.flatnonzero(pieces[:, 1] == row.answer_start + len(row.answer))
    if not len(starts) or not len(ends) or not 0 <= ends[-1] - starts[0] < longest:
        return -1
    first, more = int(starts[0]), int(ends[-1] - starts[0])
    return first * longest + more if np.isfinite(read.spans.score[first, more]) else -1


def _right(row: Question, read: PassageAnswers) -> bool:
    """Tell whether the best span has the words of the answer."""
    return row.answer is not None and normalized(read.text) == normalized(row.answer)


def _number(text: str) -> int:
    """Return a number for a text, the same wherever it occurs."""
    return zlib.crc32(text.encode())
