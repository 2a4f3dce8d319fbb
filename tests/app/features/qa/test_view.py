"""The question-answering page's words and pictures: the right marks, the task's own numbers."""

import re
from html import unescape

import numpy as np
import pytest

from app.features.qa import view as view
from app.features.qa import view_charts as charts
from app.features.qa import view_reading as reading
from app.features.qa.result import QaResult
from app.features.qa.task import qa
from app.features.qa.view_meaning import meaning
from app.models import Engine
from bert_core.reading.passage import Rules
from tests.readers import by_token, planted

PASSAGE = "The dog saw a dog. The  CAT sat by the river bank."


@pytest.fixture
def result(tiny_engine: Engine) -> QaResult:
    rule = by_token({"dog": 5.0, "cat": 4.5}, {"dog": 5.0, "bank": 4.0, "cat": 3.0}, null=1.0)
    return qa(planted(tiny_engine, rule), PASSAGE, "who <b>?")


def shown(markup: object) -> str:
    """What a person reads of some markup."""
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def marks(markup: object) -> list[tuple[str, str]]:
    """Text and label of every mark."""
    found = re.findall(r"<mark[^>]*>(.*?)<span[^>]*>(.*?)</span></mark>", str(markup), re.DOTALL)
    return [(unescape(text), unescape(label)) for text, label in found]


def test_the_passage_keeps_every_character_and_marks_the_right_places(result: QaResult) -> None:
    drawn = view.passage(result, 0.0)
    answer, same, other = marks(drawn)
    assert answer == ("dog", f"answer · {view.percent(result.probability)}")
    assert same == ("dog", "same words")
    assert result.answers[int(other[1]) - 1].text == other[0]
    without_labels = re.sub(r'<span class="bx-qa-badge">.*?</span>', "", str(drawn))
    assert shown(without_labels) == PASSAGE
    assert 'title="answer 1' in str(drawn)


def test_marks_do_not_overlap(result: QaResult) -> None:
    texts = [text for text, _ in marks(view.passage(result, 0.0))]
    places = [PASSAGE.index(text) for text in texts]
    assert sum(map(len, texts)) < len(PASSAGE)
    assert places == sorted(places)
    assert "further answers" in shown(view.marks_key(result))
    assert "Same words" in shown(view.marks_key(result))


def test_the_verdict_turns_with_the_threshold_and_always_shows_its_figures(
    result: QaResult,
) -> None:
    assert result.no_answer_score == -8.0
    yes, no = shown(view.verdict(result, -8.0)), shown(view.verdict(result, -8.5))
    assert "does not seem" not in yes
    assert "not above the threshold −8.0" in yes
    assert "The passage does not seem to answer this." in no
    assert "above the threshold −8.5" in no
    assert "not above" not in no
    for said in (yes, no):
        assert "no-answer score −8.00 (“no answer” +2.00, minus best span +10.00)" in said
        assert "dog" in said
    assert marks(view.passage(result, -8.5))[0][1].startswith("not accepted")


def test_the_list_has_every_answer_and_no_answer(result: QaResult) -> None:
    listed = shown(view.answers_list(result))
    table = view.answers_table(result)
    for answer in result.answers:
        assert answer.text in listed
        assert view.percent(answer.probability) in listed
    assert re.search(r", [\d.]+ % alone; with \d+ other spans? that says? the same", listed)
    assert "no answer" in listed
    assert len(table) == sum(len(answer.places) for answer in result.answers) + 1
    cut = [PASSAGE[a:b] for a, b in zip(table["start"], table["end"], strict=True)][:-1]
    assert cut == table["text"].tolist()[:-1]
    assert "no answer" in view.describe_answers(result)


