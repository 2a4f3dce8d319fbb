"""What each stage trains and on which data: pretraining, the long pretraining, the tasks."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from bert_core.finetuning import Trainer
from bert_core.model.heads import BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from training import processes
from training.corpus import EncodedText, load_corpus, plain_ids
from training.frames import neighbours
from training.frames.everyday import Everyday
from training.long_mixture import LongMixture, LongSettings, Made, long_part_loss
from training.mixture import Mixture, MixtureSettings, part_loss
from training.relations import Relations, kept_back_gaps
from training.sources import absent
from training.stage import Lesson, Say, StageSettings, silent, train
from training.start import start_model, warm_bias
from training.task_model import TaskModel, start_task_model, task_loss
from training.tasks import TaskMixture, TaskRows, TaskSettings
from training.unseen import Sentence, evaluation_lines, kept_back, without_known, written_lines
from training.way import measure_tasks, measure_way

MADE_PAIRS = 20_000  # sentence pairs made from frames


def run_stage(
    name: str,
    settings: StageSettings,
    sizes: Any,
    say: Say = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume the stage of this name, see `training.stage.train`."""
    processes.join()
    say = say if processes.FIRST else silent
    if left_out := absent(settings.data):
        say(f"not there, and left out: {', '.join(left_out)}")
    with processes.first_before_others():  # it writes the encoded texts
        lesson = LESSONS[name](settings, sizes, say)
    trainer = train(settings, lesson, say, stop)
    processes.leave()
    return trainer


def pretraining_lesson(settings: StageSettings, sizes: MixtureSettings, say: Say = print) -> Lesson:
    """Read the texts and prepare the pretraining."""
    began = time.monotonic()
    sizes = replace(sizes, seed=sizes.seed + settings.seed)
    tokenizer, texts = _read(settings)
    say(f"{_tokens(texts):,} tokens of text, {time.monotonic() - began:.0f} s")

    def start(init: str) -> BertForPreTraining:
        model = start_model(init)
        warm_bias(model, texts)
        return model

    mixture = Mixture(texts, tokenizer.vocab, sizes)
    return Lesson(start, mixture, part_loss, tokenizer, sizes.seed, asdict(sizes), _tokens(texts))


@dataclass(frozen=True, slots=True)
class _LongTexts:
    """The texts of the long pretraining, which the tasks go on reading.

    Attributes:
        tokenizer: of the model.
        count: tokens of text.
        mixture: builds the steps.
        measure: figures of the pretraining heads.
    """

    tokenizer: BertTokenizer
    count: int
    mixture: LongMixture
    measure: Callable[[BertForPreTraining], dict[str, float]]


def _long_texts(settings: StageSettings, sizes: LongSettings, say: Say) -> _LongTexts:
    """Read the texts and facts without what the model is measured on."""
    began = time.monotonic()
    tokenizer, texts = _read(settings)
    kept = [sentence for each in kept_back(texts).values() for sentence in each]
    written = written_lines(tokenizer)
    lines = evaluation_lines(tokenizer) | set(written)
    before = _sentences(texts)
    texts = without_known(texts, [*kept, *written], lines)
    say(
        f"{_tokens(texts):,} tokens of text, {before - _sentences(texts):,} of {before:,} "
        "sentences left out because they are measured on or near to it, "
        f"{time.monotonic() - began:.0f} s"
    )
    relations = Relations(settings.data, tokenizer, texts, lines)
    made = _made(tokenizer, sizes, lines) if sizes.made_facts or sizes.made_pairs else None
    mixture = LongMixture(texts, tokenizer.vocab, relations, sizes, made)
    gaps = kept_back_gaps(settings.data)
    return _LongTexts(
        tokenizer,
        _tokens(texts),
        mixture,
        lambda model: measure_way(model, tokenizer, settings.data, kept, gaps),
    )


def _made(tokenizer: BertTokenizer, sizes: LongSettings, lines: set[Sentence]) -> Made:
    """Make the everyday sentences and the sentence pairs from frames."""
    pairs = neighbours.pairs(MADE_PAIRS, sizes.seed)
    first = plain_ids(tokenizer, [row.text for row in pairs])
    second = plain_ids(tokenizer, [row.text_pair or "" for row in pairs])
    labels = [int(row.label) for row in pairs]
    return Made(Everyday(tokenizer, lines), list(zip(first, second, labels, strict=True)))


def long_lesson(settings: StageSettings, sizes: LongSettings, say: Say = print) -> Lesson:
    """Prepare the long pretraining."""
    sizes = replace(sizes, seed=sizes.seed + settings.seed)
    texts = _long_texts(settings, sizes, say)
    return Lesson(
        start_model,
        texts.mixture,
        long_part_loss,
        texts.tokenizer,
        sizes.seed,
        asdict(sizes),
        texts.count,
        texts.measure,
    )


def task_lesson(settings: StageSettings, sizes: TaskSettings, say: Say = print) -> Lesson:
    """Read labelled rows and prepare all tasks together with the long pretraining's mixture."""
    pretraining = replace(sizes.pretraining, seed=sizes.pretraining.seed + settings.seed)
    sizes = replace(sizes, seed=sizes.seed + settings.seed, pretraining=pretraining)
    texts, began = _long_texts(settings, pretraining, say), time.monotonic()
    rows = TaskRows.read(settings.data, sizes.seed, made=sizes.made, gapped=sizes.gapped > 0)
    say(
        f"{len(rows.answered):,} questions and {len(rows.short):,} short ones, "
        f"{len(rows.tags) + len(rows.partial_tags):,} tagged "
        f"sentences, {len(rows.sentiment) + len(rows.phrases) + len(rows.reviews):,} with a "
        "sentiment, "
        f"{sum(map(len, rows.choices)) + len(rows.two_choices):,} with choices, "
        f"{len(rows.gapped):,} sentences with a gap; {time.monotonic() - began:.0f} s"
    )

    def start(init: str) -> TaskModel:
        return start_task_model(start_model(init), init)

    def measure(model: TaskModel) -> dict[str, float]:
        return texts.measure(model) | measure_tasks(model, texts.tokenizer, settings.data)

    mixture = TaskMixture(rows, texts.tokenizer, sizes, texts.mixture)
    tasks = asdict(sizes)
    record = {**tasks.pop("pretraining"), "tasks": tasks}
    return Lesson(
        start, mixture, task_loss, texts.tokenizer, sizes.seed, record, texts.count, measure
    )


LESSONS: Mapping[str, Callable[[StageSettings, Any, Say], Lesson]] = {
    "pretrain": pretraining_lesson,
    "long": long_lesson,
    "tasks": task_lesson,
}


def _read(settings: StageSettings) -> tuple[BertTokenizer, list[EncodedText]]:
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    return tokenizer, load_corpus(settings.data, settings.cache or settings.work, tokenizer)


def _tokens(texts: Sequence[EncodedText]) -> int:
    return sum(len(text.ids) for text in texts)


def _sentences(texts: Sequence[EncodedText]) -> int:
    return sum(len(text.sentences) - 1 for text in texts)
