"""The question-answering page's words and pictures: the right marks, the task's own numbers."""

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.features.qa import view_charts as charts
from app.features.qa import view_text as view
from app.features.qa.result import QaResult
from app.features.qa.task import qa
from app.features.qa.view import screen
from app.words.html import Html
from app.words.pictures import NARROW, WIDE, Picture
from tests.drawings import elements
from tests.readers import by_token, planted
from tests.snippets import ran

STYLE = Path(charts.__file__).with_name("style.css")
PASSAGE = "The dog saw a dog. The  CAT sat by the river bank."
LONG = "dog " * 20 + "cat " + "sat " * 25 + "bank " + "dog " * 20
BADGES = re.compile(
    r'<span class="bx-qa-badge">.*?</span>|<details class="bx-qa-why">.*?</details>'
)


@pytest.fixture
def result(tiny_engine: Engine) -> QaResult:
    rule = by_token({"dog": 5.0, "cat": 4.5}, {"dog": 5.0, "bank": 4.0, "cat": 3.0}, null=1.0)
    return qa(planted(tiny_engine, rule), PASSAGE, "who <b>?")


@pytest.fixture
def spread(tiny_engine: Engine) -> QaResult:
    """An answer of 27 words, more than the map has rows."""
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    return qa(planted(tiny_engine, rule, max_length=512), LONG, "who")


def shown(markup: object) -> str:
    """What a person reads of some markup."""
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def marks(markup: object) -> list[tuple[str, str]]:
    """Text and label of every mark."""
    found = re.findall(
        r'<mark[^>]*>(.*?)<span class="bx-qa-badge">(.*?)</span></mark>', str(markup)
    )
    return [(shown(text), unescape(label)) for text, label in found]


def drawn(markup: Html, kind: str, *names: str) -> list[tuple[float, ...]]:
    """The numbers of every drawn element of a class, by their attributes."""
    found = []
    for element in re.findall(rf'<\w+ [^>]*class="{kind}"[^>]*>', str(markup)):
        values = [re.search(rf'(?<![\w-]){name}="([^"]*)"', element) for name in names]
        found.append(tuple(float(value[1]) for value in values if value))
    return found


def points(markup: Html, kind: str) -> list[tuple[float, float]]:
    """The corners of a line."""
    (line,) = re.findall(rf'<polyline points="([^"]*)" class="bx-qa-{kind}"', str(markup))
    return [tuple(map(float, point.split(","))) for point in line.split()]


# -- the main picture -----------------------------------------------------------------------------


def test_the_passage_keeps_every_character_and_marks_the_right_places(result: QaResult) -> None:
    passage = view.passage(result)
    answer, same, other = marks(passage)
    assert answer == ("dog", "answer")
    assert same == ("dog", "same words")
    assert result.answers[int(other[1]) - 1].text == other[0]
    assert shown(BADGES.sub("", str(passage))) == PASSAGE
    assert str(passage).count("data-here") == 1


def test_marks_do_not_overlap(result: QaResult) -> None:
    texts = [text for text, _ in marks(view.passage(result))]
    places = [PASSAGE.index(text) for text in texts]
    assert sum(map(len, texts)) < len(PASSAGE)
    assert places == sorted(places)
    assert "further answers" in shown(view.marks_key(result))
    assert "Same words" in shown(view.marks_key(result))


def test_every_word_of_the_passage_carries_the_keys_of_its_pieces(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"##ing": 5.0})
    result = qa(planted(tiny_engine, rule), "The cat, playing.", "dog sat")
    passage = view.passage(result)
    words = re.findall(r'<span data-at="([^"]*)" tabindex="(-?\d)">(.*?)</span>', str(passage))
    # [CLS] dog sat [SEP] the cat , play ##ing .
    keys = ["0.4", "0.5", "0.6", "0.7 0.8", "0.9"]
    assert [(at, word) for at, _, word in words] == list(
        zip(keys, ["The", "cat", ",", "playing", "."], strict=True)
    )
    assert [stop for _, stop, _ in words] == ["0", "-1", "-1", "-1", "-1"], "one tab stop"
    tokens = tiny_engine.tokenizer.encode("dog sat", "The cat, playing.").tokens
    assert tokens[7:9] == ["play", "##ing"]
    assert view.at(result, (result.best.start, result.best.end)) == "0.5 0.6 0.7 0.8"


