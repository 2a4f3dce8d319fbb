"""Words, whole characters and gaps are the same idea for every tokenizer and every task."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
import torch
import transformers

from app.engine.models import Engine
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_together import fill_mask_together
from app.features.why.task import why
from bert_core import (
    BertConfig,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertTokenizer,
    FamilyTokenizer,
    load_tokenizer,
)
from bert_core.reading.entities import find_entities
from bert_core.reading.passage import Rules, answer_question
from bert_core.text.tokenizer_class import OF_FAMILY
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
TEXTS = (
    "安吉拉·默克尔住在北京市。",
    "アンゲラ・メルケルは東京都に住んでいます。",
    "กรุงเทพมหานครเป็นเมืองหลวงของไทย",
    "អង់គ្លេសនៅភ្នំពេញ",
    "ຫຼວງພະບາງຢູ່ລາວ",
    "ရန်ကုန်မြို့",
    "ལྷ་ས་",
    "파리는 프랑스의 수도이다.",
    "他在 Paris 住。",
    "Angela Merkel lives in Paris (Paris) or «Paris» or The pizza is a pizza.",
)
NAMES = ("bert", "distilbert", "electra", "roberta", "xlm-roberta", "camembert", "albert")
Tokenizer = BertTokenizer | FamilyTokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The tokenizer of a family, made for texts in many scripts, with a BERT of every head."""

    @cache
    def made(family: str) -> Path:
        place = tmp_path_factory.mktemp(family)
        texts = [*TEXTS * 30, "Paris pizza Paris pizza"] * 2
        if family in ("bert", "distilbert", "electra"):
            letters = sorted({char for text in TEXTS for char in text if not char.isspace()})
            pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, "Paris", "pizza"]
            pieces += [f"##{char}" for char in letters]
            (place / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
            told = '{"do_lower_case": false, "tokenizer_class": "BertTokenizer"}'
            (place / "tokenizer_config.json").write_text(told, encoding="utf-8")
        elif family == "roberta":
            merges_folder(place, texts, 420)
        else:
            size = 260 if family != "albert" else 255
            sentencepiece_folder(place, family, texts, size, character_coverage=1.0)
        return place

    return made


def save(model: Any, folder: Path, to: Path) -> Path:
    """Save a BERT with the tokenizer of a folder, which its class names."""
    model.save_pretrained(to)
    own = folder / "config.json"
    told = json.loads(own.read_text()) if own.exists() else {}
    for path in folder.iterdir():
        if path.name != "config.json":
            (to / path.name).write_bytes(path.read_bytes())
    if family := told.get("model_type"):
        named = {"tokenizer_class": OF_FAMILY[family].tokenizer_class}
        (to / "tokenizer_config.json").write_text(json.dumps(named))
        config = json.loads((to / "config.json").read_text())
        config.pop("model_type")
        (to / "config.json").write_text(json.dumps(config))
    return to


def tiny(tokenizer: Tokenizer, seed: int = 3, **more: Any) -> BertConfig:
    torch.manual_seed(seed)
    return BertConfig(len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                      intermediate_size=37, initializer_range=0.6, **more)  # fmt: skip


def simple(pieces: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Group labelled pieces as `transformers` does with aggregation_strategy="simple"."""
    group = transformers.TokenClassificationPipeline.group_entities
    helper = transformers.TokenClassificationPipeline.__new__(
        transformers.TokenClassificationPipeline
    )
    helper.tokenizer = type("T", (), {"convert_tokens_to_string": lambda _, x: " ".join(x)})()
    rows = [
        {"entity": label, "score": 1.0, "index": at, "word": "", "start": start, "end": end}
        for at, (label, start, end) in enumerate(pieces)
    ]
    return [
        (each["entity_group"], each["start"], each["end"])
        for each in group(helper, rows)
        if each["entity_group"] != "O"
    ]


@pytest.mark.parametrize("how", ["first", "average", "max"])
@pytest.mark.parametrize("family", NAMES)
def test_names_in_scripts_without_spaces_are_those_of_simple(
    folder: Callable[[str], Path], family: str, how: Any
) -> None:
    tokenizer = load_tokenizer(str(folder(family)))
    model = BertForTokenClassification(tiny(tokenizer, id2label=dict(enumerate(LABELS)))).eval()
    several = 0
    for text in TEXTS[:8]:
        encoding = tokenizer.encode(text)
        with torch.no_grad():
            best = model(torch.tensor([encoding.input_ids]))[0, 1:-1].argmax(-1).tolist()
        pieces = [(LABELS[n], *span) for n, span in zip(best, encoding.spans[1:-1], strict=True)]
        wanted = []  # of those that share a character, the later one has the rest of its own
        for label, start, end in simple(pieces):
            start = max(start, wanted[-1][2] if wanted else 0)
            wanted += [(label, start, end)] if start < end else []
        found = find_entities(model, tokenizer, text, how)
        assert [(each.kind, each.start, each.end) for each in found] == wanted, text
        several += len(found) > 1
    assert several > 3


def reading(tokenizer: Tokenizer, passage: str, answer: tuple[int, int]) -> Any:
    """Return the best answer where the model marks the pieces of some characters."""
    model = BertForQuestionAnswering(tiny(tokenizer)).eval()
    found = answer_question(model, tokenizer, passage, "Paris?").reading
    first = next(n for n, (start, _) in enumerate(found.spans) if start == answer[0])
    last = max(n for n, (_, end) in enumerate(found.spans) if end == answer[1])
    windows = []
    for each in found.windows:
        places = np.arange(len(each.start)) - each.offset
        windows.append(replace(each, start=9.0 * (places == first), end=9.0 * (places == last)))
    return replace(found, windows=tuple(windows)).answers(rules=Rules())


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        ("安吉拉住在北京市。", "北京市"),
        ("東京都に住んでいます。", "東京都"),
        ("ไทยเป็นเมือง", "ไทย"),
        ("파리는 수도이다.", "파리"),
        ("Merkel lives in (Paris).", "Paris"),
        ("Merkel lives in Paris's.", "Paris"),
    ],
)
@pytest.mark.parametrize("family", NAMES)
def test_an_answer_is_a_word_of_any_script(
    folder: Callable[[str], Path], family: str, passage: str, answer: str
) -> None:
    tokenizer = load_tokenizer(str(folder(family)))
    start = passage.index(answer)
    stop = start + len(answer)
    spans = tokenizer.encode(passage).spans
    starts, ends = {span[0] for span in spans[1:-1]}, {span[1] for span in spans[1:-1]}
    if start in starts and stop in ends:  # no piece crosses the ends
        assert reading(tokenizer, passage, (start, stop)).text == answer
    else:
        assert family in ("roberta", "xlm-roberta", "camembert", "albert")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("city", ["Malmo\u0308", "Pari\u0301s", "👩\u200d👧", "❤\ufe0f", "🇩🇪"])
@pytest.mark.parametrize("family", NAMES)
def test_no_answer_ends_inside_a_character(
    folder: Callable[[str], Path], family: str, city: str, whole: bool
) -> None:
    tokenizer = load_tokenizer(str(folder(family)))
    if isinstance(tokenizer, BertTokenizer):
        tokenizer = BertTokenizer(list(tokenizer.vocab), do_lower_case=True)
    model = BertForQuestionAnswering(tiny(tokenizer)).eval()
    text = f"{city} is {city}."
    borders = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    found = answer_question(model, tokenizer, text, "is", rules=Rules(whole_words=whole))
    ends = {end for each in found.best(50) for p in each.places for end in (p.start, p.end)}
    assert ends <= borders and len(ends) > 3


def test_a_gap_of_several_pieces_begins_with_a_space_only_if_the_text_has_one(
    folder: Callable[[str], Path], tmp_path: Path
) -> None:
    tokenizer = load_tokenizer(str(folder("roberta")))
    engine = Engine(str(save(BertForPreTraining(tiny(tokenizer)), folder("roberta"), tmp_path)))
    for text, spaced in (("[MASK] is", False), ("a ([MASK])", False), ("a [MASK]", True)):
        found = fill_mask_together(engine, text, most=2).fillings
        firsts = {each.pieces[0][0].startswith("▁") for each in found if len(each.pieces[0]) > 1}
        assert firsts <= {spaced}
    for text, name in (("[MASK] is", "Paris"), ("is [MASK]", "ĠParis")):
        (slot,) = fill_mask(engine, text, word="Paris").slots
        assert slot.named.id == tokenizer.vocab[name]
        asked = why(engine, text, of="fill_mask", target="Paris", check=False)
        assert asked.explained.answer == slot.named.token
