"""The rows on which temperatures are fitted.

They are not trained on and are not evaluation files of their task:

- masked words: the documents of `nsp/eval-documents`, which were removed from the training texts
  and are used only to evaluate sentence pairs;
- sentence pairs: freshly drawn pairs of the training texts, in the proportions of the evaluation
  (no other text has its sentences in order);
- names: `ner/dev`, where the fourth kind, MISC, is not annotated and pieces labelled so are left
  out, and every second sentence of two sources with all four kinds. Sentiment: `sst2/dev`;
- questions and choices: the slices of the training files that training leaves out. The temperature
  for the choice of a span is fitted on passages that do answer; the one for whether a passage
  answers, on as many questions again, asked of another passage about the same subject. That passage
  may have been trained on with other questions: the slice has only one or two passages per article,
  and passages of other articles are too easy to tell from the right one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from bert_core.config import HAS_ANSWER
from bert_core.finetuning import LabelledText, Question
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.model.pretrained import BertPreTrainedModel
from bert_core.pretraining import sentence_pairs as draw_pairs
from bert_core.pretraining import split_sentences
from bert_core.reading.tagging import TagScheme
from bert_core.text.tokenizer import BertTokenizer
from training import judgements, rows
from training.blocks import NO_PAIRS
from training.corpus import read_documents, running_text, text_files
from training.judgements import Judged

_SEED = 71
_BLOCKS = 120  # about 2,300 masked words: the fitted temperature is then good to two in a hundred
_PAIRS = 3000
_EVERY = 40  # documents; the evaluation's were every fiftieth
_QUESTIONS = 750


@dataclass(frozen=True, slots=True)
class Head:
    """One head that gets a temperature."""

    name: Annotated[str, "of the temperature; the part before a dot is the class"]
    cls: Annotated[type[BertPreTrainedModel], "the model class to load"]
    needs: Annotated[str, "the fitting file, in the data folder"]
    fitted_on: Annotated[str, "description of that file, for the configuration"]
    fit: Annotated[Callable[[Any, BertTokenizer, Path], Iterator[Judged]], "judges its rows"]
    by_label: Annotated[bool, "by the probability of the right column, see `loss`"] = True
    part: Annotated[str, "the parameters that must have been trained; empty: all"] = ""


def _words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Iterator[Judged]:
    path, most = data / "nsp" / "eval-documents.txt", model.config.max_position_embeddings
    blocks = running_text(tokenizer, path, most)
    every = max(1, len(blocks) // _BLOCKS)
    return judgements.masked_words(model, tokenizer, blocks[::every][:_BLOCKS], _SEED)


def _pairs(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Iterator[Judged]:
    """Judge pairs of the training texts: half neighbours, a quarter each of two kinds not."""
    documents = []
    for name, path in text_files(data).items():
        if name not in NO_PAIRS:
            for document in islice(read_documents(path), 0, None, _EVERY):
                sentences = [text for row in document for text in split_sentences(row)]
                if len(sentences) > 1:
                    documents.append(sentences)
    pairs = draw_pairs(documents, count=_PAIRS, same_document=0.5, seed=_SEED)
    texts = [LabelledText(pair.first, pair.label, pair.second) for pair in pairs]
    return judgements.sentence_pairs(model, tokenizer, texts)


def _held_out(data: Path) -> list[Question]:
    """Return the questions that training leaves out."""
    every = rows.questions(data, rows.QUESTION_FILES)
    kept = [row for row in every if rows.held_out(row.context)]
    return kept[:: max(1, len(kept) // _QUESTIONS)]


def _spans(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    kept = _held_out(data)
    return judgements.questions(kept, judgements.read_questions(model, tokenizer, kept))


def _has_answer(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the same questions, and as many of them where another passage does not answer."""
    kept, every = _held_out(data), rows.questions(data, rows.QUESTION_FILES)
    asked = [*kept, *rows.unanswerable(kept, len(kept), _SEED, among=every)]
    if asked:
        yield judgements.has_answer(asked, judgements.read_questions(model, tokenizer, asked))


def _names(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    scheme = TagScheme.of(model.config)
    there = [
        name for name in rows.MISC_TESTS if rows.is_there(data / f"ner/by-source/{name}.conll")
    ]
    for tagged, kinds in (
        (rows.tagged_words(data, ["dev"], folder="ner"), judgements.SCORED),
        (rows.tagged_words(data, there)[::2], (*judgements.SCORED, "MISC")),
    ):
        if tagged:
            read = judgements.word_labels(model, tokenizer, tagged)
            yield judgements.names(scheme, tagged, read, kinds)


def _sentiment(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the sentences of `sst2/dev`, as they are and as a person would type them."""
    texts = [text for row in rows.sentiments(data, "dev") for text in (row.split, row.typed)]
    return judgements.texts(model, tokenizer, texts)


def _choices(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    files = (*rows.CHOICE_FILES, *rows.TWO_CHOICE_FILES)
    return judgements.choices(model, tokenizer, rows.choices(data, files, kept_apart=True))


HEADS = (
    Head("BertForMaskedLM", BertForPreTraining, "nsp/eval-documents.txt",
         "masked words of running text that was not trained on", _words,
         part="cls.predictions"),
    Head("BertForNextSentencePrediction", BertForPreTraining, "text",
         "pairs of sentences, half of them neighbours, a quarter from one document", _pairs,
         part="cls.seq_relationship"),
    Head("BertForQuestionAnswering", BertForQuestionAnswering, "qa/train.jsonl",
         "questions to Wikipedia that were not trained on", _spans, by_label=False),
    Head(HAS_ANSWER, BertForQuestionAnswering, "qa/train.jsonl",
         "questions that were not trained on, half of them asked of a like passage without the "
         "answer", _has_answer),
    Head("BertForTokenClassification", BertForTokenClassification, "ner/dev.conll",
         "names in web texts and encyclopedia that were not trained on, of all kinds shown",
         _names),
    Head("BertForSequenceClassification", BertForSequenceClassification, "sst2/dev.tsv",
         "film reviews that were not trained on", _sentiment),
    Head("BertForMultipleChoice", BertForMultipleChoice, "mc/nextsentence_train.jsonl",
         "multiple choice that was not trained on", _choices),
)  # fmt: skip
