"""The rows on which temperatures are fitted, and those on which they are measured.

Fitting rows are not trained on and are not evaluation files of their task:

- masked words: the documents of `nsp/eval-documents`, which were removed from the training texts
  and are used only to evaluate sentence pairs;
- sentence pairs: freshly drawn pairs of the training texts, in the proportions of the evaluation
  (no other text has its sentences in order; having read these texts did not make the first bundle
  more confident: the evaluation pairs would have given it the same 1.21);
- names: `ner/dev`, where the fourth kind, MISC, is not annotated and pieces labelled so are left
  out, and every second sentence of two sources with all four kinds; the others are measured on.
  Sentiment: `sst2/dev`;
- questions and choices: the slices of the training files that training leaves out. The temperature
  for the choice of a span is fitted on passages that do answer; the one for whether a passage
  answers, on as many questions again, asked of another passage about the same subject. That passage
  may have been trained on with other questions, because the slice has only one or two passages per
  article, and passages of other articles are too easy to tell from the right one (when this was
  decided, 3 % of them seemed to answer against 11 %, and the temperature came out a sixth lower).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bert_core.finetuning import LabelledText, Question, TaggedWords
from bert_core.model.heads import (
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from bert_core.pretraining import sentence_pairs as draw_pairs
from bert_core.pretraining import split_sentences
from bert_core.text.tokenizer import BertTokenizer
from training import judgements
from training.corpus import read_documents, text_files
from training.judgements import Judged
from training.long_mixture import SHORT_TEXTS
from training.mixture import NO_PAIRS
from training.pretraining_evaluation import RUNNING_TEXT, WORD_SEED, pairs_by_kind, running_text
from training.question_evaluation import elsewhere, xquad
from training.rows import (
    CHOICE_FILES,
    MISC_TESTS,
    QUESTION_FILES,
    TWO_CHOICE_FILES,
    choices,
    held_out,
    is_there,
    questions,
    sentiments,
    tagged_words,
    unanswerable,
)
from training.task_evaluation import AIMED_CHOICES, ENTITY_FILES
from training.task_evaluation import CHOICE_FILES as EVALUATED_CHOICES

OWN = "XQuAD English"
OWN_AND_OTHER = "XQuAD English, each question asked of its own and of another passage"
ALL_KINDS = (*judgements.SCORED, "MISC")
_ALL_KINDS_ON = "CrossNER and WNUT 2017 test, every second sentence"
_SEED = 71
_BLOCKS = 120  # about 2,300 masked words: the fitted temperature is then good to two in a hundred
_PAIRS = 3000
_EVERY = 40  # documents; the evaluation's were every fiftieth
_QUESTIONS = 750


# -- to fit on ---------------------------------------------------------------------------------


def fit_words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Iterator[Judged]:
    """Judge masked words of the documents kept out of the training texts."""
    blocks = running_text(model, tokenizer, data / "nsp" / "eval-documents.txt")
    every = max(1, len(blocks) // _BLOCKS)
    return judgements.masked_words(model, tokenizer, blocks[::every][:_BLOCKS], _SEED)


def fit_pairs(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Iterator[Judged]:
    """Judge pairs of the training texts: half neighbours, a quarter each of two kinds not."""
    documents = []
    for name, path in text_files(data).items():
        if name not in {*NO_PAIRS, *SHORT_TEXTS}:
            for document in islice(read_documents(path), 0, None, _EVERY):
                sentences = [text for row in document for text in split_sentences(row)]
                if len(sentences) > 1:
                    documents.append(sentences)
    pairs = draw_pairs(documents, count=_PAIRS, same_document=0.5, seed=_SEED)
    rows = [LabelledText(pair.first, pair.label, pair.second) for pair in pairs]
    return judgements.sentence_pairs(model, tokenizer, rows)


def _held_out(data: Path) -> list[Question]:
    """Return the questions that training leaves out."""
    kept = [row for row in questions(data, QUESTION_FILES) if held_out(row.context)]
    return kept[:: max(1, len(kept) // _QUESTIONS)]


def fit_questions(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the questions that training leaves out."""
    return judgements.questions(model, tokenizer, _held_out(data))


