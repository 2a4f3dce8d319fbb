"""Annotations against the model: read line by line, counted as the CoNLL tasks count."""

import random
import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest

from app.engine.models import Engine
from app.features.ner import view_agreement as view
from app.features.ner.result_agreement import Agreement, Counts
from app.features.ner.task_agreement import ner_agreement
from app.features.ner.task_annotated import compare, read_annotated
from bert_core.errors import InputError
from tests.taggers import KNOWN, NAMES, save_tagger

BIOES = ("O", *(f"{mark}-{kind}" for kind in ("PER", "LOC") for mark in "BIES"))
LINES = """The\tO
cat\tB-PER
sat\tO
on\tO
the\tO
river\tB-ORG
bank\tI-ORG

dog\tB-PER
mat\tO
xyz\tB-DATE
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return Engine(str(save_tagger(tmp_path_factory.mktemp("tagger"), known=KNOWN)))


@pytest.fixture
def agreement(engine: Engine) -> Agreement:
    return ner_agreement(engine, LINES)


def shown(markup: object) -> str:
    return unescape(re.sub(r"<[^>]*>", "", str(markup)))


def chunk_ends(before: str, tag: str) -> tuple[bool, bool]:
    """Whether a chunk ends before a tag, and whether one starts at it: the CoNLL rules, by hand."""
    mark, kind = before[0], before[2:]
    new, new_kind = tag[0], tag[2:]
    ends = mark != "O" and (mark in "ES" or new in "BSO" or new_kind != kind)
    starts = new != "O" and (new in "BS" or mark in "ESO" or new_kind != kind)
    return ends, starts


def counted(gold: list[list[str]], found: list[list[str]]) -> tuple[Counter, Counter, Counter]:
    """Walk both sequences once, token by token, and count chunks of each kind."""
    right, annotated, marked = Counter(), Counter(), Counter()
    open_both = ""
    before = ("O", "O")
    for sentence, other in zip(gold, found, strict=True):
        for pair in zip([*sentence, "O"], [*other, "O"], strict=True):
            (g_ends, g_starts), (f_ends, f_starts) = map(chunk_ends, before, pair)
            if open_both:
                if g_ends and f_ends:
                    right[open_both] += 1
                    open_both = ""
                elif g_ends != f_ends:
                    open_both = ""
            if g_starts and f_starts and pair[0][2:] == pair[1][2:]:
                open_both = pair[0][2:]
            annotated[pair[0][2:]] += g_starts
            marked[pair[1][2:]] += f_starts
            before = pair
    return right, annotated, marked


@pytest.mark.parametrize("names", [NAMES, BIOES], ids=["BIO", "BIOES"])
@pytest.mark.parametrize("seed", range(20))
def test_the_counts_are_those_of_a_walk_by_the_conll_rules(names: tuple, seed: int) -> None:
    source = random.Random(seed)
    gold = [source.choices(names, k=source.randint(1, 9)) for _ in range(30)]
    found = [
        [tag if source.random() < 0.7 else source.choice(names) for tag in sentence]
        for sentence in gold
    ]
    lines = "\n\n".join(
        "\n".join(f"w{n}\t{tag}" for n, tag in enumerate(sentence)) for sentence in gold
    )
    kinds = sorted({name[2:] for name in names if name != "O"})
    tags = [tag for sentence in found for tag in sentence]
    said = compare(read_annotated(lines), tags, names, kinds)
    right, annotated, marked = counted(gold, found)
    for counts in said.kinds:
        wanted = annotated[counts.kind], marked[counts.kind], right[counts.kind]
        assert (counts.annotated, counts.found, counts.right) == wanted
    assert said.total.right == right.total() > 0
    assert said.total.annotated == sum(annotated[kind] for kind in kinds)
    assert said.total.found == sum(marked[kind] for kind in kinds)
    assert said.unknown == ()
    told = Counter(each.verdict for each in said.differences)
    paired = told["other kind"] + told["other ends"]
    assert told["missed"] + paired == said.total.annotated - said.total.right
    assert told["invented"] + paired == said.total.found - said.total.right


def test_the_models_names_are_compared_word_by_word(agreement: Agreement) -> None:
    assert agreement.text == "The cat sat on the river bank\ndog mat xyz"
    assert (agreement.words, agreement.sentences) == (10, 2)
    assert agreement.total == Counts("", annotated=4, found=4, right=2)
    told = [
        (
            each.verdict,
            each.sentence,
            each.annotated and agreement.text[each.annotated.start : each.annotated.end],
            each.found and each.found.kind,
        )
        for each in agreement.differences
    ]
    assert told == [
        ("other kind", 1, "river bank", "LOC"),
        ("invented", 2, None, "ORG"),
        ("missed", 2, "xyz", None),
    ]
    assert agreement.unknown == ("DATE",)


def test_a_word_takes_the_label_of_its_first_piece_even_if_the_tokenizer_cuts_it(
    engine: Engine,
) -> None:
    # "cat-dog" is three words to the tokenizer and one to the person who annotated it.
    agreement = ner_agreement(engine, "cat-dog B-PER\nplaying B-MISC\n\u200b O\nsat O")
    assert agreement.total == Counts("", 2, 2, 2)


def test_no_name_goes_on_into_the_next_sentence(engine: Engine) -> None:
    agreement = ner_agreement(engine, "cat B-PER\n\ndog I-PER")
    assert agreement.total == Counts("", 2, 2, 2)
    assert ner_agreement(engine, "cat B-PER\ndog I-PER").total == Counts("", 1, 1, 1)


def test_precision_recall_and_f1_are_shares_of_the_counts() -> None:
    counts = Counts("PER", annotated=8, found=6, right=5)
    assert counts.precision == pytest.approx(5 / 6)
    assert counts.recall == pytest.approx(5 / 8)
    assert counts.f1 == pytest.approx(2 * (5 / 6) * (5 / 8) / (5 / 6 + 5 / 8))
    nothing = Counts("", 0, 0, 0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    assert Counts("", 3, 0, 0).f1 == 0.0


def test_files_of_the_conll_tasks_are_read_as_they_are() -> None:
    lines = "-DOCSTART- -X- -X- O\n\nU.N. NNP I-NP I-ORG\r\nofficial NN I-NP O\n\n\nHeads\tNNS\tO\n"
    annotated = read_annotated(lines)
    assert annotated.text == "U.N. official\nHeads"
    assert annotated.tags == ("I-ORG", "O", "O")
    assert annotated.starts == (0, 2)
    assert [annotated.text[a:b] for a, b in annotated.words] == ["U.N.", "official", "Heads"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("Anna met Karl", "Line 1 ends with 'Karl'"),
        ("Anna\tB-PER\nmet", "Line 2 has one column"),
        ("\tB-PER", "Line 1 has one column"),
        (" \n\n", "no annotated word"),
        ("-DOCSTART- O", "no annotated word"),
        ("Anna\tB-", "Line 1 ends with 'B-'"),
    ],
)
def test_what_is_no_annotation_is_refused_with_its_line(lines: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_annotated(lines)


def test_long_annotations_are_read_whole(engine: Engine) -> None:
    agreement = ner_agreement(engine, "the\tO\ncat\tB-PER\ndog\tI-PER\n\n" * 200)
    assert agreement.total == Counts("", 200, 200, 200)
    assert agreement.differences == ()


def test_the_page_tells_figures_counts_and_differences(agreement: Agreement) -> None:
    said = shown(view.outcome(agreement))
    assert "F1 50.0 %" in said
    assert "Precision 50.0 %: of 4 names that the model marked, 2 are right" in said
    assert "Recall 50.0 %: of 4 annotated names it found 2" in said
    assert "no label for DATE" in said
    table = view.kinds_table(agreement)
    assert table["kind"].tolist() == ["DATE", "LOC", "ORG", "PER", "all kinds"]
    assert table.iloc[-1, 1:].tolist() == [4, 4, 2, "50.0 %", "50.0 %", "50.0 %"]
    assert table.iloc[0, 4:].tolist() == ["–", "0.0 %", "0.0 %"]
    differences = view.differences_table(agreement)
    assert differences["difference"].tolist() == ["other kind", "invented", "missed"]
    assert differences["annotated"].tolist() == ["river bank", "–", "xyz"]
    assert view.describe(agreement).startswith("3 differences: other kind: “river bank”")


def test_nothing_on_both_sides_and_full_agreement_are_said_plainly(engine: Engine) -> None:
    nothing = ner_agreement(engine, "the O\nsat O")
    assert "Neither the annotations nor the model" in shown(view.outcome(nothing))
    assert view.describe(nothing).startswith("No difference")
    one = ner_agreement(engine, "cat B-PER")
    assert "of 1 name that the model marked, 1 is right" in shown(view.outcome(one))


def test_markup_in_annotations_stays_text(engine: Engine) -> None:
    agreement = ner_agreement(engine, "<b>x</b>\tB-<img>\ncat\tO")
    drawn = f"{view.outcome(agreement)}"
    assert "<img" not in drawn
    assert "<b>x" not in drawn
    assert "<img>" in shown(drawn) or "<img>" in unescape(drawn)


def test_labels_without_names_are_compared_too(tmp_path: Path) -> None:
    engine = Engine(str(save_tagger(tmp_path / "nameless", names=())))
    agreement = ner_agreement(engine, "cat B-PER\nsat O")
    assert agreement.total.annotated == 1
    assert agreement.unknown == ("PER",)


def suffixed(tag: str) -> str:
    return "Other" if tag == "O" else f"{tag[2:]}-{tag[0]}".lower()


def test_marks_may_be_written_otherwise_by_the_model_and_by_the_person(
    agreement: Agreement, tmp_path: Path
) -> None:
    known = {piece: suffixed(tag) for piece, tag in KNOWN.items()}
    names = [suffixed(name) for name in NAMES]
    other = Engine(str(save_tagger(tmp_path, names=names, known=known)))
    lines = re.sub(r"([BI])-(\w+)", r"\2_\1", LINES)
    assert ner_agreement(other, lines).total == agreement.total
    assert ner_agreement(other, LINES + "\n\u0301\tO\n").total == agreement.total