def test_each_answer_has_a_bar_as_long_as_its_probability(result: QaResult) -> None:
    rows = re.findall(
        r'bx-qa-number">(.*?)<.*?width:([\d.]+)%.*?bx-nsp-share">(.*?)<',
        str(view.answers_list(result)),
    )
    shares = [answer.probability for answer in result.answers] + [result.null_probability]
    assert [number for number, _, _ in rows] == [*map(str, range(1, len(shares))), "–"]
    assert [float(width) for _, width, _ in rows] == pytest.approx(
        [100 * share for share in shares], abs=0.00501
    )
    assert [unescape(said) for _, _, said in rows] == [view.percent(share) for share in shares]


def test_an_answer_that_is_not_accepted_does_not_look_like_one_that_is(result: QaResult) -> None:
    def looks(threshold: float) -> list[str]:
        drawn = str(view.passage(result, threshold))
        return re.findall(r'<mark class="bx-qa-mark (.*?)"', drawn)

    assert looks(0.0)[0] == "bx-qa-best"
    assert looks(-8.5)[0] == "bx-qa-guess"
    assert looks(0.0)[1:] == looks(-8.5)[1:] and "bx-qa-again" in looks(0.0)


def test_the_page_says_what_a_probability_is(result: QaResult) -> None:
    said = shown(meaning(result))
    assert f"how likely the passage answers: {view.percent(1 - result.null_probability)}" in said
    assert f"the best answer has {view.percent(result.given_answer)} of it" in said
    product = result.given_answer * (1 - result.null_probability)
    assert product == pytest.approx(result.probability)
    assert f"{result.candidates:,} spans of at most 30 pieces" in said
    assert view.percent(result.touching) in said


@pytest.mark.parametrize(
    ("starts", "ends", "longest", "told"),
    [
        ({"dog": 9.0}, {"the": 9.0}, 1, "it would end before it starts"),
        ({"the": 9.0}, {"bank": 9.0}, 2, "pieces; at most 2 are allowed"),
    ],
)
def test_what_was_rejected_is_told_with_the_rule(
    tiny_engine: Engine, starts: dict, ends: dict, longest: int, told: str
) -> None:
    result = qa(planted(tiny_engine, by_token(starts, ends)), PASSAGE, "who", longest=longest)
    assert told in shown(reading.rejected(result))
    assert "score 18.00" in shown(reading.rejected(result))


def test_nothing_is_said_about_rejections_where_there_are_none(result: QaResult) -> None:
    assert result.rejected == ()
    assert str(reading.rejected(result)) == ""


def test_a_short_passage_is_read_at_once_and_a_long_one_says_how(
    tiny_engine: Engine, result: QaResult
) -> None:
    assert "Everything was read at once" in shown(reading.coverage(result))
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    passage = "the cat sat. " * 60 + "River Bank " + "the dog. " * 60
    long = qa(planted(tiny_engine, rule), passage, "who")
    said = shown(reading.coverage(long))
    assert f"{long.coverage.pieces:,} pieces were read in {len(long.coverage.windows)}" in said
    first, last = long.coverage.windows[long.coverage.answer_window]
    assert f"pieces {first:,} to {last:,}" in said
    assert first <= long.coverage.answer[0] <= long.coverage.answer[1] < last
    assert str(reading.coverage(long)).count("bx-qa-window") == len(long.coverage.windows)


@pytest.mark.parametrize(
    ("start", "end", "pieces"), [("river", "river", 1), ("river", "bank", 2), ("the", "bank", 3)]
)
def test_the_strip_is_as_wide_as_the_answer_and_the_windows(
    tiny_engine: Engine, start: str, end: str, pieces: int
) -> None:
    rule = by_token({"river": 5.0, start: 6.0}, {end: 6.0})
    passage = "a cat sat. " * 60 + "the river bank " + "a dog. " * 60
    result = qa(planted(tiny_engine, rule), passage, "who")
    read = result.coverage
    first, last = read.answer
    assert last - first + 1 == pieces
    drawn = str(reading.coverage(result))
    placed = re.findall(r"bx-qa-(window|here).*?left:([\d.]+)%;width:([\d.]+)%", drawn)
    widths = {(kind, float(left)): float(width) for kind, left, width in placed}
    share = 100 / read.pieces
    assert widths["here", round(first * share, 3)] == pytest.approx(pieces * share, abs=0.001)
    for begin, after in read.windows:
        width = widths["window", round(begin * share, 3)]
        assert width == pytest.approx((after - begin) * share, abs=0.001)