def fit_has_answer(
    model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the same questions, and as many of them where another passage does not answer."""
    kept = _held_out(data)
    moved = unanswerable(kept, len(kept), _SEED, among=questions(data, QUESTION_FILES))
    return judgements.has_answer(model, tokenizer, [*kept, *moved])


def fit_names(
    model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the names of `ner/dev`, and names of all kinds in half of the other sentences."""
    yield from judgements.names(model, tokenizer, tagged_words(data, ["dev"], folder="ner"))
    yield from judgements.names(model, tokenizer, _all_kinds(data)[::2], kinds=ALL_KINDS)


def _all_kinds(data: Path) -> list[TaggedWords]:
    """Return the sentences with all four kinds annotated that nothing is trained on."""
    there = [name for name in MISC_TESTS if is_there(data / f"ner/by-source/{name}.conll")]
    return tagged_words(data, there)


def fit_sentiment(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the sentences of `sst2/dev`, as they are and as a person would type them."""
    rows = sentiments(data, "dev")
    texts = [text for row in rows for text in (row.split, row.typed)]
    return judgements.texts(model, tokenizer, texts)


def fit_choices(
    model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path
) -> Iterator[Judged]:
    """Judge the choices that training leaves out."""
    rows = choices(data, (*CHOICE_FILES, *TWO_CHOICE_FILES), kept_apart=True)
    return judgements.choices(model, tokenizer, rows)


# -- to measure on -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Told:
    """One figure to report on evaluation rows.

    Attributes:
        task: the task.
        where: the data.
        parts: the parts of the rows that are combined.
        aimed: whether it has a floor and a goal; other figures show what a combined one hides.
        known: whether to assume that there is an answer, where one can be missing.
    """

    task: str
    where: str
    parts: Sequence[str]
    aimed: bool = True
    known: bool = False


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The evaluation rows of one head, judged lazily.

    Attributes:
        parts: the judgements of each part of the rows.
        figures: the figures to report.
    """

    parts: Mapping[str, Iterator[Judged]]
    figures: Sequence[Told]


def words(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge masked words of WikiText-2."""
    blocks = running_text(model, tokenizer, data / RUNNING_TEXT)
    judged = judgements.masked_words(model, tokenizer, blocks, WORD_SEED)
    return Evaluated({"all": judged}, [Told("masked word", "WikiText-2, valid and test", ["all"])])


def pairs(model: BertForPreTraining, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge the evaluation pairs, random and of the same document."""
    kinds, found = ("random", "same"), pairs_by_kind(data)
    parts = {
        kind: judgements.sentence_pairs(model, tokenizer, found.get(kind, [])) for kind in kinds
    }
    each = [Told(f"next sentence, {kind}", "nsp/eval_pairs", [kind], False) for kind in kinds]
    both = Told("next sentence", "nsp/eval_pairs, random and same", kinds)
    return Evaluated(parts, [both, *each])


def answers(model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge XQuAD's questions, asked of their own passage and of another of the article."""
    parts = {
        name: judgements.questions(model, tokenizer, rows) for name, rows in _asked(data).items()
    }
    known = Told("best span, knowing that there is an answer", OWN, ["own"], False, known=True)
    both = Told("best span", OWN_AND_OTHER, ["own", "other"])
    return Evaluated(parts, [both, Told("best span", OWN, ["own"]), known])


def answered(model: BertForQuestionAnswering, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge whether XQuAD's passages answer, each question's own and another of the article."""
    rows = [row for part in _asked(data).values() for row in part]
    judged = judgements.has_answer(model, tokenizer, rows)
    return Evaluated({"all": judged}, [Told("has an answer or not", OWN_AND_OTHER, ["all"])])


def _asked(data: Path) -> dict[str, list[Question]]:
    """Return XQuAD's questions of their own passages, and of others."""
    rows = xquad(data)
    return {"own": rows, "other": [row for row in elsewhere(rows) if row is not None]}


def names(model: BertForTokenClassification, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge the names of `ner/test`, together and each source alone, and names of all four kinds.

    A visitor sees MISC too, which `ner/test` does not annotate.
    """
    parts = {
        name: judgements.names(model, tokenizer, tagged_words(data, [name]))
        for name in ENTITY_FILES
    }
    every = "all kinds"
    parts[every] = judgements.names(model, tokenizer, _all_kinds(data)[1::2], kinds=ALL_KINDS)
    task = "pieces of names"
    return Evaluated(
        parts,
        [
            Told(task, "ner/test", ENTITY_FILES),
            *(Told(task, f"{name} alone", [name], False) for name in ENTITY_FILES),
            Told(f"{task}, MISC among them", _ALL_KINDS_ON, [every]),
        ],
    )


def sentiment(
    model: BertForSequenceClassification, tokenizer: BertTokenizer, data: Path
) -> Evaluated:
    """Judge SST-2's test sentences, as they are and as a person would type them."""
    rows = sentiments(data, "test")
    parts = {
        "split": judgements.texts(model, tokenizer, [row.split for row in rows]),
        "typed": judgements.texts(model, tokenizer, [row.typed for row in rows]),
    }
    return Evaluated(
        parts,
        [
            Told("sentiment", "SST-2 test", ["split"]),
            Told("sentiment", "SST-2 test, typed with capitals and punctuation", ["typed"]),
        ],
    )


def picked(model: BertForMultipleChoice, tokenizer: BertTokenizer, data: Path) -> Evaluated:
    """Judge the test files of multiple choice: the two that are aimed at together, and each."""
    parts = {
        name: judgements.choices(model, tokenizer, choices(data, [f"{name}_test"]))
        for name in EVALUATED_CHOICES
    }
    each = [Told("multiple choice", f"mc/{name}_test", [name], False) for name in EVALUATED_CHOICES]
    both = f"mc, {' and '.join(AIMED_CHOICES)} together"
    return Evaluated(parts, [Told("multiple choice", both, AIMED_CHOICES), *each])
