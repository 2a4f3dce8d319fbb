"""The parts of a run: tokenizer, model, batches and trainer, from a corpus and settings.

`as_python` writes the same as a script that needs only `bert_core`.
"""

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import nn

from app.features.lab.result_corpus import Corpus
from app.features.lab.result_settings import LabSettings
from bert_core import BertConfig, BertForPreTraining, BertTokenizer
from bert_core.finetuning import Budget, Loss, Trainer, TrainerSettings
from bert_core.pretraining import (
    Join,
    PretrainingBatch,
    PretrainingBatches,
    PretrainingLoss,
    build_vocabulary,
    joint_loss,
)

LENGTH = 64  # most pieces of a row
BATCH = 64  # rows; half as many pairs
WARMUP = 50  # steps


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is made of.

    Attributes:
        tokenizer: with the vocabulary built from the corpus.
        joins: that made the vocabulary.
        batches: the rows of every step.
        model: in training mode.
        trainer: ready for the first step.
    """

    tokenizer: BertTokenizer
    joins: tuple[Join, ...]
    batches: PretrainingBatches
    model: BertForPreTraining
    trainer: Trainer


def make_parts(settings: LabSettings, corpus: Corpus) -> Parts:
    """Build everything a run needs; the order decides which random numbers go where."""
    joins: list[Join] = []
    size = min(settings.pieces, corpus.vocabulary)
    pieces = build_vocabulary(corpus.sentences, size=size, watch=joins.append)
    tokenizer = BertTokenizer(pieces, max_len=LENGTH)
    batches = make_batches(settings, corpus, tokenizer)
    torch.manual_seed(settings.seed)
    model = new_model(settings, len(pieces))
    trainer = make_trainer(settings, model, batches)
    return Parts(tokenizer, tuple(joins), batches, model, trainer)


def make_batches(
    settings: LabSettings, corpus: Corpus, tokenizer: BertTokenizer
) -> PretrainingBatches:
    """Build the rows of every step."""
    documents = [
        tokenizer.encode_ids(list(document), add_special_tokens=False)
        for document in corpus.documents
    ]
    return PretrainingBatches(
        documents,
        tokenizer.vocab,
        batch_size=BATCH // 2 if settings.next_sentence else BATCH,
        length=LENGTH,
        mask_rate=settings.mask_rate / 100,
        whole_words=settings.whole_words,
        next_sentence=settings.next_sentence,
        seed=settings.seed,
    )


def make_trainer(
    settings: LabSettings,
    model: BertForPreTraining,
    batches: PretrainingBatches,
    loss: Callable[[BertForPreTraining, PretrainingBatch], PretrainingLoss] = joint_loss,
) -> Trainer:
    """Return what trains a model, ready for the first step."""

    def named(model: BertForPreTraining, batch: PretrainingBatch) -> Loss:
        found = loss(model, batch)
        parts = {"words": found.masked_lm.detach(), "sentences": found.next_sentence.detach()}
        return Loss(found.total, parts)

    training = TrainerSettings(
        Budget(steps=settings.steps),
        learning_rate=settings.learning_rate,
        warmup_steps=WARMUP,
        decay_share=0.5,
        seed=settings.seed,
    )
    return Trainer(model, batches, training, loss=named)


def new_model(settings: LabSettings, pieces: int) -> BertForPreTraining:
    """Build a model with random weights.

    Weights start larger than usual (1 / √width instead of 0.02): with vectors this short, attention
    would otherwise stay even for hundreds of steps.
    """
    config = BertConfig(
        pieces,
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=4 * settings.width,
        max_position_embeddings=LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=settings.width**-0.5,
    )
    model = BertForPreTraining(config)
    if not settings.positions:
        model.bert.embeddings.position_embeddings.requires_grad_(False).weight.zero_()
    if settings.shared:
        encoder = model.bert.encoder
        encoder.layer = nn.ModuleList([encoder.layer_at(0)] * settings.layers)
    return model


def corpus_file(corpus: Corpus) -> str:
    """Return the texts to train on, one sentence a line, with a blank line between texts."""
    return "\n\n".join("\n".join(document) for document in corpus.documents) + "\n"


def as_python(settings: LabSettings, corpus: Corpus) -> str:
    """Return a script that repeats a run exactly; it reads `corpus.txt`."""
    pairs = settings.next_sentence
    lines = [
        "from pathlib import Path",
        "import torch",
        "from bert_core import BertConfig, BertForPreTraining, BertTokenizer",
        "from bert_core.finetuning import Budget, Loss, Trainer, TrainerSettings",
        "from bert_core.pretraining import PretrainingBatches, build_vocabulary, joint_loss",
        "",
        "torch.set_num_threads(1)  # the number of threads changes the last digits",
        'corpus = Path("corpus.txt").read_text(encoding="utf-8").strip("\\n")',
        'texts = [text.split("\\n") for text in corpus.split("\\n\\n")]',
        "pieces = build_vocabulary((line for text in texts for line in text), "
        f"size={min(settings.pieces, corpus.vocabulary)})",
        f"tokenizer = BertTokenizer(pieces, max_len={LENGTH})",
        "ids = [tokenizer.encode_ids(text, add_special_tokens=False) for text in texts]",
        f"batches = PretrainingBatches(ids, tokenizer.vocab, batch_size="
        f"{BATCH // 2 if pairs else BATCH}, length={LENGTH}, mask_rate={settings.mask_rate / 100},"
        f"\n    whole_words={settings.whole_words}, next_sentence={pairs}, seed={settings.seed})",
        f"torch.manual_seed({settings.seed})",
        f"model = BertForPreTraining(BertConfig(len(pieces), hidden_size={settings.width}, "
        f"num_hidden_layers={settings.layers},\n    num_attention_heads={settings.heads}, "
        f"intermediate_size={4 * settings.width}, max_position_embeddings={LENGTH},\n"
        "    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, "
        f"initializer_range={settings.width}**-0.5))",
    ]
    if not settings.positions:
        lines.append(
            "model.bert.embeddings.position_embeddings.requires_grad_(False).weight.zero_()"
        )
    if settings.shared:
        lines.append(
            "model.bert.encoder.layer = torch.nn.ModuleList("
            f"[model.bert.encoder.layer[0]] * {settings.layers})"
        )
    lines += [
        f"settings = TrainerSettings(Budget(steps={settings.steps}), "
        f"learning_rate={settings.learning_rate}, warmup_steps={WARMUP}, decay_share=0.5, "
        f"seed={settings.seed})",
        "trainer = Trainer(model, batches, settings, "
        "loss=lambda model, batch: Loss(joint_loss(model, batch).total))",
        "while not trainer.done:",
        "    print(trainer.step().loss)",
        'model.save_pretrained("my-bert")',
        'tokenizer.save_pretrained("my-bert")',
    ]
    return "\n".join(lines) + "\n"


def archive(files: Mapping[str, bytes]) -> bytes:
    """Write files into one ZIP file, uncompressed: weights hardly get smaller."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return target.getvalue()
