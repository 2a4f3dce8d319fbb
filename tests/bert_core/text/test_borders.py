"""Words and characters are those of Unicode, whatever tokenizer cuts the text."""

import pytest
import regex

from bert_core.text.borders import whole_characters, word_numbers
from tests.conftest import NASTY


def cut(text: str) -> list[str]:
    """Return the words of a text in which every code point but a space is a piece."""
    spans = [(at, at + 1) for at, char in enumerate(text) if not char.isspace()]
    found: dict[int, str] = {}
    for (start, end), number in zip(spans, word_numbers(text, spans), strict=True):
        found[number] = found.get(number, "") + text[start:end]
    return list(found.values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Paris.", "Paris ."),
        ("„Paris“ (Paris) «Paris»", "„ Paris “ ( Paris ) « Paris »"),
        ("don't Ann’s well-known", "don ' t Ann ’ s well - known"),
        ("U.S. 3.14 1,5 €5 25°", "U . S . 3 . 14 1 , 5 € 5 25 °"),
        ("@handle #tag a_b", "@ handle # tag a _ b"),
        ("naïve nai\u0308ve co\u00adop", "naïve nai\u0308ve co\u00adop"),
        ("नमस्ते। क्या", "नमस्ते । क्या"),
        ("باريس، می\u200cخواهم؟", "باريس ، می\u200cخواهم ؟"),
        ("Москва, Αθήνα· 2nd m²", "Москва , Αθήνα · 2nd m²"),
        ("北京。「東京」タワー", "北 京 。 「 東 京 」 タ ワ ー"),
        ("2024年iPhone手机", "2024 年 iPhone 手 机"),
        ("파리는 3월", "파 리 는 3 월"),
        ("ไทย ລາວ ខ្មែរ"[:3], "ไ ท ย"),
        ("a👍b 👍🏽 🇩🇪🇫🇷", "a 👍 b 👍🏽 🇩🇪 🇫🇷"),
        ("👩\u200d👩\u200d👧❤\ufe0f3\ufe0f\u20e3", "👩\u200d👩\u200d👧 ❤\ufe0f 3\ufe0f\u20e3"),
    ],
)
def test_punctuation_is_no_part_of_a_word_and_letters_are(text: str, words: str) -> None:
    assert cut(text) == words.split(" ")


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_a_word_is_never_longer_than_between_the_borders_of_unicode(text: str) -> None:
    borders = {match.start() for match in regex.finditer(r"(?w)\b", text)}
    spans = [(at, at + 1) for at, char in enumerate(text) if regex.match(r"[\p{L}\p{N}]", char)]
    numbers = word_numbers(text, spans)
    for at, (start, _) in enumerate(spans[1:], start=1):
        if start in borders:
            assert numbers[at] > numbers[at - 1], text[start - 5 : start + 5]


@pytest.mark.parametrize(
    ("text", "span", "whole"),
    [
        ("Malmo\u0308", (0, 5), "Malmo\u0308"),
        ("a❤\ufe0f", (1, 2), "❤\ufe0f"),
        ("🇩🇪🇫🇷", (1, 2), "🇩🇪"),
        ("👩\u200d👧 x", (2, 3), "👩\u200d👧"),
        ("\u1112\u1161\u11ab\u1100\u116e", (1, 4), "\u1112\u1161\u11ab\u1100\u116e"),
        ("นี่", (1, 2), "นี่"),
        ("a\u0308b", (2, 2), ""),
    ],
)
def test_a_span_holds_whole_characters(text: str, span: tuple[int, int], whole: str) -> None:
    ((start, end),) = whole_characters(text, [span])
    assert text[start:end] == whole


def test_the_mark_of_a_space_belongs_to_the_word_unless_pieces_are_words() -> None:
    assert word_numbers("a xyz", [(0, 1), (2, 2), (2, 3), (3, 5)]) == [0, 1, 1, 1]
    assert word_numbers("a 北京", [(0, 1), (2, 2), (2, 3), (3, 4)]) == [0, 1, 2, 3]
