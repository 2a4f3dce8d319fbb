"""Question answering's words and pictures: the right marks, the task's own numbers."""

import re
from dataclasses import replace
from html import unescape

import pytest

from app.engine.models import Engine
from app.features.qa import view
from app.features.qa import view_charts as charts
from app.features.qa.result import QaResult
from app.features.qa.task import qa
from app.words.format import percent
from app.words.html import join
from app.words.pictures import listed
from tests.drawings import elements, words
from tests.readers import by_token, planted
from tests.snippets import ran

PASSAGE = "The dog saw a dog. The  CAT sat by the river bank."
BADGES = re.compile(r'<span class="bx-qa-badge">.*?</span>')


@pytest.fixture
def result(tiny_engine: Engine) -> QaResult:
    rule = by_token({"dog": 5.0, "cat": 4.5}, {"dog": 5.0, "bank": 4.0, "cat": 3.0}, null=1.0)
    return qa(planted(tiny_engine, rule), PASSAGE, "who <b>?")


def marks(markup: object) -> list[tuple[str, str]]:
    """Text and label of every mark."""
    found = re.findall(
        r'<mark[^>]*>(.*?)<span class="bx-qa-badge">(.*?)</span></mark>', str(markup)
    )
    return [(words(text), unescape(label)) for text, label in found]


def explained(result: QaResult) -> str:
    return words(join(*view.explanation(result)))


def points(markup: object, name: str) -> list[tuple[float, float]]:
    """The corners of a line."""
    (line,) = re.findall(rf'<polyline points="([^"]*)" class="bx-qa-{name}"', str(markup))
    return [tuple(map(float, point.split(","))) for point in line.split()]


def test_the_passage_keeps_every_character_and_marks_the_right_places(result: QaResult) -> None:
    passage = view.passage(result)
    answer, same, other = marks(passage)
    assert (answer, same) == (("dog", "answer"), ("dog", "same words"))
    assert result.answers[int(other[1]) - 1].text == other[0]
    assert words(BADGES.sub("", str(passage))) == PASSAGE
    assert str(passage).count("data-here") == 1
    places = [PASSAGE.index(text) for text, _ in (answer, other)]
    assert places == sorted(places) and len("".join(t for t, _ in marks(passage))) < len(PASSAGE)
    assert "further answers" in explained(result) and "“Same words” marks" in explained(result)


def test_every_word_of_the_passage_carries_the_keys_of_its_pieces(tiny_engine: Engine) -> None:
    result = qa(tiny_engine, "The cat, playing.", "dog sat")
    found = re.findall(
        r'<span data-at="([^"]*)" tabindex="(-?\d)">(.*?)</span>', str(view.passage(result))
    )
    # [CLS] dog sat [SEP] the cat , play ##ing .
    assert found == [("0.4", "0", "The"), ("0.5", "-1", "cat"), ("0.6", "-1", ","),
                     ("0.7 0.8", "-1", "playing"), ("0.9", "-1", ".")]  # fmt: skip


def test_the_answer_turns_with_the_threshold(result: QaResult) -> None:
    assert result.no_answer_score == -8.0
    for threshold, says, label, look in (
        (-8.0, "“dog”", "answer", "bx-qa-best"),
        (-8.5, "none in this passage.", "not accepted", "bx-qa-guess"),
    ):
        turned = replace(result, threshold=threshold)
        screen = view.screen(turned, "model")
        assert words(screen.answer).split("The model’s answer: ")[1].startswith(says)
        assert screen.headline.startswith(f"The model’s answer: {says[:4]}")
        assert marks(view.passage(turned))[0][1] == label
        assert re.search(r'<mark class="bx-qa-mark (.*?)"', str(view.passage(turned)))[1] == look
        compared = "not above" if label == "answer" else ", above"
        assert f"{compared} the threshold −{abs(threshold)}" in explained(turned)


@pytest.mark.parametrize(
    ("starts", "ends", "says"),
    [
        ({"cat": 5.0}, {"bank": 5.0}, ""),
        (
            {"cat": 5.0, "sat": 4.9, "river": 4.8},
            {"bank": 5.0, "river": 5.0, "the": 4.8},
            "The place is clearer",
        ),
        (dict.fromkeys(("cat", "dog", "saw", "by"), 5.0), {"cat": 5.0, "dog": 5.0, "saw": 5.0,
         "by": 5.0}, "A weak guess"),
    ],
)  # fmt: skip
def test_the_headline_says_when_place_or_ends_are_open(
    tiny_engine: Engine, starts: dict, ends: dict, says: str
) -> None:
    passage = "The cat. By. Saw. The dog sat by the river bank."
    result = qa(planted(tiny_engine, by_token(starts, ends)), passage, "who")
    assert says in view.headline(result)
    assert bool(says) == ("overlapping" in view.headline(result))
    assert "overlapping" not in view.headline(replace(result, threshold=-15.0))