def test_the_verdict_is_the_models_answer_and_turns_with_the_threshold(result: QaResult) -> None:
    assert result.no_answer_score == -8.0
    yes, no = (
        view.verdict(replace(result, threshold=-8.0)),
        view.verdict(replace(result, threshold=-8.5)),
    )
    assert shown(yes).startswith("The model’s answer: “dog”")
    assert f"It has {view.percent(result.probability)} of all probability" in shown(yes)
    assert shown(no).startswith("The model’s answer: none in this passage. The best guess would be")
    assert f"“No answer” has {view.percent(result.null_probability)} of all" in shown(no)
    assert 'class="bx-qa-verdict bx-qa-none"' in str(no) and "✓" not in shown(yes)
    assert marks(view.passage(replace(result, threshold=-8.5)))[0][1] == "not accepted"
    for threshold, compared in ((-8.0, "not above"), (-8.5, ", above")):
        said = shown(view.figures(replace(result, threshold=threshold)))
        assert "No-answer score −8.00 (“no answer” +2.00, minus best span +10.00)" in said
        assert f"{compared} the threshold −{abs(threshold)}" in said


def test_an_answer_that_is_not_accepted_does_not_look_like_one_that_is(result: QaResult) -> None:
    def looks(threshold: float) -> list[str]:
        passage = str(view.passage(replace(result, threshold=threshold)))
        return re.findall(r'<mark class="bx-qa-mark (.*?)"', passage)

    assert looks(0.0)[0] == "bx-qa-best"
    assert looks(-8.5)[0] == "bx-qa-guess"
    assert looks(0.0)[1:] == looks(-8.5)[1:] and "bx-qa-again" in looks(0.0)


@pytest.mark.parametrize(
    ("ends", "told"),
    [({"dog": 5.0}, ""), ({"bank": 5.0, "river": 5.0, "the": 4.8}, "The place is clearer")],
)
def test_the_verdict_says_when_the_ends_are_open(
    tiny_engine: Engine, ends: dict, told: str
) -> None:
    starts = {"dog": 5.0} if "dog" in ends else {"cat": 5.0, "sat": 4.9, "river": 4.8}
    passage = "The cat sat by the river bank. A dog."
    result = qa(planted(tiny_engine, by_token(starts, ends)), passage, "who")
    said = shown(view.verdict(result))
    assert told in said
    assert ("overlapping" in said) == bool(told)


def test_an_answer_that_stands_out_nowhere_is_called_a_weak_guess(tiny_engine: Engine) -> None:
    words = ["cat", "dog", "mat", "river", "bank"]
    even = {word: 5.0 + (word == "dog") / 10 for word in words}
    passage = "Cat. " + ". ".join(word.title() for word in words)
    result = qa(planted(tiny_engine, by_token(even, even)), passage, "who")
    assert result.touching < 0.5
    verdict = view.verdict(result)
    assert f"it has only {view.percent(result.touching)}" in shown(verdict)
    assert "bx-qa-unsure" in str(verdict)
    assert "weak guess" not in shown(view.verdict(replace(result, threshold=-15.0))), (
        "no answer is its own doubt"
    )


def test_a_long_passage_scrolls_in_a_box_that_starts_at_the_answer(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    passage = "the cat sat. " * 90 + "River Bank " + "the dog. " * 90
    result = qa(planted(tiny_engine, rule), passage, "who")
    box = str(view.passage(result))
    assert "bx-scroll" in box
    assert "bx-scroll" not in str(view.passage(result, whole=True)), "a file has no window"
    assert shown(re.search(r"<mark[^>]*data-here[^>]*>(.*?)</mark>", box)[1]) == "River Bankanswer"
    assert shown(BADGES.sub("", box)) == passage
    assert 200 < box.count("data-at") <= 301, "only words near the answer are linked"


def test_a_word_that_occurs_everywhere_is_marked_at_its_best_places(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"cat": 5.0})
    result = qa(planted(tiny_engine, rule, max_length=512), "cat " * 150, "who", longest=1)
    assert result.answers[0].count == 150
    assert len(marks(view.passage(result))) == 100
    assert "Of the answer’s 150 places, the best 100 are marked" in shown(view.marks_key(result))
    assert len(charts.answers_table(result)) == 101
    assert "best 100 places of each" in shown(view.answers_note(result))


