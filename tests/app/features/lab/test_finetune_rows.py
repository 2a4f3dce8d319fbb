"""Labelled rows: what is read, how it is divided, and that every bad line is named."""

import pytest

from app.features.lab.result_finetune import TEXTS, WORDS
from app.features.lab.task_finetune_rows import MOST, READY, read_rows, ready
from bert_core.errors import InputError

GOOD = "".join(f"the cat sat {n}\tcat\nthe dog ran {n}\tdog\n" for n in range(10))
TAGS = "".join(f"the cat sat {n}\tO B I O\n" for n in range(10))


@pytest.mark.parametrize(("name", "kind"), READY.items())
def test_the_ready_made_sets_have_forty_rows(name: str, kind: str) -> None:
    rows = read_rows(ready(kind), kind)
    assert len(rows.train) + len(rows.held_out) == 40
    assert 12 <= len(rows.held_out) <= 14
    assert len(rows.labels) >= 4
    assert len({row.text for row in rows.train} & {row.text for row in rows.held_out}) == 0


def test_a_third_of_every_label_is_held_out_always_the_same() -> None:
    rows = read_rows(GOOD, TEXTS)
    assert (rows.labels, len(rows.train), len(rows.held_out)) == (("cat", "dog"), 14, 6)
    assert [row.labels[0] for row in rows.held_out].count("cat") == 3
    assert rows.guess == 0.5
    assert read_rows(GOOD, TEXTS) == rows


def test_tags_belong_to_words() -> None:
    rows = read_rows("  two   cups \tB I\n" + TAGS, WORDS)
    assert rows.labels == ("B", "I", "O")
    first = next(row for row in (*rows.train, *rows.held_out) if row.line == 1)
    assert (first.text, first.labels) == ("two cups", ("B", "I"))


def test_blank_lines_are_ignored_but_counted() -> None:
    with pytest.raises(InputError, match="Line 23 has no tab: “no tab here”"):
        read_rows(f"\n{GOOD}\r\nno tab here\n", TEXTS)


@pytest.mark.parametrize(
    ("line", "kind", "says"),
    [
        ("a text", TEXTS, "Line 21 has no tab: “a text”"),
        ("\tcat", TEXTS, "Line 21 has no text before the tab"),
        ("a text\t ", TEXTS, "Line 21 has no label after the tab"),
        ("a text\tcat\tdog", TEXTS, "Line 21 has more than one tab"),
        ("the cat sat 3\tcat", TEXTS, "Line 21 repeats the text of line 7: “the cat sat 3”"),
        ("a text\t" + "x" * 50, TEXTS, "label of line 21 has 50 characters; expected at most 40"),
        ("a text\tnew", TEXTS, "label “new” of line 21 occurs only once"),
        ("one two\tO", WORDS, "Line 11 has 2 words and 1 tag"),
        ("one two\t", WORDS, "Line 11 has no label"),
    ],
)
def test_a_bad_line_is_named(line: str, kind: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_rows((GOOD if kind == TEXTS else TAGS) + line, kind)


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("", TEXTS, "Found 0 rows; expected at least 8"),
        ("a\tb\n" * 3, TEXTS, "Found 3 rows"),
        ("".join(f"text {n}\tsame\n" for n in range(9)), TEXTS, "1 different label; expected 2"),
        ("".join(f"text {n}\t{n}\n" for n in range(40)), TEXTS, "40 different labels"),
        ("".join(f"text {n}\ta\n" for n in range(MOST + 1)), TEXTS, "at most 400 are read"),
        ("".join(f"text {n}\tO O\n" for n in range(9)), WORDS, "1 different label"),
    ],
)
def test_rows_that_teach_nothing_are_refused(text: str, kind: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_rows(text, kind)


def test_a_label_may_be_any_text() -> None:
    rows = read_rows(GOOD.replace("\tcat", "\t<b>a cat</b>"), TEXTS)
    assert rows.labels == ("<b>a cat</b>", "dog")
