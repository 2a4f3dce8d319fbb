"""Words, whole characters and gaps are the same idea for every tokenizer and every task."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
import torch

from bert_core import (
    BertConfig,
    BertForQuestionAnswering,
    BertTokenizer,
    FamilyTokenizer,
    load_tokenizer,
)
from bert_core.reading.passage import Rules, answer_question
from tests.bert_core.text.family_folders import merges_folder, sentencepiece_folder

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


def tiny(tokenizer: Tokenizer, seed: int = 3, **more: Any) -> BertConfig:
    torch.manual_seed(seed)
    return BertConfig(len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                      intermediate_size=37, initializer_range=0.6, **more)  # fmt: skip


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
