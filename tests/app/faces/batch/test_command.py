"""The command `batch`, in processes of its own: they divide, and are ended."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from app.__main__ import run
from app.declared import all_declared
from app.faces import ask
from bert_core.errors import BertError

ROOT = Path(__file__).parents[4]
TEXTS = ["the cat sat on the [MASK]", "", "a dog\x07 [MASK] <b>", "river bank", "[MASK] play"]
PARTS = 60  # seconds that a busy machine may take until there is one

Batch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def batch(tiny_folder: Path, tmp_path: Path) -> Batch:
    """Start the command in the folder of the test, with the tiny model."""
    environment = {**os.environ, "BERT_EXPLORER_MODEL": str(tiny_folder), "PYTHONPATH": str(ROOT)}

    def start(*arguments: str, program: str = "", **more: str) -> "subprocess.Popen[str]":
        own = ["-c", program] if program else ["-m", "app", "batch"]
        return subprocess.Popen(
            [sys.executable, *own, *arguments],
            stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**environment, **more},
        )  # fmt: skip

    return start


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return the exit status and what was said."""
    said = process.communicate(timeout=300)[1]
    return process.returncode, said


def many(folder: Path, count: int) -> Path:
    """Write so many short texts, all of them different."""
    (folder / "many.txt").write_text("".join(f"cat {n} [MASK]\n" for n in range(count)))
    return folder / "many.txt"


def kept(folder: Path) -> int:
    """Return how many parts are kept."""
    return len(list((folder / "out.jsonl.parts").glob("0*.jsonl")))