# -- rejected spans -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("starts", "ends", "longest", "told", "span"),
    [
        ({"dog": 9.0}, {"the": 9.0}, 1, "it would end before it starts", "The dog saw a dog"),
        ({"river": 9.0}, {".": 9.0}, 1, "it has 2 pieces; at most 1 are allowed", "river."),
    ],
)
def test_a_rejected_span_says_why_in_its_place(
    tiny_engine: Engine, starts: dict, ends: dict, longest: int, told: str, span: str
) -> None:
    passage = "The dog saw a dog. It ran by a river."
    result = qa(planted(tiny_engine, by_token(starts, ends)), passage, "who", longest=longest)
    assert told in shown(view.rejected(result))
    assert "(18.00)" in shown(view.rejected(result))
    places = {passage[slice(*each.place)] for each in result.rejected if each.place}
    assert span in places
    box = str(view.passage(result))
    assert shown(BADGES.sub("", box)) == passage
    keys = view.at(result, span_of(passage, span))
    assert keys.split() == [f"0.{at}" for at in result.words.positions(*span_of(passage, span))]
    before, _, why = box.partition(f'<summary aria-label="Why was this rejected?" data-at="{keys}"')
    assert shown(BADGES.sub("", before)).endswith(span), "the sign is where the span ends"
    assert told in why[: why.index("</details>")]
    assert told in str(charts.answers(result).wide), "and among the bars"


def span_of(passage: str, part: str) -> tuple[int, int]:
    return passage.index(part), passage.index(part) + len(part)


def test_nothing_is_said_about_rejections_where_there_are_none(result: QaResult) -> None:
    assert result.rejected == ()
    assert str(view.rejected(result)) == ""
    assert "bx-qa-why" not in str(view.passage(result))


# -- answers as bars ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_each_answer_has_a_bar_as_long_as_its_probability(result: QaResult, width: str) -> None:
    picture = getattr(charts.answers(result), width)
    shares = [answer.probability for answer in result.answers]
    best, *others = (
        each
        for kind in ("bx-svg-mark", "bx-svg-bar", "bx-qa-null")
        for each in drawn(picture, kind, "x", "width")
    )
    lengths = [best, *others]
    assert len({x for x, _ in lengths}) == 1, "all begin at one line"
    wanted = [*shares, result.null_probability]
    scale = best[1] / shares[0]
    for (_, length), share in zip(lengths, wanted, strict=True):
        assert length == pytest.approx(max(1.5, share * scale), abs=0.02)
    for share in wanted:
        assert f">{view.percent(share)}<".replace("< 0", "&lt; 0") in str(picture)
    assert best[0] + best[1] < (WIDE if width == "wide" else NARROW) - 80, "room for the number"


@pytest.mark.parametrize("width", ["wide", "narrow"])
@pytest.mark.parametrize("more", ["", " Tom in the old harbour town"])
def test_answers_that_begin_alike_are_told_apart(result: QaResult, width: str, more: str) -> None:
    begin = f"Mara took the ferry to visit her uncle{more}"
    first, second = result.answers[:2]
    pair = (replace(first, text=begin), replace(second, text=f"{begin} Tom"))
    picture = getattr(charts.answers(replace(result, answers=pair)), width)
    names = re.findall(r">\d\. (Mara .*?)</text>", str(picture))
    assert len(set(names)) == 2
    assert more or names[1] == pair[1].text, "it is whole where there is room"


def test_the_table_has_every_place_and_no_answer(result: QaResult) -> None:
    table = charts.answers_table(result)
    assert len(table) == sum(len(answer.places) for answer in result.answers) + 1
    cut = [PASSAGE[a:b] for a, b in zip(table["start"], table["end"], strict=True)][:-1]
    assert cut == table["text"].tolist()[:-1]
    assert table["probability"].iloc[-1] == result.null_probability
    first = result.best
    assert table["at"].iloc[0] == view.at(result, (first.start, first.end))
    assert "no answer" in charts.describe_answers(result)


# -- the two ends ---------------------------------------------------------------------------------


