"""Problem sheets: solutions get all points, blanks none, wrong answers the sentence that helps."""

import io
import json
from pathlib import Path

import pytest

from app.__main__ import run
from app.sheets import sheets as reading
from app.sheets.child import results
from app.sheets.grading import graded, job_of
from app.sheets.sheets import Cell, read_given, sheet, sheets
from bert_core.errors import InputError

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
        ("first_guess", "[0, at]", "[0, 0]", "read at the mask"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("number", WRONG)
def test_solutions_get_all_points_and_blanks_none(number: int, tmp_path: Path) -> None:
    found = sheet(number)
    assert found.points == 10
    for name, each, says in (("blank", found, "Not written yet."), ("solved", found.solved(), "")):
        path = tmp_path / f"{name}.ipynb"
        path.write_bytes(each.notebook())
        told = dict(results(job_of(found, read_given(path))))
        assert told == {blank.name: says for blank in found.blanks}


@pytest.mark.parametrize("number", WRONG)
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


def given(text: str) -> list[Cell]:
    return [Cell("code", text)]


def test_a_file_cannot_stop_the_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sheets.grading.STEP_SECONDS", 1)
    right = sheet(1).solved().blanks
    bad = [
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
    sleeps = given(
        "import time\ntry:\n    time.sleep(300)\nexcept BaseException:\n    time.sleep(300)"
    )
    assert all("at most 0.5 seconds" in each.says for each in graded(sheet(1), sleeps, seconds=0.5))


def test_what_a_file_prints_and_its_own_checks_do_not_count() -> None:
    forged = 'import sys\nfor stream in (sys.stdout, sys.stderr):\n    print(\'["trace", ""]\', '
    forged += "file=stream, flush=True)\n"
    cells = [*given(forged), Cell("check", "raise SystemExit", "trace")]
    assert {each.points for each in graded(sheet(1), cells)} == {0}


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
    assert run(["sheet", "1", str(tmp_path / "all" / path.name), str(path)]) == 0
    said = capsys.readouterr()
    assert "10 of 10 points" in said.out and "0 of 10 points" in said.out
    assert "  0 of 3  longest_match: Not written yet." in said.out
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
    assert [each.says for each in graded(sheet(1), read_given(tmp_path / "1_pieces.py"))] == (
        ["Not written yet."] * 4
    )


def test_a_notebook_has_the_cells_of_its_source() -> None:
    for each in sheets().values():
        written = json.load(io.BytesIO(each.notebook()))
        assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
        kinds = [cell["cell_type"] for cell in written["cells"]]
        assert kinds[0] == "markdown" and len(kinds) == len(each.cells)
        names = [cell.name for cell in each.cells if cell.kind == "check"]
        assert names == [cell.name for cell in each.blanks]
