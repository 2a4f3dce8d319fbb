"""Problem sheets: solutions get all points, wrong answers the sentence that helps."""

import io
import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.__main__ import run
from app.sheets import sheets as reading
from app.sheets.child import results
from app.sheets.grading import graded, job_of
from app.sheets.sheets import Cell, read_given, sheet, sheets
from bert_core.errors import InputError
from bert_core.model.pretrained import BertPreTrainedModel

# Of each sheet: what is replaced in the solution of a blank, and the sentence that it must get.
WRONG = {
    1: [
        ("longest_match", "range(len(word), start, -1)", "range(start + 1, len(word) + 1)",
         "Begin with the longest candidate"),
        ("longest_match", 'prefix = "##" if start else ""', 'prefix = ""', "have ## before them"),
        ("longest_match", 'return ["[UNK]"]', 'return [*pieces, "[UNK]"]', "whole word is unknown"),
        ("trace", "            return tried\n", "            return tried[:-1]\n", "is not found"),
        ("offsets", 'piece.removeprefix("##")', "piece", "no part of the word"),
        ("fertility", "return pieces / sum(len(text.split()) for text in texts)",
         "return sum(len(tokenizer.tokenize(t)) / len(t.split()) for t in texts) / len(texts)",
         "the mean of two texts"),
    ],
    2: [
        ("layer_norm", "centred.square().mean(-1, keepdim=True)", "x.var(-1, keepdim=True)",
         "by D, not by D - 1"),
        ("layer_norm", "keepdim=True) + eps).sqrt()", "keepdim=True)).sqrt() + eps",
         "under the root"),
        ("attention", " / query.shape[-1] ** 0.5", "", "square root of K"),
        ("attention", ".softmax(-1)", ".softmax(-2)", "softmax over the keys"),
        ("attention", 'scores.masked_fill(mask == 0, float("-inf"))', "scores", "-inf before"),
        ("layer_norm_gradient", "(own - own.mean(-1, keepdim=True) - z * (own * z).mean(-1, "
         "keepdim=True))", "own", "two more terms"),
        ("attention_gradient", "scores = scale * shares", "scores = shares", "counts backwards"),
    ],
    3: [
        ("choose", " & ~special", "", "[PAD] is chosen"),
        ("choose", " & ~special", " & (torch.arange(48) < 40)", "[CLS] is chosen in 1"),
        ("choose", "(torch.rand(special.shape, generator=generator) < rate) & ~special",
         "torch.rand(special.shape, generator=generator).masked_fill(special, 2)"
         ".argsort(1).argsort(1) < int(38 * rate)", "you round down"),
        ("corrupt", "(fate >= 0.9), others", "(fate >= 0.8), mask_id",
         "Not every chosen token is hidden"),
        ("corrupt", "torch.where(chosen, input_ids, -100)",
         "torch.where(chosen & (fate < 0.9), input_ids, -100)", "also of those that stay"),
        ("masked_loss", ".mean()", ".sum() / labels.numel()", "not by the number of all tokens"),
        ("masked_loss", "labels != -100\n", "labels > -200\n    labels = labels.clamp(min=0)\n",
         "positions without a label"),
        ("masked_loss", "return -", "return ", "negative logarithm"),
        ("floor_of_guessing", "minlength=size) + 1", "minlength=size)", "1 of 7"),
    ],
    4: [
        ("without_head", "        columns.copy_(kept)", "        pass", "keep the columns first"),
        ("without_head", "[:, head * size : (head + 1) * size]",
         "[head * size : (head + 1) * size]", "not rows"),
        ("without_head", "    finally:\n", "    except ValueError:\n        pass\n    else:\n",
         "use `finally`"),
        ("gradient_x_input", ".log_softmax(-1)[piece]", ".softmax(-1)[piece]", "neither"),
        ("gradient_x_input", "(gradient * kept[0]).sum(-1)", "gradient.norm(dim=-1)", "no length"),
        ("fall", "order[:count]", "order[:1]", "Expected"),
        ("chance_of_it", ">=", ">", "exactly as good"),
    ],
    5: [
        ("split", "trained += [own[number] for number in order[count:]]", "trained += own",
         "cannot measure"),
        ("split", "torch.randperm(len(own), generator=generator).tolist()", "range(len(own))",
         "always the same"),
        ("train_step", "optimizer.zero_grad()", "pass", "until `zero_grad()`"),
        ("train_step", "model.train()", "pass", "Train with dropout"),
        ("accuracy", "model.eval()", "model.train()", "switches dropout off"),
        ("interval", "(middle + sign * spread) / (1 + z * z / number)",
         "share + sign * z * (share * (1 - share) / number) ** 0.5", "no width at the ends"),
        ("better_by_chance", "2 * tail", "tail", "two tails"),
    ],
    6: [
        ("freeze", '"embeddings."', '"none."', "embeddings are not frozen"),
        ("freeze", "range(layers)", "range(layers + 1)", "only one was asked for"),
        ("fine_tune", "        optimizer.zero_grad()\n", "", "until `zero_grad()`"),
        ("baseline", "Counter(trained)", "Counter(held)", "may not look"),
        ("over_seeds", "4.303", "1.96", "for many runs"),
        ("over_seeds", "(len(shares) - 1)", "len(shares)", "n - 1"),
    ],
    7: [
        ("control_tags", "sorted(set(words))", "list(dict.fromkeys(words))", "sort the kinds"),
        ("control_tags", "return [of[word] for word in words]", "return torch.randint(tags, "
         "(len(words),), generator=generator).tolist()", "Draw once a kind"),
        ("probe", "decay * torch.eye", "2 * decay * torch.eye", "The weights differ"),
        ("selectivity", "float(right[~train].float().mean())", "float(right[~train].sum())",
         "Divide"),
        ("selectivity", "shares[0] - shares[1]", "shares[1] - shares[0]", "first minus"),
    ],
    8: [
        ("parameters", "model.parameters()}", "model.parameters() if each.dim() == 2}", "are 16"),
        ("milliseconds", "1000 * sorted(took)[3]", "1000 * sum(took) / 7", "Take the median"),
        ("milliseconds", "    work()\n    took", "    took", "One run to warm up"),
        ("first_guess", ".argmax()", ".argmin()", "read at the mask"),
    ],
}  # fmt: skip


