"""A made-up data folder and a tiny encoder, so that the whole recipe runs in seconds."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bert_core.config import BertConfig
from bert_core.finetuning import Budget
from bert_core.model.bert import BertModel
from bert_core.pretraining import build_vocabulary, write_vocabulary
from bert_core.text.tokenizer import BertTokenizer
from training.blocks import TextSettings
from training.rows import MISC_TESTS
from training.stage import StageSettings
from training.tasks import TaskSettings
from training.trainer import StageTraining

SUBJECTS = ["The cat", "A dog", "My aunt", "The old king", "A small bird", "Our teacher"]
VERBS = ["sees", "likes", "finds", "draws", "hears"]
OBJECTS = ["the river", "a red door", "two apples", "the long road", "some bread", "the moon"]
SMALL = TextSettings(blocks=4, block_length=32, long_every=0, sentences=12, pairs=4, part_tokens=64)
ROWS = TaskSettings(
    questions=6, tags=3, partial_tags=2, sentiment=4, phrases=3, reviews=2, choices=4,
    max_length=64, stride=16, pretraining=SMALL,
)  # fmt: skip


def sentences(count: int, seed: int) -> list[str]:
    source = random.Random(seed)
    return [
        f"{source.choice(SUBJECTS)} {source.choice(VERBS)} {source.choice(OBJECTS)} "
        f"and {source.choice(VERBS)} {source.choice(OBJECTS)}."
        for _ in range(count)
    ]


def write_text(path: Path, documents: list[list[str]]) -> None:
    """One paragraph of two sentences a line, a blank line between documents."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = []
    for document in documents:
        lines = [" ".join(document[i : i + 2]) for i in range(0, len(document), 2)]
        parts.append("\n".join(lines) + "\n")
    path.write_text("\n".join(parts), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder laid out like the real one."""
    folder = tmp_path / "data"
    for name, seed in (("simple-wikipedia", 1), ("novels-public-domain", 2), ("factbook", 3)):
        documents = [sentences(40, 10 * seed + i) for i in range(6)]
        write_text(folder / "text" / f"{name}.txt", documents)
    for name, seed in (("tatoeba-sentences", 41), ("wordnet-examples", 42)):
        write_text(folder / "text" / f"{name}.txt", [[one] for one in sentences(60, seed)])
    write_text(folder / "text" / "wikitext2-valid-test.txt", [sentences(30, 99)])
    write_text(folder / "nsp" / "eval-documents.txt", [sentences(10, 98)])
    rows = [
        {
            "id": f"{kind}-{i}",
            "source": "made up",
            "kind": kind,
            "sentence_a": sentences(1, i)[0],
            "sentence_b": sentences(1, 500 + i)[0],
            "label": i % 2 if kind == "random" else 1,
        }
        for kind in ("random", "swapped")
        for i in range(6)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "nsp" / "eval_pairs.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture
def task_data(data: Path) -> Path:
    """The data folder with labelled rows for every task too: everything the recipe reads."""
    for name, seed in (("train", 1), ("train_lower", 2), ("extra_qamr", 3), ("eval_xquad_en", 4)):
        write_questions(data / "qa" / f"{name}.jsonl", seed)
    sources = ("wikigold", "wnut17-train", "wnut17-dev", "crossner-train", "crossner-dev")
    for name in (*sources, "btc-train", "gum-derived", "ewt-test", "pud", *MISC_TESTS):
        write_names(data / "ner" / "by-source" / f"{name}.conll")
    for name in ("train", "phrases", "test"):
        rows = [f"{s.rstrip('.').lower()} .\t{i % 2}" for i, s in enumerate(sentences(8, 7))]
        write_table(data / "sst2" / f"{name}.tsv", ["sentence\tlabel", *rows])
    reviews = [f"{s}\t{i % 2}\tshop" for i, s in enumerate(sentences(30, 8))]
    write_table(data / "sentiment" / "train.tsv", ["sentence\tlabel\tsource", *reviews])
    for name in ("nextsentence", "openstax", "codah", "copa"):
        for part in ("train", "test"):
            write_choices(data / "mc" / f"{name}_{part}.jsonl", 2 if name == "copa" else 4)
    return data


def write_table(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_choices(path: Path, number: int) -> None:
    """Rows whose right choice is the first, the second, ... in turn."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "id": f"{path.stem}-{i}",
            "source": "made up",
            "context": sentences(1, i)[0],
            "question": "What follows?" if i % 2 else "",
            "choices": sentences(number, 50 + i),
            "label": i % number,
        }
        for i in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_questions(path: Path, seed: int) -> None:
    """Ten passages of three sentences, two questions each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(10):
        passage = " ".join(sentences(3, 100 * seed + number))
        for verb in ("sees", "finds"):
            answer = passage.split()[number % 5]
            row = {
                "id": f"{seed}-{number}-{verb}",
                "source": "made up",
                "context": passage,
                "question": f"Who {verb} the moon?",
                "answers": [{"text": answer, "answer_start": passage.index(answer)}],
            }
            rows.append(json.dumps(row) + "\n")
    path.write_text("".join(rows), encoding="utf-8")


def write_names(path: Path) -> None:
    """Six sentences; "aunt river" is a person, "moon" a place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tags = {"aunt": "B-PER", "river": "I-PER", "moon": "B-LOC"}
    words = ["My", "aunt", "river", "likes", "the", "moon", "."]
    sentence = "".join(f"{word}\t{tags.get(word, 'O')}\n" for word in words)
    path.write_text("\n".join([sentence] * 6), encoding="utf-8")


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A tiny encoder without heads, with a vocabulary made from the same kind of text."""
    folder = tmp_path / "tiny-uncased"
    folder.mkdir()
    vocabulary = build_vocabulary(sentences(200, 5), size=160)
    write_vocabulary(vocabulary, folder)
    torch.manual_seed(0)
    config = BertConfig(
        len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture
def tokenizer(encoder: Path) -> BertTokenizer:
    return BertTokenizer.from_pretrained(encoder)


def settings(
    data: Path, work: Path, encoder: Path | str, steps: int = 4, **more: Any
) -> StageSettings:
    """A stage of a few steps."""
    trainer = StageTraining(Budget(steps=steps), 5e-3, 2)
    return StageSettings(data, work, str(encoder), trainer, **more)


def quiet(line: str) -> None:
    """Say nothing."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
