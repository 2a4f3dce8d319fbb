"""Everything that is computed from the bundled weights belongs to those that are here."""

import re
from pathlib import Path

import pytest

from app.catalog import FOLDER
from app.features.lab.task_finetune_recorded import weights_of
from app.settings import BUNDLED_MODEL, ROOT
from bert_core.bundled import bundled_folder
from tools import derive
from tools.derive import read_table, stale, stamp, weights_here

BUNDLE = bundled_folder(BUNDLED_MODEL)


def test_every_derived_file_belongs_to_the_weights_that_are_here() -> None:
    assert stale(weights_here(), read_table(), derive.derived_files(), ROOT) == []


def test_every_file_beside_the_weights_is_derived_or_comes_with_them() -> None:
    given = {"model.safetensors", "vocab.txt", "tokenizer_config.json", "training.json"}
    given |= {"reading.md"}  # by a person, about these answers; the export of others removes it
    files = {path.relative_to(ROOT).as_posix() for path in BUNDLE.rglob("*") if path.is_file()}
    rest = {name for name in files - set(derive.derived_files()) if Path(name).name not in given}
    assert [name for name in rest if not re.search(r"/curve-\d\.(svg|csv)$", name)] == []


def test_what_names_its_weights_names_those_that_are_here() -> None:
    """Files that a person writes, too, name their weights themselves."""
    weights = weights_here()
    named = {
        path.parent.name: re.findall(r'^weights = "(\w+)"', path.read_text(encoding="utf-8"), re.M)
        for path in FOLDER.glob("*/*.toml")
    }
    found = {name: each[0] for name, each in named.items() if each}
    found |= {f"finetune, {kind}": weights_of(kind) for kind in ("texts", "words")}
    assert found
    assert {name: each for name, each in found.items() if each != weights} == {}, (
        "Marked or measured with other weights: `python -m tools.derive examples finetune`."
    )


def test_a_file_that_does_not_belong_to_the_weights_is_named_with_its_command(
    tmp_path: Path,
) -> None:
    file, table, weights = tmp_path / "numbers.json", tmp_path / "tools/table", weights_here()
    file.write_text("[1]\n", encoding="utf-8")
    table.parent.mkdir()
    table.write_text("{}", encoding="utf-8")
    stamp("heads", [file.name], table)
    rows, expected = read_table(table), {file.name: "heads"}
    assert stale(weights, rows, expected, tmp_path) == []
    for wrong, (here, known, there) in {
        f"was computed from other weights ({weights})": ("0" * 12, rows, expected),
        "is derived from the weights, but not in the table": (weights, {}, expected),
        "is in the table, but no longer there": (weights, rows, {}),
    }.items():
        (said,) = stale(here, known, there, tmp_path)
        assert wrong in said and said.endswith("Run `python -m tools.derive heads`.")
    file.write_text("[2]\n", encoding="utf-8")
    (said,) = stale(weights, rows, expected, tmp_path)
    assert "was changed after it had been computed" in said


def test_a_table_is_found_by_its_head() -> None:
    text = "Words.\n\n| a | b |\n|---|---:|\n| x | 1 |\n\n| c |\n|---|\n| 2 |\n\nMore.\n"
    table = "| a | b |\n|---|---:|\n| x | 3 |\n| y | 4 |"
    found = derive.with_table(text, table)
    assert found == text.replace("| x | 1 |", "| x | 3 |\n| y | 4 |")
    with pytest.raises(ValueError, match="expected one"):
        derive.with_table(text, "| d |\n|---|\n| 2 |")


def test_steps_run_in_order_and_only_those_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run: list[list[str]] = []

    class Done:
        returncode = 0

    monkeypatch.setattr(derive.subprocess, "run", lambda c, **_: run.append(c[3:]) or Done)
    assert derive.main(["--data", "there"]) == 0
    assert [each[0] for each in run] == [step.name for step in derive.STEPS]
    assert ["figures", "--data", "there"] in run and ["quotes"] in run
    run.clear()
    assert derive.main(["pictures", "quotes"]) == 0
    assert run == [["quotes"], ["pictures"]]
    with pytest.raises(SystemExit):
        derive.main(["figures", "quotes"])
    assert "figures: give the folder of the evaluation data" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        derive.main(["everything"])
    assert "unknown: everything" in capsys.readouterr().err


def test_a_step_that_fails_ends_it_and_what_is_left_to_a_person_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    statuses = iter([0, 3, 1])

    class Done:
        def __init__(self) -> None:
            self.returncode = next(statuses)

    monkeypatch.setattr(derive.subprocess, "run", lambda *_, **__: Done())
    assert derive.main(["heads", "examples"]) == 3
    assert derive.main(["heads", "examples"]) == 1
    assert "heads failed" in capsys.readouterr().out
    monkeypatch.setattr(derive, "stamp", lambda *_, **__: None)
    step = derive.Step("one", "does one thing", lambda _: ["Read x."])
    monkeypatch.setattr(derive, "STEPS", (step,))
    assert derive.main(["one"]) == 3
    said = capsys.readouterr().out
    assert said.startswith("one: does one thing\n  for a person: Read x.\none: 0 s")