def test_curves_are_as_high_as_the_tasks_numbers(result: QaResult) -> None:
    picture = charts.curves(result, "curves").wide
    words = result.words
    grid = [y for (y,) in drawn(picture, "bx-svg-grid", "y1")]
    base, top = max(grid), min(grid)
    highest = max(words.start_probability.max(), words.end_probability.max())
    limit = next(step for step in (0.05, 0.1, 0.2, 0.5, 1.0) if highest <= step)
    for name, values in (("start", words.start_probability), ("end", words.end_probability)):
        line = points(picture, name)
        assert len(line) == len(words)
        assert [y for _, y in line] == pytest.approx(
            [base - (base - top) * share / limit for share in values], abs=0.06
        )
        assert [x for x, _ in line] == sorted(x for x, _ in line)
    labels = re.findall(r"rotate\(-55[^>]*>(.*?)</text>", str(picture))
    assert labels == ["The", "dog", "saw", "a", "dog", ".", "The", "CAT", "sat", "by", "the",
                      "river", "bank", "."]  # fmt: skip
    look = STYLE.read_text().split("\n.bx-qa-end {")[1].split("}")[0]
    assert "stroke-dasharray" in look, "the end is not told from the start by colour alone"
    table = charts.words_table(result)
    assert table["starts here"].tolist() == words.start_probability.tolist()
    assert table["start logit"].tolist() == words.start_logit.tolist()
    assert "start highest at “dog”" in charts.describe_curves(result, "curves")
    (x,) = re.findall(r'<text x="(\d+)"[^>]*>answer<', str(picture))
    assert int(x) + 6 * 10 <= WIDE, "the last word of the legend is cut off"


def test_logits_are_drawn_between_whole_numbers(result: QaResult) -> None:
    picture = charts.curves(result, "logits").wide
    grid = sorted(y for (y,) in drawn(picture, "bx-svg-grid", "y1"))
    low, high = -9.0, 5.0
    line = [y for _, y in points(picture, "start")]
    assert line == pytest.approx(
        [grid[-1] - (grid[-1] - grid[0]) * (v - low) / (high - low)
         for v in result.words.start_logit], abs=0.06
    )  # fmt: skip
    assert ">+5.0<" in str(picture) and ">−9.0<" in str(picture)