ORIGINAL = BertPreTrainedModel.from_pretrained.__func__  # type: ignore[attr-defined]
loaded = cache(ORIGINAL)


@pytest.fixture(autouse=True)
def models_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_pretrained(kind: type, name: str, **more: Any) -> Any:
        return ORIGINAL(kind, name, **more) if more else deepcopy(loaded(kind, name))

    monkeypatch.setattr(BertPreTrainedModel, "from_pretrained", classmethod(from_pretrained))


@pytest.mark.parametrize("number", WRONG)
def test_solutions_get_all_points(number: int, tmp_path: Path) -> None:
    found, path = sheet(number), tmp_path / "solved.ipynb"
    assert found.points == 10
    path.write_bytes(found.solved().notebook())
    told = dict(results(job_of(found, read_given(path))))
    names = {name for name, *_ in WRONG[number]}  # the check of each can fail
    assert told == {blank.name: "" for blank in found.blanks} and told.keys() == names


@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=pytest.mark.slow if each == 4 else ()) for each in WRONG]
)
def test_a_wrong_answer_gets_the_sentence_that_helps(number: int) -> None:
    found, right = sheet(number), {each.name: each.source for each in sheet(number).solved().blanks}
    left = list(WRONG[number])
    while left:  # one run takes one mistake in each blank
        answers, wanted = dict(right), {}
        for row in list(left):
            name, old, new, says = row
            if name not in wanted:
                assert old in right[name], (name, old)
                answers[name], wanted[name] = right[name].replace(old, new), says
                left.remove(row)
        for name, says in results(job_of(found, found.answered(answers).cells)):
            assert bool(says) == (name in wanted), (name, says)
            assert wanted.get(name, "") in says, (name, says)


def test_the_same_share_of_each_row_is_as_right_as_a_coin_for_each_token() -> None:
    found = sheet(3)
    right = {each.name: each.source for each in found.solved().blanks}
    coin = "(torch.rand(special.shape, generator=generator) < rate) & ~special"
    rows = (
        "torch.rand(special.shape, generator=generator).masked_fill(special, 2).argsort(1)"
        ".argsort(1) < ((~special).sum(1, keepdim=True) * rate).round()"
    )
    right["choose"] = right["choose"].replace(coin, rows)
    assert "argsort" in right["choose"]
    assert dict(results(job_of(found, found.answered(right).cells)))["choose"] == ""


