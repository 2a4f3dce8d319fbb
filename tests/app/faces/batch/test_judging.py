"""`batch … --gold COLUMN` reports what the page of tables reports, for files of any length."""

import json
from pathlib import Path

import pytest

from app.data.samples import SAMPLES, sample
from app.declared.answers import engine_of
from app.faces import ask
from app.faces.batch.judging import check_gold, judge
from app.faces.paper.answers import record
from app.faces.paper.json import as_json
from bert_core.errors import InputError
from tests.sample_answers import answered

GOLD = {"reviews": "sentiment", "pairs": "next", "questions": "answers", "gaps": "word",
        "choices": "label"}  # fmt: skip
PARTS = {
    "reviews": {"text": "review"},
    "pairs": {"first": "first", "second": "second"},
    "questions": {"passage": "context", "question": "question"},
    "gaps": {"text": "sentence"},
    "choices": {"context": "context", "choices": "choices"},
}


@pytest.mark.parametrize("name", GOLD)
def test_the_report_is_that_of_the_page(name: str, tmp_path: Path) -> None:
    whole, most = answered(name), 12 if name == "reviews" else 40
    lines = []
    for _, row in sample(name).rows[:most]:
        given = {part: row[column] for part, column in PARTS[name].items()}
        lines.append(({**row, **given}, {"answer": record(ask(whole.task, **given))}))
    lines.append(({"text": "left out"}, {"error": "why"}))
    said = judge(whole.task, engine_of(""), GOLD[name], lambda: iter(lines), tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["left_out"] == 1 and "1 rows are not counted" in said
    assert set(SAMPLES) == {*GOLD, "names"}
    if len(whole.rows) <= most:
        wanted = as_json(whole.report)
        assert found["report"]["right"] == wanted["right"]
        assert found["report"]["f1"] == pytest.approx(wanted["f1"])
        assert found["report"]["macro_f1"] == pytest.approx(wanted["macro_f1"])
    else:
        right = sum(bool(row.right) for row in whole.rows[:most])
        assert found["report"]["right"]["right"] == right


def test_what_cannot_be_judged_is_refused_before_anything_is_answered() -> None:
    with pytest.raises(InputError, match="tokenizer is not judged"):
        check_gold("tokenizer", "label", ["text", "label"])
    with pytest.raises(InputError, match="no column 'odd'; found text"):
        check_gold("ner", "odd", ["text"])