def test_long_passages_are_drawn_around_the_answer_or_another_word(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    long = qa(planted(tiny_engine, rule), "the cat sat. " * 60 + "river bank", "who")
    picture = charts.curves(long, "curves")
    assert len(points(picture.wide, "start")) == 44 and len(points(picture.narrow, "start")) == 16
    assert "bank" in str(picture.wide) and drawn(picture.wide, "bx-qa-band", "x")[1:]
    elsewhere = charts.curves(long, "curves", 30)
    assert "bank" not in str(elsewhere.wide)
    assert len(drawn(elsewhere.wide, "bx-qa-band", "x")) == 1, "only in the legend"
    assert "Words 198 to 241 of 242" in shown(charts.curves_note(long, "curves"))
    assert "Words 8 to 51 of 242" in shown(charts.curves_note(long, "curves", 30))
    assert len(charts.words_table(long)) == 242
    assert len(elsewhere.table) == 44


def test_the_overview_has_all_words_and_marks_those_that_are_drawn(tiny_engine: Engine) -> None:
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    long = qa(planted(tiny_engine, rule), "the cat sat. " * 60 + "river bank", "who")
    bins = re.findall(
        r'data-value="(\d+)"[^>]*aria-label="Words (\d+) to (\d+): at most (.*?)"(.*?)>'
        r'<span style="height:([\d.]+)%"', str(charts.overview(long, 30))
    )  # fmt: skip
    ranges = [(int(a), int(b)) for _, a, b, *_ in bins]
    assert ranges[0][0] == 0 and ranges[-1][1] == 241
    assert all(after == last + 1 for (_, last), (after, _) in pairwise(ranges))
    for value, first, last, *_ in bins:
        assert int(first) <= int(value) <= int(last) + 1
    current = [(int(a), int(b)) for _, a, b, _, state, _ in bins if "aria-current" in state]
    assert current[0][0] <= 8 <= current[0][1] and current[-1][0] <= 51 <= current[-1][1]
    heights = [float(height) for *_, height in bins]
    assert max(heights) == heights[-1] == 100.0


def test_the_band_covers_every_word_of_the_best_span(tiny_engine: Engine) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    for kind in charts.KINDS:
        result = qa(planted(tiny_engine, rule), PASSAGE, "who")
        picture = charts.curves(result, kind).wide
        left, width = drawn(picture, "bx-qa-band", "x", "width")[0]
        line = points(picture, "start")
        inside = [n for n, (x, _) in enumerate(line) if left < x < left + width]
        words = charts.words_table(result)["word"]
        assert [words[n] for n in inside] == ["CAT", "sat", "by", "the", "river", "bank"]


@pytest.mark.parametrize("high", [0.5, 1.0, 2.0, 4.0, 9.0])
def test_the_axis_of_the_curves_has_room_for_their_highest_point(
    tiny_engine: Engine, high: float
) -> None:
    rule = by_token({"cat": high}, {"bank": high}, other=0.0)
    picture = charts.curves(qa(planted(tiny_engine, rule), PASSAGE, "who"), "curves").wide
    grid = [y for (y,) in drawn(picture, "bx-svg-grid", "y1")]
    highest = min(y for name in ("start", "end") for _, y in points(picture, name))
    assert min(grid) <= highest < max(grid)
    assert (max(grid) - highest) >= 0.3 * (max(grid) - min(grid)), "and not much more"


# -- both ends together ---------------------------------------------------------------------------


def cells(picture: Html) -> dict[tuple[float, float], float]:
    """Left and top of every cell of the map -> its shade; without those of the legend."""
    found = re.findall(r'<g data-at="[^"]*">(<rect [^>]*>)', str(picture))
    rects = [rect for each in found for rect in elements(each, "rect", "bx-svg-cell")]
    return {(rect.number("x"), rect.number("y")): rect.number("fill-opacity") for rect in rects}


def test_likelier_pairs_are_darker_up_to_the_likeliest(result: QaResult) -> None:
    picture = charts.pairs(result).wide
    grid = result.grid
    drawn_cells = cells(picture)
    assert len(drawn_cells) == grid.allowed.sum(), "what cannot be an answer is not drawn"
    shares = grid.probability[grid.allowed]
    assert sorted(drawn_cells.values()) == pytest.approx(sorted(shares / shares.max()), abs=0.0006)
    assert f"0 to {view.percent(float(shares.max()))} of all probability" in shown(picture)
    common = cells(charts.pairs(result, "common").wide)
    assert sorted(common.values()) == pytest.approx(sorted(shares), abs=0.0006)
    assert "0 to 100.0 % of all probability" in shown(charts.pairs(result, "common").wide)


def test_the_frame_is_around_the_row_of_the_start_and_the_column_of_the_end(
    tiny_engine: Engine,
) -> None:
    rule = by_token({"cat": 5.0}, {"bank": 5.0})
    result = qa(planted(tiny_engine, rule), PASSAGE, "who")
    for picture in (charts.pairs(result).wide, charts.pairs(result).narrow):
        ((x, y, width, height),) = drawn(picture, "bx-qa-frame", "x", "y", "width", "height")
        shades = cells(picture)
        assert shades[x, y] == max(shades.values()) == 1.0
        rows = elements(picture, "text", "bx-svg-name")
        assert [row.text for row in rows if y < row.number("y") < y + height] == ["CAT"]
        columns = re.findall(r'<text x="([\d.]+)"[^>]*rotate\(-45[^>]*>(.*?)<', str(picture))
        (column,) = [word for at, word in columns if x < float(at) < x + width]
        assert column == "bank"


def test_rows_are_start_words_and_columns_end_words(spread: QaResult) -> None:
    picture = charts.pairs(spread).wide
    words = LONG.split()
    assert spread.grid.rows != spread.grid.columns
    rows = [each.text for each in elements(picture, "text", "bx-svg-name")]
    columns = re.findall(r"rotate\(-45[^>]*>(.*?)<", str(picture))
    assert rows == [words[n] for n in spread.grid.rows]
    assert columns == [words[n] for n in spread.grid.columns]
    assert "around the start and the end" in shown(charts.pairs_note(spread))


def test_the_pairs_table_begins_with_the_likeliest(result: QaResult) -> None:
    table = charts.pairs(result).table
    assert table["probability"].is_monotonic_decreasing
    assert table.iloc[0]["start word"] == table.iloc[0]["end word"] == "dog"
    assert table["probability"].iloc[0] == result.grid.probability.max()


# -- windows --------------------------------------------------------------------------------------


def test_a_short_passage_is_read_at_once_and_a_long_one_says_how(
    tiny_engine: Engine, result: QaResult
) -> None:
    assert str(view.windows(result)) == ""
    rule = by_token({"river": 5.0}, {"bank": 5.0})
    passage = "the cat sat. " * 60 + "River Bank " + "the dog. " * 60
    long = qa(planted(tiny_engine, rule), passage, "who")
    said = shown(view.windows(long))
    assert f"{long.coverage.pieces:,} pieces were read in {len(long.coverage.windows)}" in said
    first, behind = long.coverage.windows[long.coverage.answer_window]
    assert f"pieces {first:,} to {behind - 1:,}" in said, "from 0, the last one included"
    assert first <= long.coverage.answer[0] <= long.coverage.answer[1] < behind


# -- other parts ----------------------------------------------------------------------------------


def test_several_questions_are_listed_with_their_answers(
    tiny_engine: Engine, result: QaResult
) -> None:
    none = qa(planted(tiny_engine, by_token({}, {}, null=3.0)), PASSAGE, "where")
    table = view.overview([result, none])
    assert table["answer"].tolist() == ["dog", "(no answer)"]
    assert table["question"].tolist() == ["who <b>?", "where"]
    listed = str(view.answered_list([result, none], 1))
    rows = re.findall(r"<button(.*?)>(.*?)</button>", listed)
    assert [(re.findall(r'data-value="(\d)"', look), shown(text)) for look, text in rows] == [
        (["0"], "1. who <b>?dog"), (["1"], "2. wherenone in this passage")]  # fmt: skip
    assert [('tabindex="0"' in look, "aria-current" in look) for look, _ in rows] == [
        (False, False), (True, True)]  # fmt: skip


def test_the_page_says_what_a_probability_is(result: QaResult) -> None:
    said = shown(view.meaning(result))
    assert f"that the passage has an answer: {view.percent(1 - result.null_probability)}" in said
    assert f"the best answer has {view.percent(result.given_answer)} of it" in said
    product = result.given_answer * (1 - result.null_probability)
    assert product == pytest.approx(result.probability)
    assert f"{result.candidates:,} spans of at most 30 pieces" in said
    assert view.percent(result.touching) in shown(view.answers_note(result))
    assert "alibrated" in shown(view.outcome(result))


def test_the_rules_that_answers_keep_are_named(tiny_engine: Engine) -> None:
    engine = planted(tiny_engine, by_token({"dog": 5.0}, {"dog": 5.0}))
    for rules, told in (
        ({}, "(of whole words, within one sentence)"),
        ({"whole_words": False}, "(within one sentence)"),
        ({"whole_words": False, "one_sentence": False}, "in the passage; spans that"),
    ):
        assert told in shown(view.meaning(qa(engine, PASSAGE, "who", **rules)))


def test_hostile_text_never_becomes_markup(tiny_engine: Engine, nasty: str) -> None:
    passage = f"{nasty} cat {nasty}"
    result = qa(tiny_engine, passage, "cat", answers=20)
    pages = [
        view.outcome(result),
        view.verdict(replace(result, threshold=-15.0)),
        view.rejected(result),
        view.answered_list([result, result], 0),
        view.suggestions([nasty]),
        charts.overview(result),
        *screen(result).report().drawn(),
    ]
    for markup in map(str, pages):
        assert "<script" not in markup
        assert "<img" not in markup
        assert "\x00" not in markup
        assert "\u202e" not in markup


def test_pictures_fit_their_width(result: QaResult, spread: QaResult) -> None:
    for each in (result, spread):
        pictures: list[Picture] = [charts.answers(each), charts.pairs(each)]
        pictures += [charts.curves(each, kind) for kind in charts.KINDS]
        for picture in pictures:
            for markup, width in ((picture.wide, WIDE), (picture.narrow, NARROW)):
                spans = re.findall(r'<rect x="([-\d.]+)"[^>]*?width="([\d.]+)"', str(markup))
                assert spans and all(
                    float(x) >= 0 and float(x) + float(size) <= width + 0.2 for x, size in spans
                )
            assert picture.alt and len(picture.table) > 0


def test_the_snippet_prints_the_answers_of_the_page(tiny_engine: Engine, tiny_model) -> None:
    passage = 'the cat "sat" on\nthe mat. \\n the dog\'s bank'
    result = qa(tiny_engine, passage, "who sat?", answers=3, longest=4, whole_words=False)
    code = view.snippet(result).replace(repr(result.model), repr(str(tiny_model)))
    wanted = [f"{each.probability:.1%}  {each.text}" for each in result.answers]
    wanted.append(f"{result.null_probability:.1%}  (no answer)")
    assert ran(code)[1] == "\n".join(wanted) + "\n"
