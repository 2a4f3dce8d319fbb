"""The pretraining stage: train an encoder into a model with both pretraining heads."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace

from bert_core.finetuning import Trainer
from bert_core.model.heads import BertForPreTraining
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import load_corpus
from training.mixture import Mixture, MixtureSettings, part_loss
from training.stage import Lesson, StageSettings, prepare, train
from training.start import start_model, warm_bias


def pretrain(
    settings: StageSettings,
    mixture: MixtureSettings | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> Trainer:
    """Run or resume the stage until its budget is used up or `stop` is set.

    Args:
        settings: settings of the stage.
        mixture: step sizes.
        say: called with lines of progress text.
        stop: when set, ends the stage after the current step and saves its state.
    """
    prepare(settings)
    return train(settings, pretraining_lesson(settings, mixture, say), say, stop)


def pretraining_lesson(
    settings: StageSettings,
    mixture: MixtureSettings | None = None,
    say: Callable[[str], None] = print,
) -> Lesson:
    """Read the texts and prepare the lesson of the stage.

    Args:
        settings: settings of the stage.
        mixture: step sizes.
        say: called with a line of progress text.
    """
    mixture = mixture or MixtureSettings()
    mixture = replace(mixture, seed=mixture.seed + settings.seed)
    tokenizer = BertTokenizer.from_pretrained(settings.init)
    began = time.monotonic()
    texts = load_corpus(settings.data, settings.cache or settings.work, tokenizer)
    tokens = sum(len(text.ids) for text in texts)
    say(f"{tokens:,} tokens of text, {time.monotonic() - began:.0f} s")

    def start() -> BertForPreTraining:
        model = start_model(settings.init)
        warm_bias(model, texts)
        return model

    return Lesson(
        start,
        Mixture(texts, tokenizer.vocab, mixture),
        part_loss,
        mixture.seed,
        tokenizer.pad_token_id,
        asdict(mixture),
        {"text_tokens": tokens},
    )