def wait_for_parts(folder: Path, count: int, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + PARTS
    while kept(folder) < count and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def expected(task: str, *values: object, **given: object) -> tuple[Any, str | None]:
    """Ask as a function: the JSON of an answer, or why there is none."""
    try:
        return json.loads(json.dumps(ask(task, *values, **given).json())), None
    except BertError as error:
        return {}, str(error)


def test_answers_are_those_of_the_function(batch: Batch, tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(TEXTS))
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["id", "text", "cased"], *([n, text, ["", "true", "no"][n % 3]]
                                        for n, text in enumerate(TEXTS))]
        )  # fmt: skip
    pairs = [{"first": "the cat", "second": text, "deep": [n]} for n, text in enumerate(TEXTS)]
    pq.write_table(pa.Table.from_pylist(pairs), tmp_path / "in.parquet")
    program = """
from app.__main__ import run
from app.faces.batch import command
command._PARTS = 2  # so that a process gets several rows
assert run(["batch", "fill_mask", "in.txt", "--out", "a.jsonl", "--top-k", "3"]) == 3
assert run(["batch", "tokenizer", "in.csv", "--out", "b.csv", "--length", "16"]) == 3
assert run(["batch", "next_sentence", "in.parquet", "--out", "c.parquet", "--workers", "3"]) == 3
"""
    status, said = ended(batch(program=program))
    assert status == 0, said
    assert said.splitlines()[0].startswith("a.jsonl: 5 rows, 1 with an error; ")
    assert not any(text in said for text in TEXTS if text)
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".parts")]

    found = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    for number, (text, row) in enumerate(zip(TEXTS, found, strict=True), 1):
        answer, error = expected("fill_mask", text, top_k=3)
        own = {"row": number, "input_text": text, "error": error}
        assert {name: value for name, value in row.items() if value is not None or not error} == {
            **{name: value for name, value in own.items() if value is not None}, **answer
        } if error else row == {**own, **answer}  # fmt: skip
    with (tmp_path / "b.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    for number, (text, line) in enumerate(zip(TEXTS, cells, strict=True)):
        given = [{}, {"cased": True}, {"cased": "no"}][number % 3]
        answer, error = expected("tokenizer", text, length=16, **given)
        assert (line["row"], line["id"], line["text"], line["error"]) == (
            str(number + 1), str(number), text, error or ""
        )  # fmt: skip
        for name, value in answer.items():
            plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            assert line[name] == plain, name
    table = pq.read_table(tmp_path / "c.parquet")
    assert table.schema.field("deep").type == pa.list_(pa.int64())
    assert table.schema.field("follows").type == pa.bool_()
    for pair, parts in zip(pairs, table.to_pylist(), strict=True):
        answer, error = expected("next_sentence", pair["first"], pair["second"])
        assert parts["error"] == error and {name: parts[name] for name in pair} == pair
        assert parts["follows"] == answer.get("follows")
        if not error:
            assert json.loads(parts["probabilities"]) == answer["probabilities"]
            assert json.loads(parts["provenance"]) == answer["provenance"]


def test_nothing_is_lost_or_twice_after_a_kill_and_a_stop(
    batch: Batch, tmp_path: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    count, chance = 240, random.Random()
    arguments = ["fill_mask", str(many(tmp_path, count)), "--out", "out.jsonl", "--top-k", "1"]
    process = batch(*arguments)
    wait_for_parts(tmp_path, chance.randrange(1, 60), process)
    own = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = own.read_text().split() if own.exists() else []
    process.send_signal(signal.SIGKILL)
    assert ended(process)[0] == -signal.SIGKILL, "it was to be killed before its end"
    before = kept(tmp_path)
    end = time.monotonic() + PARTS
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert before and not any(map(alive, workers))
    process = batch(*arguments)
    wait_for_parts(tmp_path, before + 20, process)
    process.send_signal(signal.SIGTERM)
    status, said = ended(process)
    assert status == 128 + signal.SIGTERM, said
    assert "Stopped. The answers so far are kept in out.jsonl.parts; run the same command" in said
    assert "cat" not in said and "Traceback" not in said
    assert before < kept(tmp_path) < count, "it goes on where the last one was"
    assert not (tmp_path / "out.jsonl").exists()
    for name in ("BERT_EXPLORER_THREADS", "BERT_EXPLORER_RUNS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that it is as before at the end
    monkeypatch.chdir(tmp_path)
    assert run(["batch", *arguments[:-1], "2"]) == 2
    assert "another run: values differ. Give --restart" in capsys.readouterr().err
    status, said = ended(batch(*arguments))
    assert status == 0, said
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["row"] for row in found] == list(range(1, count + 1))
    assert [row["text"] for row in found] == [f"cat {n} [MASK]" for n in range(count)]
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == ["out.jsonl"]
    chosen = chance.randrange(count)
    answer, _ = expected("fill_mask", f"cat {chosen} [MASK]", top_k=1)
    assert found[chosen]["slots"] == answer["slots"]


def alive(pid: str) -> bool:
    """Return whether a process runs; a zombie does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
def test_processes_that_load_the_model_anew_answer(batch: Batch, tmp_path: Path) -> None:
    arguments = ["tokenizer", str(many(tmp_path, 4)), "--out", "out.jsonl", "--restart"]
    assert ended(batch(*arguments, BERT_EXPLORER_DEVICE="auto"))[0] == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 4


def test_memory_does_not_grow_with_the_file_and_a_process_that_is_ended_is_told(
    batch: Batch, tmp_path: Path
) -> None:
    """Measured with a function that answers at once: what is held is the same."""
    program = """
import json, os, resource, signal, sys
from pathlib import Path
from app.__main__ import run
from app.faces.batch import answering

def answer_rows(task, model, rows):
    found = [{"answer": {"words": len(given["text"])}} for given, wrong in rows]
    return "".join(json.dumps(each) + "\\n" for each in found).encode()

answering.answer_rows, used = answer_rows, []
for count in (3, 300, 20_000):
    Path("in.txt").write_text("".join(f"cat {n}\\n" for n in range(count)))
    assert run(["batch", "tokenizer", "in.txt", "--out", f"{count}.parquet"]) == 0
    used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
assert used[2] - used[1] < 24_000, used  # KB

def answer_rows(task, model, rows):
    os.kill(os.getpid(), signal.SIGKILL)  # as the system does if memory runs out

answering.answer_rows = answer_rows
raise SystemExit(run(["batch", "tokenizer", "in.txt", "--out", "out.csv"]))
"""
    status, said = ended(batch(program=program))
    assert pq.read_table(tmp_path / "3.parquet")["words"].to_pylist() == [5, 5, 5], said
    assert pq.read_table(tmp_path / "20000.parquet").num_rows == 20_000
    assert status == 2 and "Traceback" not in said
    assert said.splitlines()[-1].startswith("A process was ended, perhaps because memory ran out.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing", "in.txt", "--out", "o.csv"], "There is no task named 'nothing'"),
        (["ner", "in.txt"], "the following arguments are required: --out. See"),
        (["ner", "in.txt", "--out", "o.csv", "--workers", "0"], "--workers: expected 1 or more"),
        (["ner", "in.txt", "--out", "o.csv", "--aggregation", "best"], "aggregation: found 'best'"),
        (["ner", "in.txt", "--out", "o.xlsx"], "expected a name that ends in .parquet, .csv,"),
        (["ner", "in.docx", "--out", "o.csv"], "expected a name that ends in .txt, .csv, .tsv,"),
        (["ner", "missing.txt", "--out", "o.csv"], "There is no file missing.txt."),
        (["ner", "empty.txt", "--out", "o.csv"], "empty.txt has no rows."),
        (["ner", "in.txt", "--out", "nowhere/o.csv"], "No such file or directory"),
        (["ner", "in.txt", "--out", "old.csv"], "old.csv exists. Give another --out"),
        (["ner", "old.csv", "--out", "old.csv", "--overwrite"], "old.csv exists."),
        (["ner", "in.txt", "--out", "o.csv", "--model", "nowhere"], "model: found 'nowhere'"),
        (["ner", "old.csv", "--out", "o.csv"], "ner needs text; found the columns 'a, layers'."),
        (["qa", "in.txt", "--out", "o.csv"], "qa needs passage; found the columns 'question'."),
        (["lab", "in.txt", "--out", "o.csv"], "lab needs a column with one of its values;"),
        (["lab", "old.csv", "--out", "o.csv", "--layers", "1"], "layers is a column and an option"),
        (["ner", "broken.parquet", "--out", "o.csv"], "cannot be read as Parquet (ArrowInvalid)."),
        (["ner", "busy.txt", "--out", "busy.csv"], "Another run writes into busy.csv.parts."),
    ],
)
def test_a_refusal_is_one_line_status_2_and_leaves_nothing(
    tiny_model: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for name in ("BERT_EXPLORER_THREADS", "BERT_EXPLORER_RUNS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # so that it is as before at the end
    for name, content in {"in.txt": "the cat", "busy.txt": "the cat", "empty.txt": "",
                          "in.docx": "", "old.csv": "a,layers\nb,1\n",
                          "broken.parquet": "PAR1 PAR1"}.items():  # fmt: skip
        (tmp_path / name).write_text(content)
    before = sorted(tmp_path.iterdir())
    (tmp_path / "busy.csv.parts").mkdir()
    with FileLock(tmp_path / "busy.csv.parts/lock"):
        try:
            status = run(["batch", *arguments])
        except SystemExit as left:
            status = int(left.code or 0)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "") and says in err
    assert err.count("\n") == 1 and "Traceback" not in err
    assert sorted(each for each in tmp_path.iterdir() if "busy.csv" not in each.name) == before


def test_every_task_has_its_values_as_options(capsys: pytest.CaptureFixture[str]) -> None:
    for each in all_declared():
        with pytest.raises(SystemExit, match="0"):
            run(["batch", each.feature.slug, "--help"])
        said = capsys.readouterr().out
        assert all(f"--{one.name.replace('_', '-')}" in said for one in each.parameters)
