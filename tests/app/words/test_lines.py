"""Lines, widths and directions of a drawn text."""

from itertools import pairwise

import pytest

from app.words.lines import Typeset, printed_width

HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, abc def \u05d8\u05d5\u05d1"


def drawn(text: str, lines: Typeset) -> list[str]:
    return [text[box.start : box.end] for box in lines.boxes]


@pytest.mark.parametrize("width", [40, 200, 760])
@pytest.mark.parametrize("words", [True, False])
def test_every_character_but_spaces_is_drawn_once_inside_the_lines(
    nasty: str, width: int, words: bool
) -> None:
    text = f"{nasty} the cat sat\non the   mat"
    lines = Typeset(text, width, 10, [3, 7], words=words)
    covered = [place for box in lines.boxes for place in range(box.start, box.end)]
    assert len(covered) == len(set(covered))
    assert all(text[place] in " \n" for place in set(range(len(text))) - set(covered))
    for box in lines.boxes:
        assert box.right - box.left == pytest.approx(lines.measure(box.start, box.end))
        one_sign = text[box.start : box.end].isspace() or box.end - box.start == 1
        assert box.left >= -0.01 and (box.right <= width + 0.01 or one_sign)
        assert not any(box.start < cut < box.end for cut in (3, 7))


def test_a_line_ends_before_the_word_that_does_not_fit() -> None:
    text = "aaaa bbbb cccc"
    width = printed_width("aaaa bbbb", 10)
    lines = Typeset(text, width + 0.1, 10)
    assert [(box.line, text[box.start : box.end].strip()) for box in lines.boxes] == [
        (0, "aaaa"),
        (0, ""),
        (0, "bbbb"),
        (1, "cccc"),
    ]
    narrower = Typeset(text, width - 0.1, 10).boxes
    assert [box.line for box in narrower if text[box.start] == "b"] == [1]


def test_punctuation_stays_with_its_word_when_a_mark_ends_before_it() -> None:
    text = "aaaa Lisbon; bbbb"
    cut = text.index(";")
    for width in range(20, 140, 3):
        lines = Typeset(text, width, 10, [5, cut])
        [name] = [box for box in lines.boxes if box.end == cut] or [None]
        [sign] = [box for box in lines.boxes if box.start == cut]
        if width > printed_width("Lisbon;", 10) + 0.01:
            assert name is not None and name.line == sign.line
            assert name.right == pytest.approx(sign.left)


def test_boxes_of_a_stretch_meet_its_neighbours() -> None:
    text = "The cat sat on the mat and slept"
    lines = Typeset(text, 120, 10)
    for start in range(len(text)):
        for end in range(start + 1, len(text)):
            widths = sum(box.right - box.left for box in lines.where(start, end))
            hanging = [n for n in range(start, end) if not lines.where(n, n + 1)]
            wide = lines.measure(start, end) - sum(lines.measure(n, n + 1) for n in hanging)
            assert widths == pytest.approx(wide)


def test_right_to_left_lines_begin_at_the_right_and_keep_english_in_order() -> None:
    lines = Typeset(HEBREW, 400, 10)
    place = {HEBREW[box.start : box.end]: box for box in lines.boxes if box.end - box.start > 1}
    first, second = HEBREW.replace(",", "").split()[:2]
    assert place[first].right == pytest.approx(400)
    assert place[second].right < place[first].left
    assert place["abc"].right < place["def"].left < place[second].left
    assert place[HEBREW.split()[-1]].right < place["abc"].left
    assert place[first].turned and not place["abc"].turned


def test_right_to_left_words_in_an_english_line_are_turned_among_themselves() -> None:
    text = f"he said {HEBREW[:9]} twice"
    lines = Typeset(text, 400, 10)
    order = [text[b.start : b.end].strip() for b in sorted(lines.boxes, key=lambda b: b.left)]
    one, two = HEBREW[:9].split()
    assert [word for word in order if word] == ["he", "said", two, one, "twice"]
    boxes = sorted(lines.boxes, key=lambda box: box.left)
    assert all(a.right == pytest.approx(b.left) for a, b in pairwise(boxes))


def test_punctuation_around_a_turned_word_belongs_to_the_line() -> None:
    text = f"in ({HEBREW[:4]}). 3.5 end"
    lines = Typeset(text, 400, 10)
    order = [text[b.start : b.end].strip() for b in sorted(lines.boxes, key=lambda b: b.left)]
    assert [sign for sign in order if sign] == ["in", "(", HEBREW[:4], ").", "3.5", "end"]


def test_a_part_of_a_turned_word_is_measured_from_its_right() -> None:
    lines = Typeset(HEBREW, 400, 10)
    [part] = lines.where(0, 1)
    assert part.right == pytest.approx(400)
    assert part.left == pytest.approx(400 - lines.measure(0, 1))


def test_a_sign_of_several_characters_has_one_width() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert Typeset(f"a{family}b", 400, 10).measure(1, 1 + len(family)) == 10
    assert Typeset("e\u0301", 400, 10).measure(0, 2) == Typeset("e", 400, 10).measure(0, 1)