def test_a_long_passage_is_shown_around_its_answer_and_whole_on_demand(
    tiny_engine: Engine,
) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    passage = "the cat sat. " * 90 + "River Bank " + "the dog. " * 90
    drawn = str(view.passage(qa(planted(tiny_engine, rule), passage, "who"), 0.0))
    part, whole = drawn.split("<details>")
    assert [text for text, _ in marks(part)] == [text for text, _ in marks(whole)] == ["River Bank"]
    assert len(shown(part)) < 1_100
    assert "of 1,991, around the best answer" in shown(part)
    assert passage in shown(re.sub(r'<span class="bx-qa-badge">.*?</span>', "", whole))


def test_a_word_that_stands_everywhere_is_marked_at_its_best_places(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"cat": 5.0})
    result = qa(planted(tiny_engine, rule, max_length=512), "cat " * 150, "who", longest=1)
    assert result.answers[0].count == 150
    assert len(marks(view.passage(result, 0.0))) == 100
    assert "Of its 150 places the best 100 are marked" in shown(view.marks_key(result))
    assert len(view.answers_table(result)) == 101
    assert "best 100 places of each" in shown(view.answers_note(result))


def test_curves_hold_the_tasks_numbers_under_the_words_as_typed(result: QaResult) -> None:
    fig = charts.draw(result, "curves")
    start, end = fig.data
    words = result.words
    assert start.y == pytest.approx(words.start_probability.tolist())
    assert end.y == pytest.approx(words.end_probability.tolist())
    assert [label.strip("\u2060") for label in start.x][:4] == ["The", "dog", "saw", "a"]
    assert len(set(start.x)) == len(words)
    assert (start.line.dash, end.line.dash) == ("solid", "dash")  # not by colour alone
    assert start.marker.symbol != end.marker.symbol
    logits = charts.draw(result, "logits")
    assert logits.data[0].y == pytest.approx(words.start_logit.tolist())
    table = charts.table(result, "curves")
    assert table["starts here"].tolist() == list(start.y)
    assert table["word"].tolist()[-2:] == ["bank", "."]
    assert "start highest at “dog”" in charts.describe(result, "curves")