def test_a_long_passage_scrolls_in_a_box_that_starts_at_the_answer(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    passage = "the cat sat. " * 90 + "River Bank " + "the dog. " * 90
    result = qa(planted(tiny_engine, rule), passage, "who")
    box = str(view.passage(result))
    assert "bx-scroll" in box
    assert "bx-scroll" not in str(view.passage(result, whole=True)), "a file has no window"
    assert words(re.search(r"<mark[^>]*data-here[^>]*>(.*?)</mark>", box)[1]) == "River Bankanswer"
    assert words(BADGES.sub("", box)) == passage
    assert 200 < box.count("data-at") <= 301, "only words near the answer are linked"
    read = result.coverage
    first, behind = read.windows[read.answer_window]
    said = words(view.windows(result))
    assert f"{read.pieces:,} pieces were read in {len(read.windows)}" in said
    assert f"pieces {first:,} to {behind - 1:,}" in said, "from 0, the last one included"


def test_a_word_that_occurs_everywhere_is_marked_at_its_best_places(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"cat": 5.0})
    result = qa(planted(tiny_engine, rule, max_length=512), "cat " * 150, "who", longest=1)
    assert result.answers[0].count == 150
    assert len(marks(view.passage(result))) == 100 == len(charts.answers_table(result)) - 1
    assert "Of the answer’s 150 places, the best 100 are marked" in explained(result)


def test_bars_and_table_have_every_answer_and_no_answer(result: QaResult) -> None:
    picture = charts.answers(result)
    best = elements(picture.wide, "rect", "bx-svg-mark")
    assert len(best) == 1, "only the answer is marked"
    shares = [*(each.probability for each in result.answers), result.null_probability]
    for share in shares:
        shown = percent(share).replace("< 0", "&lt; 0").replace(" %", "\xa0%")
        assert f">{shown}<" in str(picture.wide)
    table = listed(charts.answers_table(result), charts.ANSWER_COLUMNS)
    cut = [PASSAGE[a:b] for a, b in zip(table["start"], table["end"], strict=True)][:-1]
    assert cut == table["text"].tolist()[:-1]
    assert table["probability"].iloc[-1] == result.null_probability
    assert "no answer" in picture.alt


@pytest.mark.parametrize("high", [0.5, 2.0, 9.0])
def test_curves_are_as_high_as_the_tasks_numbers(tiny_engine: Engine, high: float) -> None:
    rule = by_token({"cat": high}, {"bank": high}, other=0.0)
    result = qa(planted(tiny_engine, rule), PASSAGE, "who")
    drawn = charts.curves(result, range(14)).wide
    found = result.words
    grid = [line.number("y1") for line in elements(drawn, "line", "bx-svg-grid")]
    base, top = max(grid), min(grid)
    highest = max(found.start_probability.max(), found.end_probability.max())
    limit = next(step for step in (0.05, 0.1, 0.2, 0.5, 1.0) if highest <= step)
    for name, values in (("start", found.start_probability), ("end", found.end_probability)):
        assert [y for _, y in points(drawn, name)] == pytest.approx(
            [base - (base - top) * share / limit for share in values], abs=0.06
        )
    labels = re.findall(r"rotate\(-55[^>]*>(.*?)</text>", str(drawn))
    assert labels == charts.words_table(result, range(len(result.words)))["word"]
    band = elements(drawn, "rect", "bx-qa-band")[0]
    left, right = band.number("x"), band.number("x") + band.number("width")
    inside = [label for label, (x, _) in zip(labels, points(drawn, "start"), strict=True)
              if left < x < right]  # fmt: skip
    assert inside == ["CAT", "sat", "by", "the", "river", "bank"]


def test_a_long_passage_is_drawn_part_by_part(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    long = qa(planted(tiny_engine, rule), "the cat sat. " * 60 + "river bank", "who")
    parts = charts.parts(long)
    assert next(iter(parts)) == "around the answer" and 240 in parts["around the answer"]
    stretches = list(parts.values())[1:]
    assert [n for part in stretches for n in part] == list(range(242)), "each word is in one"
    for part in parts.values():
        picture = charts.curves(long, part)
        assert len(points(picture.wide, "start")) == len(part)
        assert len(points(picture.narrow, "start")) == min(16, len(part))


def test_hostile_text_never_becomes_markup(tiny_engine: Engine, nasty: str) -> None:
    result = qa(tiny_engine, f"{nasty} cat {nasty}", "cat", answers=20)
    for threshold in (0.0, -15.0):
        for markup in map(str, view.screen(replace(result, threshold=threshold)).report().drawn()):
            assert not any(each in markup for each in ("<script", "<img", "\x00", "\u202e"))


def test_the_snippet_prints_the_answers_of_the_page(tiny_engine: Engine, tiny_model) -> None:
    passage = 'the cat "sat" on\nthe mat. \\n the dog\'s bank'
    result = qa(tiny_engine, passage, "who sat?", answers=3, longest=4, whole_words=False)
    wanted = [f"{each.probability:.1%}  {each.text}" for each in result.answers]
    wanted.append(f"{result.null_probability:.1%}  (no answer)")
    assert ran(view.snippet(result, str(tiny_model)))[1] == "\n".join(wanted) + "\n"
