"""The command line."""

import io
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.__main__ import run
from app.faces import ask
from app.faces.terminal import LISTED, listed, main


def test_what_it_says_of_the_tasks_is_what_they_declare() -> None:
    kept = json.loads(LISTED.read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(listed())), "Run `python -m tools.derive api`."


def test_help_imports_no_torch() -> None:
    program = """
import sys
from app.__main__ import run
for arguments in ([], ["--help"], ["qa", "--help"], ["batch", "--help"], ["record", "--help"]):
    try:
        run(arguments)
    except SystemExit as left:
        assert not left.code
    assert not {"torch", "pandas"} & sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for says in ("--html", "--restart", "record OUT", "python -m app record"):
        assert says in done.stdout


def test_an_answer_imports_no_server_and_no_library_of_tables_or_charts() -> None:
    text = "Ada lived in London. She was there."
    asked = (["tokenizer", text], ["input", text], ["fill_mask", "Ada [MASK] in London."],
             ["fill_mask_surprise", text], ["next_sentence", text, text], ["ner", text],
             ["qa", "Who lived?", text], ["classification", text], ["lab"],
             ["multiple_choice", text, "Yes.", "No."])  # fmt: skip
    program = f"""
import sys
from app.__main__ import run
for arguments in {asked!r}:
    assert run(arguments) == 0
    heavy = {{"fastapi", "streamlit", "gradio", "plotly", "requests", "pandas"}}
    assert not heavy & sys.modules.keys(), arguments
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wrong_setting_is_one_line_and_status_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app", "fill_mask", "[MASK]"],
        env={**os.environ, "BERT_EXPLORER_DEVICE": "x"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("BERT_EXPLORER_DEVICE is 'x'; expected cpu")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing"], "invalid choice: 'nothing'"),
        (["qa", "Who?"], "the following arguments are required: passage. See"),
        (["senses", "cat"], "the following arguments are required: text. See"),
        (["fill_mask", "[MASK]", "--top-k", "nan"], "top_k: found a text; expected a whole number"),
        (["fill_mask", "[MASK]", "--top-k", "200"], "top_k: found 200; expected"),
        (["fill_mask", "[MASK]", "--top", "3", "--nothing"], "unrecognized arguments: --nothing"),
        (["fill_mask", " "], "The text is empty."),
        (["fill_mask", "no gap"], "The text has no [MASK], so there is nothing to guess."),
        (["fill_mask", "no gap", "--json"], "The text has no [MASK]"),
        (["fill_mask", "no gap", "--html", "nowhere/x.html"], "The text has no [MASK]"),
        (["fill_mask", "[MASK]", "--model", "nowhere"], "model: found 'nowhere'"),
        (["ner", "cat", "--aggregation", "best"], "aggregation: found 'best'; expected none or"),
        (["tokenizer", "cat", "--json", "--html", "x"], "not allowed with argument"),
        (["tokenizer", "cat", "--html", "nowhere/x.html"], "nowhere/x.html cannot be written: No"),
    ],
)
def test_a_refusal_is_one_line_and_status_2(
    tiny_model: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(arguments)
    except SystemExit as left:
        status = int(left.code or 0)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and says in err and "Traceback" not in err


def test_a_text_can_come_from_another_program(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("the cat"))
    assert main(["tokenizer", "-", "--cased", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"]["tokens"] == ["[CLS]", "the", "cat", "[SEP]"]
    assert found["lower_case"] is False


def test_questions_come_before_the_passage_as_on_the_page(
    tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["qa", "who sat?", "the cat sat on the mat.", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = ask("qa", "the cat sat on the mat.", "who sat?").json()  # as a function: as declared
    assert printed == json.loads(json.dumps(found))
    assert printed["question"] == "who sat?"


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])  # the second without a locale
def test_what_is_no_text_is_refused_in_one_line(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    errors: str,
) -> None:  # fmt: skip
    raw = io.BytesIO(b"ab\ncaf\xe9\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(raw, "utf-8", errors))
    assert main(["tokenizer", "-"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "line 2 (byte 0xe9)" in err and err.count("\n") == 1


@pytest.mark.parametrize("choices", [["a dog", "the mat"], ["a dog\nthe mat"], ["-"]])
def test_a_list_is_several_texts_or_one_with_a_line_for_each(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    choices: list[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffa dog\r\n\r\nthe mat\r\n"))
    assert main(["multiple_choice", "the cat", *choices, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(
        json.dumps(ask("multiple_choice", "the cat", ["a dog", "the mat"]).json())
    )
    assert main(["multiple_choice", "the cat", "a dog"]) == 2
    assert "Found 1 choice; expected 2 to 8" in capsys.readouterr().err


def test_recording_is_a_command_beside_the_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(["record", str(tmp_path)]) == 2
    assert "contains files" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        run(["record"])
    assert left.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run([]) == 0 and "record OUT" in capsys.readouterr().out


def test_the_package_is_a_program(tiny_folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "app", "tokenizer", "the 海", "--model", str(tiny_folder)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"The model reads 2 words as 2 pieces." in ran.stdout and b"\\u6d77" in ran.stdout


@pytest.mark.parametrize("arguments", [[], ["sheet"], ["lesson", "--help"], ["ner", "--help"]])
def test_a_console_of_western_europe_prints_every_command(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", write_through=True)
    monkeypatch.setattr("sys.stdout", console)
    with suppress(SystemExit):
        run(arguments)
    console.seek(0)
    assert len(console.read()) > 50


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["sheet"], ["lesson", "not"], ["tokenizer", "a"]]
)
def test_a_command_whose_reader_has_gone_ends_silently(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8") as gone:
        monkeypatch.setattr("sys.stdout", gone)
        with suppress(SystemExit):
            run(arguments)
    assert capsys.readouterr().err == ""
