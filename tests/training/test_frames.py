"""What frames produce: balanced, rightly tagged, never near what measures it."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bert_core import BertTokenizer
from bert_core.bundled import bundled_folder
from training.frames import everyday, feelings, neighbours, people
from training.frames.filling import slots, table
from training.named import as_read
from training.rows import TAGS
from training.unseen import evaluation_lines
from training.written import reading
from training.written.near import is_near


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a few family names, some of them rubbish."""
    names = tmp_path / "names" / "surnames.tsv"
    names.parent.mkdir()
    rows = ["language\tname", "Irish\tO'Hara", "Irish\tNolan", "German\tBauer", "Italian\tRossi"]
    names.write_text("\n".join([*rows, "Russian\tTo The First Page", ""]), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def drawer() -> everyday.Everyday:
    tokenizer = BertTokenizer.from_pretrained(bundled_folder("explorer-mini-uncased"))
    return everyday.Everyday(tokenizer, evaluation_lines(tokenizer))


# -- sentiment -------------------------------------------------------------------------------------


def test_praise_and_blame_are_as_frequent_with_a_negation_as_without() -> None:
    rows = feelings.sentences(4000, 1)
    assert rows == feelings.sentences(4000, 1) != feelings.sentences(4000, 2)
    for part in (rows[::2], rows[1::2]):
        assert np.mean([float(row.label) for row in part]) == pytest.approx(0.5, abs=0.03)
    assert len({row.text for row in rows}) > 3500
    assert not any(is_near(row.text) or "{" in row.text for row in rows)


def test_good_and_bad_words_alone_do_not_tell_praise_from_blame() -> None:
    """A count of good and bad words is right about the plain sentences and wrong otherwise."""
    good, bad = set(), set()
    for topic in table("feelings")["topic"]:
        for group in (topic, *topic["group"]):
            good.update(group["good"])
            bad.update(group["bad"])
    right = [0, 0]
    for number, row in enumerate(feelings.sentences(4000, 3)):
        words = set(re.findall(r"[\w-]+", row.text.lower()))
        said = len(words & good) - len(words & bad)
        if said:
            right[number % 2] += 1 if (said > 0) == bool(row.label) else -1
    assert right[0] < 0 < right[1]


def test_a_mirrored_frame_praises_where_the_other_blames() -> None:
    frame = feelings.Frame(1, "Not {bad}, {good2}.", 0, "{bad}.")
    assert frame.mirrored() == feelings.Frame(0, "Not {good}, {bad2}.", 1, "{good}.")
    assert len({frame.text for frame in feelings.frames()}) >= 150


# -- next sentence ---------------------------------------------------------------------------------


def test_sentences_that_follow_share_no_word_and_half_of_the_others_do() -> None:
    rows = neighbours.pairs(3000, 1)
    shared = [
        [bool(neighbours.stems(row.text) & neighbours.stems(row.text_pair or "")) for row in rows
         if row.label == label]
        for label in (neighbours.FOLLOWS, neighbours.DOES_NOT)
    ]  # fmt: skip
    assert len(shared[0]) == len(shared[1])
    assert not any(shared[0])
    assert 0.4 < np.mean(shared[1]) < 0.7
    assert not any(is_near(row.text) or is_near(row.text_pair or "") for row in rows)


def test_a_pronoun_never_comes_before_the_person_it_means() -> None:
    pronouns = re.compile(r"\b(he|she|his|her|him)\b", re.IGNORECASE)
    for row in neighbours.pairs(2000, 4):
        if row.label == neighbours.FOLLOWS and pronouns.match(row.text_pair or ""):
            assert row.text[0].isupper()
            assert "{" not in row.text + (row.text_pair or "")


# -- names -----------------------------------------------------------------------------------------


def test_tags_cover_exactly_the_names(data: Path) -> None:
    for line, row in zip(people.lines(data, 2000, 1), people.sentences(data, 2000, 1), strict=True):
        names = re.findall(r"\[(?:PER|LOC|ORG) ([^\]]+)\]", line)
        found: list[str] = []
        for word, tag in zip(row.words, row.tags, strict=True):
            if TAGS[tag].startswith("B-"):
                found.append("")
            if tag:
                found[-1] += word
        assert [name.rstrip(".") for name in found] == [
            name.replace(" ", "").rstrip(".") for name in names
        ]
        assert row == as_read(row)


def test_a_tenth_of_the_sentences_has_no_name_and_titles_are_never_inside(data: Path) -> None:
    lines = people.lines(data, 3000, 2)
    assert np.mean(["[" not in line for line in lines]) == pytest.approx(0.1, abs=0.03)
    titles = "|".join(re.escape(title) for title in table("names")["title"].split("|"))
    assert not any(re.search(rf"\[PER (?:{titles}) ", line) for line in lines)
    assert any(re.search(r"(?:Dr\.|Prof\.|Mrs\.) \[PER ", line) for line in lines)


def test_every_culture_is_drawn_and_no_name_of_the_evaluation(data: Path) -> None:
    lines = people.lines(data, 6000, 3)
    names = re.findall(r"\[PER ([^\]]+)\]", " ".join(lines))
    left_out = people.evaluated_names()
    assert not any(name.lower() in left_out for name in names)
    assert "Rossi" in " ".join(names)
    assert "First Page" not in " ".join(names)
    for culture in people.cultures(data):
        assert any(set(name.split()) & set(culture.first) for name in names)
    assert not any(is_near(reading.unbracketed(line)) for line in lines)


# -- everyday --------------------------------------------------------------------------------------


def test_no_fact_and_no_frame_that_is_kept_back_is_drawn(drawer: everyday.Everyday) -> None:
    source = random.Random(1)
    drawn = {re.sub(r"[\[\]]", "", drawer.text(source)).lower() for _ in range(8000)}
    for kept in everyday.kept_back_gaps().values():
        for gaps in kept.values():
            for sentence, good in gaps:
                for word in good:
                    assert sentence.replace(everyday.MASK, word).lower() not in drawn
    assert not any(map(is_near, drawn))


def test_no_sentence_comes_within_a_word_of_the_written_orders_and_sums(
    drawer: everyday.Everyday,
) -> None:
    asked = {
        key
        for gaps in everyday.order_gaps().values()
        for sentence, good in gaps
        for word in good
        for key in blanked(sentence.replace(everyday.MASK, word))
    }
    source = random.Random(2)
    for _ in range(6000):
        assert asked.isdisjoint(blanked(drawer.text(source)))


def blanked(text: str) -> set[tuple[str, ...]]:
    """Return the words of a text with each in turn left blank."""
    words = re.findall(r"\w+", text.lower())
    return {(*words[:place], "", *words[place + 1 :]) for place in range(len(words))}


def test_about_a_quarter_of_the_facts_and_frames_is_kept_back() -> None:
    found = [kind for kind in everyday.kinds() if any(kind.kept)]
    kept = np.concatenate([kind.kept for kind in found])
    assert len(kept) > 1500
    assert 0.15 < kept.mean() < 0.3
    for kind in everyday.kinds():
        assert 0 < len(kind.kept_frames()) <= len(kind.frames) / 4
        assert {slot for frame in kind.frames for slot in slots(frame)} <= {
            slot for row in kind.rows for slot in row
        }


def test_sums_are_right_and_a_pair_is_kept_back_from_all_of_them() -> None:
    number = {word: n for n, word in enumerate(table("orders")["sums"]["words"].split("|"))}
    for kind in everyday.kinds():
        if kind.name in everyday.SUMS:
            for row, kept in zip(kind.rows, kind.kept, strict=True):
                a, b, c = (number[row[slot]] for slot in "abc")
                assert a + b == c
                assert kept is everyday.is_kept_pair(a, b) is everyday.is_kept_pair(b, a)


def test_a_gap_accepts_every_word_that_the_facts_give_for_it() -> None:
    gaps = dict(gap for kept in everyday.kept_back_gaps().values()
                for each in kept.values() for gap in each)  # fmt: skip
    assert all(sentence.count(everyday.MASK) == 1 and good for sentence, good in gaps.items())
    parts = next(kind for kind in everyday.kinds() if kind.name == "parts")
    wheel = next(row for row in parts.rows if row["s"] == "wheel")
    assert {"car", "bicycle"} <= parts.good("A {s} is part of a {o}.", wheel, "o")


def test_what_is_hidden_is_one_word_in_its_place(drawer: everyday.Everyday) -> None:
    tokenizer = BertTokenizer.from_pretrained(bundled_folder("explorer-mini-uncased"))
    source = np.random.default_rng(7)
    again = np.random.default_rng(7)
    for _ in range(300):
        ids, places = drawer.draw(source)
        text = drawer.text(random.Random(int(again.integers(2**62))))
        before, hidden, after = re.split(r"[\[\]]", text)
        assert (
            ids == tokenizer.encode_ids([f"{before}{hidden}{after}"], add_special_tokens=False)[0]
        )
        assert [ids[place] for place in places] == tokenizer.encode_ids(
            [hidden], add_special_tokens=False
        )[0]


def test_he_and_she_are_said_equally_often_of_the_same_people(drawer: everyday.Everyday) -> None:
    source = random.Random(5)
    counts: Counter[str] = Counter()
    while sum(counts.values()) < 2000:
        text = everyday._at_work(source)
        counts["she" if re.search(r"\b(she|her|herself)\b", text, re.IGNORECASE) else "he"] += 1
    assert counts["he"] == pytest.approx(1000, abs=80)


def test_no_saying_is_famous_or_asked() -> None:
    for name in ("sayings", "said", "occupations"):
        assert len(everyday.all_lines(name)) >= 50
        assert not any(is_near(re.sub(r"[\[\]]", "", line)) for line in everyday.all_lines(name))