def test_long_passages_are_charted_around_the_answer_and_tabled_whole(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    long = qa(planted(tiny_engine, rule), "the cat sat. " * 60 + "river bank", "who")
    fig = charts.draw(long, "curves")
    assert len(fig.data[0].x) == 40
    assert "bank" in fig.data[0].x
    assert len(charts.table(long, "curves")) == 242
    assert "Shown are words 203 to 242 of 242" in shown(charts.note(long, "curves"))


def test_the_map_marks_the_best_span_and_leaves_the_impossible_empty(result: QaResult) -> None:
    fig = charts.draw(result, "pairs")
    grid = result.grid
    for row, values in enumerate(fig.data[0].z):
        for column, value in enumerate(values):
            assert (value is not None) == bool(grid.allowed[row, column])
            assert value is None or value == pytest.approx(grid.probability[row, column])
    frame = fig.layout.shapes[0]
    row, column = int(frame.y0 + 0.5), int(frame.x0 + 0.5)
    assert (row + grid.rows.start, column + grid.columns.start) == result.words.answer
    table = charts.table(result, "pairs")
    assert table["probability"].is_monotonic_decreasing
    assert table.iloc[0]["start word"] == table.iloc[0]["end word"] == "dog"


def test_the_frame_is_around_the_row_of_the_start_and_the_column_of_the_end(
    tiny_engine: Engine,
) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    fig = charts.draw(qa(planted(tiny_engine, rule), PASSAGE, "who"), "pairs")
    (heat,), (frame,) = fig.data, fig.layout.shapes
    row, column = heat.y.index("CAT"), heat.x.index("bank")
    assert row != column
    assert (frame.y0, frame.y1) == (row - 0.5, row + 0.5)
    assert (frame.x0, frame.x1) == (column - 0.5, column + 0.5)
    every = [value for values in heat.z for value in values if value is not None]
    assert heat.z[row][column] == max(every)
    assert fig.layout.yaxis.autorange == "reversed", "the first word is on top"
    assert fig.layout.xaxis.autorange is None, "and at the left"


def test_rows_are_start_words_and_columns_end_words(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    passage = "dog " * 20 + "cat " + "sat " * 25 + "bank " + "dog " * 20
    result = qa(planted(tiny_engine, rule, max_length=512), passage, "who")
    (heat,) = charts.draw(result, "pairs").data
    words = passage.split()
    assert result.grid.rows != result.grid.columns
    for labels, shown in ((heat.y, result.grid.rows), (heat.x, result.grid.columns)):
        assert [label.strip("\u2060") for label in labels] == [words[n] for n in shown]
    assert np.array(heat.z).shape == (len(result.grid.rows), len(result.grid.columns))


def test_likelier_pairs_are_darker_up_to_the_likeliest(result: QaResult) -> None:
    (heat,) = charts.draw(result, "pairs").data
    (least, pale), (most, strong) = heat.colorscale
    opacity = [float(re.findall(r"[\d.]+", colour)[3]) for colour in (pale, strong)]
    assert (least, most) == (0, 1) and opacity[0] < 0.1 < 0.8 < opacity[1]
    shown = [value for row in heat.z for value in row if value is not None]
    assert heat.zmin == 0 and heat.zmax == pytest.approx(max(shown))


def test_the_band_covers_every_word_of_the_best_span(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    for picture in ("curves", "logits"):
        result = qa(planted(tiny_engine, rule), PASSAGE, "who")
        fig = charts.draw(result, picture)
        (band,) = fig.layout.shapes
        labels = [label.strip("\u2060") for label in fig.data[0].x]
        inside = [n for n in range(len(labels)) if band.x0 < n < band.x1]
        assert [labels[n] for n in inside] == ["CAT", "sat", "by", "the", "river", "bank"]


@pytest.mark.parametrize("high", [0.5, 1.0, 2.0, 4.0, 9.0])
def test_the_axis_of_the_curves_has_room_for_their_highest_point(
    tiny_engine: Engine, high: float
) -> None:
    rule = by_token({"cat": high}, {"bank": high}, other=0.0)
    fig = charts.draw(qa(planted(tiny_engine, rule), PASSAGE, "who"), "curves")
    highest = max(max(line.y) for line in fig.data)
    low, top = fig.layout.yaxis.range
    assert low < 0 < highest < top <= 3 * highest + 0.1


def test_an_answer_longer_than_the_map_still_has_its_frame_in_it(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    passage = "dog " * 20 + "cat " + "sat " * 25 + "bank " + "dog " * 20
    result = qa(planted(tiny_engine, rule, max_length=512), passage, "who")
    first, last = result.words.answer
    assert last - first == 26
    assert first in result.grid.rows
    assert last in result.grid.columns
    assert "around the start and around the end" in shown(charts.note(result, "pairs"))


def test_several_questions_stand_in_one_table(tiny_engine: Engine, result: QaResult) -> None:
    none = qa(planted(tiny_engine, by_token({}, {}, null=3.0)), PASSAGE, "where")
    table = view.overview([result, none], 0.0)
    assert table["answer"].tolist() == ["dog", "(no answer)"]
    assert table["question"].tolist() == ["who <b>?", "where"]
    assert view.describe_overview([result, none], 0.0).startswith("1 of 2")
    assert len(set(view.question_names(["same", "same"]).values())) == 2


def test_a_missing_sentence_is_compared(tiny_engine: Engine, result: QaResult) -> None:
    rule = by_token({"cat": 4.5}, {"cat": 3.0}, null=1.0)
    changed = qa(planted(tiny_engine, rule), result.without(0), result.question)
    said = shown(view.comparison(result, changed, 0.0))
    assert "is another one" in said
    assert "from −8.00 to −5.50" in said
    names = view.sentence_names(result)
    assert list(names.values()) == [0, 1]
    (own,) = [number for name, number in names.items() if "the answer starts here" in name]
    start, end = result.sentences[own]
    assert start <= result.best.start < end


def test_hostile_text_never_becomes_markup(tiny_engine: Engine, nasty: str) -> None:
    passage = f"{nasty} cat {nasty}"
    result = qa(tiny_engine, passage, "cat", answers=20)
    pages = [
        view.verdict(result, 0.0),
        view.verdict(result, -15.0),
        view.passage(result, 0.0),
        view.answers_list(result),
        reading.rejected(result),
        view.comparison(result, result, 0.0),
    ]
    for markup in map(str, pages):
        assert "<script" not in markup
        assert "<img" not in markup
        assert "\x00" not in markup
        assert "\u202e" not in markup
    for picture in charts.PICTURES:
        drawn = charts.draw(result, picture).to_json()
        assert "<script" not in drawn.replace("\\u003c", "<")
        assert "<img" not in drawn.replace("\\u003c", "<")
        assert charts.describe(result, picture)
        assert len(charts.table(result, picture)) >= 0
    for name in view.sentence_names(result):
        assert not re.search(r"(?<!\\)[<\[]", name)


@pytest.mark.parametrize(
    ("ends", "sign", "told"),
    [
        ({"dog": 5.0}, "✓", ""),
        ({"bank": 5.0, "river": 5.0, "the": 4.8}, "✓", "surer of the place"),
    ],
)
def test_the_verdict_says_when_the_ends_are_open(
    tiny_engine: Engine, ends: dict, sign: str, told: str
) -> None:
    starts = {"dog": 5.0} if "dog" in ends else {"cat": 5.0, "sat": 4.9, "river": 4.8}
    passage = "The cat sat by the river bank. A dog."
    said = shown(
        view.verdict(qa(planted(tiny_engine, by_token(starts, ends)), passage, "who"), 0.0)
    )
    assert said.startswith(sign)
    assert told in said
    assert ("overlap" in said) == bool(told)


def test_an_answer_that_stands_out_nowhere_is_called_a_weak_guess(tiny_engine: Engine) -> None:
    words = ["cat", "dog", "mat", "river", "bank"]
    even = {word: 5.0 + (word == "dog") / 10 for word in words}
    result = qa(
        planted(tiny_engine, by_token(even, even)),
        "Cat. " + ". ".join(w.title() for w in words),
        "who",
    )
    assert result.touching < 0.5
    verdict = view.verdict(result, 0.0)
    assert shown(verdict).startswith("?dog") or shown(verdict).startswith("?Dog")
    assert f"holds only {view.percent(result.touching)}" in shown(verdict)
    assert "bx-qa-unsure" in str(verdict)
    assert "weak guess" not in shown(view.verdict(result, -15.0)), "no answer is its own doubt"


def test_the_rules_that_answers_keep_are_named(tiny_engine: Engine) -> None:
    engine = planted(tiny_engine, by_token({"dog": 5.0}, {"dog": 5.0}))
    for rules, told in (
        (Rules(), "(of whole words, within one sentence)"),
        (Rules(whole_words=False), "(within one sentence)"),
        (Rules(whole_words=False, one_sentence=False), "holds; spans that"),
    ):
        assert told in shown(meaning(qa(engine, PASSAGE, "who", rules=rules)))


def test_the_map_says_nothing_over_cells_that_cannot_be_answers(result: QaResult) -> None:
    heat = charts.draw(result, "pairs").data[0]
    assert heat.hoverongaps is False
    assert heat.name == "", "a box beside the pointer would name the trace"
    assert any(value is None for row in heat.z for value in row)
    assert "break a rule" in shown(charts.note(result, "pairs"))