def test_a_file_cannot_stop_the_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sheets.grading.STEP_SECONDS", 1)
    right = sheet(1).solved().blanks
    forged = 'import sys\nfor stream in (sys.stdout, sys.stderr):\n    print(\'["trace", ""]\', '
    bad = [
        Cell("code", f"{forged}file=stream, flush=True)\n"),
        Cell("check", "raise SystemExit", "trace"),  # neither counts
        Cell("code", "while True:\n    pass"),
        Cell("code", "import sys; sys.exit(1)"),
        Cell("code", "def longest_match(w, v):\n    while True:\n        pass"),
        Cell("code", "def trace(word, vocabulary):\n    return bytearray(2**40)"),
        Cell("code", "def offsets(:"),
        right[3],
    ]
    grades = {each.name: each for each in graded(sheet(1), bad)}
    assert "loop that does not end" in grades["longest_match"].says
    assert "more memory" in grades["trace"].says
    assert "There is no function offsets" in grades["offsets"].says
    assert "Line 1 of a cell is not Python" in grades["offsets"].says
    assert grades["fertility"].points == 2


def test_what_was_checked_before_the_file_is_stopped_counts() -> None:
    leaves = "def trace(word, vocabulary):\n    import os\n    os._exit(0)"
    cells = [sheet(1).solved().blanks[0], Cell("code", leaves)]
    grades = graded(sheet(1), cells)
    assert [each.points for each in grades] == [3, 0, 0, 0]
    assert all("Not reached" in each.says for each in grades[1:])
    sleeps = "import time\ntry:\n    time.sleep(300)\nexcept BaseException:\n    time.sleep(300)"
    grades = graded(sheet(1), [Cell("code", sleeps)], seconds=0.5)
    assert all("at most 0.5 seconds" in each.says for each in grades)


def test_the_commands_copy_grade_and_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sheet"]) == 0
    assert capsys.readouterr().out.count("(10 points)") == 8 == len(sheets())
    assert run(["sheet", "1", "--copy", str(tmp_path)]) == 0
    path = tmp_path / "1_pieces.ipynb"
    assert "is not found" in path.read_text(encoding="utf-8")
    assert "removeprefix" not in path.read_text(encoding="utf-8")  # no solution
    assert run(["sheet", "1", "--copy", str(tmp_path)]) == 2  # nobody's answers are written over
    assert run(["sheet", "1", "--copy", str(tmp_path / "all"), "--solutions"]) == 0
    assert "removeprefix" in (tmp_path / "all" / path.name).read_text(encoding="utf-8")
    first = sheet(1).solved().blanks[0]
    path.write_bytes(sheet(1).answered({first.name: first.source}).notebook())
    assert run(["sheet", "1", str(path)]) == 0
    said = capsys.readouterr()
    assert "3 of 10 points" in said.out and "  0 of 3  trace: Not written yet." in said.out
    assert "is being executed" in said.err and "File exists" in said.err
    assert run(["sheet", "9"]) == 2 and run(["sheet", "1", str(tmp_path / "none")]) == 2
    refused = capsys.readouterr().err
    assert (
        "There is no sheet 9. Sheets are: 1, 2, 3, 4, 5, 6, 7, 8." in refused
        and "cannot be" in refused
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"\xff\xfe", b"{}", b'{"cells": [{}]}', b'{"cells": 3}',
     b'{"cells": [{"cell_type": "code", "source": 3}]}', b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_notebook_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(InputError, match="neither a notebook"):
        read_given(path)


def test_a_copy_without_solutions_grades_and_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (reading.FOLDER / "1_pieces.py").read_text(encoding="utf-8")
    (tmp_path / "1_pieces.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(reading, "FOLDER", tmp_path)
    with pytest.raises(InputError, match="no solution of sheet 1"):
        sheet(1).solved()
    job = job_of(sheet(1), read_given(tmp_path / "1_pieces.py"))
    assert [says for _, says in results(job)] == ["Not written yet."] * 4


def test_a_notebook_has_the_cells_of_its_source() -> None:
    for each in sheets().values():
        written = json.load(io.BytesIO(each.notebook()))
        assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
        kinds = [cell["cell_type"] for cell in written["cells"]]
        assert kinds[0] == "markdown" and len(kinds) == len(each.cells)
        names = [cell.name for cell in each.cells if cell.kind == "check"]
        assert names == [cell.name for cell in each.blanks]
