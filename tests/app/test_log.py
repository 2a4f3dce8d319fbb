"""The log: what its lines have, and what they never have."""

import ast
import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.log import Log, Printed, cause, line_of
from tests.strangers import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
SECRET = "what-a-visitor-typed"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def raised(work: Callable[[], object]) -> Exception:
    """Return the exception of some work."""
    with pytest.raises(Exception) as found:
        work()
    return found.value


def fail(error: Exception) -> None:
    raise error


# -- causes ----------------------------------------------------------------------------------------


def test_a_cause_has_the_class_and_the_places_and_not_the_message() -> None:
    said = cause(raised(lambda: fail(ValueError(SECRET))))
    assert said.startswith("ValueError, tests/app/test_log.py:") and SECRET not in said
    assert said.endswith("in fail") and str(ROOT) not in said


def test_an_error_of_the_system_is_named_in_its_words() -> None:
    said = cause(OSError(28, f"no room for {SECRET}", SECRET))
    assert said == "OSError ENOSPC (No space left on device)"
    assert cause(OSError(SECRET)) == "OSError" and cause(OSError(10**6, SECRET)) == "OSError"


def test_a_cause_names_what_led_to_it() -> None:
    def chain() -> None:
        try:
            fail(KeyError(SECRET))
        except KeyError as error:
            raise RuntimeError(SECRET) from error

    assert cause(raised(chain)).startswith("RuntimeError from KeyError, ")
    group = ExceptionGroup(SECRET, [KeyError(SECRET), OSError(28, SECRET), KeyError(1)])
    assert cause(group) == "ExceptionGroup of KeyError and OSError ENOSPC (No space left on device)"

    def again() -> None:
        again()

    assert cause(raised(again)).count(" in again") == 30


# -- lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("break_", ["\n", "\r", "\v", "\f", "\x1b[31m", "\x85", "\u2028", "\ud800"])
def test_a_line_stays_one_line_of_plain_characters(break_: str) -> None:
    line = line_of("INFO", "app", f"one{break_}two")
    assert re.fullmatch(rf"{TIME} INFO app: one\\[ -~]+two\n", line)


def test_a_line_can_be_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.log._Site.as_json", True)
    line = line_of("ERROR", "app", "one\n\u2028\ud800two")
    assert re.fullmatch(r"[ -~]+\n", line)
    told = json.loads(line)
    assert re.fullmatch(TIME, told.pop("time"))
    assert told == {"level": "ERROR", "logger": "app", "event": "one\n\u2028\ud800two"}


def log_of(minute: float = 3600) -> tuple[Log, io.StringIO]:
    out = io.StringIO()
    return Log(out, minute), out


def record(
    name: str, error: Exception | None = None, level: int = logging.ERROR
) -> logging.LogRecord:
    """Make a record that quotes a visitor."""
    info = (type(error), error, error.__traceback__) if error else None
    path = str(ROOT / "app" / "log.py")
    return logging.LogRecord(name, level, path, 7, "%s is wrong", (SECRET,), info)


def test_a_record_of_a_library_is_its_place_and_the_class_of_the_exception() -> None:
    log, out = log_of()
    log.handle(record("gradio.x", raised(lambda: fail(ValueError(SECRET)))))
    place = r"tests/app/test_log\.py:\d+ in fail"
    assert re.fullmatch(
        rf"{TIME} ERROR gradio\.x: app/log\.py:7, ValueError, {place}\n", out.getvalue()
    )
    log.handle(record("gradio.x", level=logging.INFO))
    assert out.getvalue().count("\n") == 1


def test_a_record_of_ours_keeps_its_message() -> None:
    log, out = log_of()
    log.handle(record("app", level=logging.INFO))
    log.handle(record("app.server.health", raised(lambda: fail(ValueError("hidden")))))
    first, second = out.getvalue().splitlines()
    assert first.endswith(f"INFO app: {SECRET} is wrong")
    assert f"{SECRET} is wrong, ValueError, tests/" in second and "hidden" not in second


def test_what_is_repeated_is_written_once_and_then_counted() -> None:
    log, out = log_of(minute=1.5)
    for _ in range(1_001):
        log.handle(record("gradio.x"))
    log.handle(record("gradio.y"))
    assert out.getvalue().count("\n") == 2
    until(lambda: "more" in out.getvalue())
    assert (
        out.getvalue().splitlines()[2].endswith("gradio.x: app/log.py:7, 1,000 more in 1.5 seconds")
    )
    log.handle(record("gradio.x"))
    assert out.getvalue().count("\n") == 4


def test_after_its_end_or_when_it_is_closed_nothing_is_written() -> None:
    log, out = log_of()
    log.end()
    log.handle(record("app"))
    assert out.getvalue() == ""
    log, out = log_of()
    out.close()
    log.handle(record("app"))


# -- what is printed -------------------------------------------------------------------------------


def printed(module: str, source: str) -> tuple[str, str]:
    """Run the source of a module; return what it has printed, and what the log says of that."""
    log, out = log_of()
    real = io.StringIO()
    names = {"__name__": module, "out": Printed(real, log), "SECRET": SECRET}
    exec(compile(source, "there.py", "exec"), names)  # noqa: S102 - a module of a library
    return real.getvalue(), out.getvalue()


def test_what_a_library_prints_is_its_place_and_what_we_print_stays() -> None:
    real, said = printed("gradio.x", "\nprint(SECRET, file=out)")
    assert real == "" and re.fullmatch(rf"{TIME} WARNING print: there\.py:2\n", said)
    real, said = printed(
        "gradio.x",
        "import traceback\ntry: int(SECRET)\nexcept ValueError: traceback.print_exc(file=out)\n",
    )
    assert real == "" and said.count("\n") == 1
    assert "print: there.py:3, ValueError, there.py:2 in <module>" in said and SECRET not in said
    for module in ("app.server.start", "__main__"):
        assert printed(module, "print('here', file=out)") == ("here\n", "")


# -- the whole process -----------------------------------------------------------------------------

PROCESS = f"""
import logging, sys, threading, warnings
own = logging.getLogger("library")
own.propagate = False
from app import log
log.begin()
own.addHandler(logging.StreamHandler(sys.__stderr__))
def work():
    raise KeyError("{SECRET}")
class Left:
    def __del__(self):
        raise TypeError("{SECRET}")
own.error("%s %s", "{SECRET}")
own.info("{SECRET}")
warnings.warn("{SECRET}")
thread = threading.Thread(target=work)
thread.start(), thread.join()
Left()
logging.getLogger("app").info("one\\ntwo")
exec(compile("print('{SECRET}')", "printer.py", "exec"), {{"__name__": "printer"}})
raise OSError(28, "{SECRET}")
"""


def test_a_process_keeps_one_log_of_everything() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    lines = [re.sub(rf"^{TIME} ", "", line) for line in done.stderr.splitlines()]
    assert [re.sub(r":\d+", "", line) for line in lines] == [
        "ERROR library: <string>",
        "WARNING py.warnings: <string>, UserWarning",
        "ERROR python: thread, KeyError, <string> in work",
        "ERROR python: unraisable, TypeError, <string> in __del__",
        r"INFO app: one\ntwo",
        "WARNING print: printer.py",
        "ERROR app: ended: OSError ENOSPC (No space left on device), <string> in <module>",
    ]


def test_nothing_of_ours_logs_the_message_of_an_exception() -> None:
    """Without `begin` (in a notebook, say), other handlers would write it."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py")}
    logging = {path: ast.parse(text) for path, text in texts.items() if "_LOG." in text}
    assert logging
    for path, tree in logging.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("_LOG."):
                assert node.func.attr != "exception", path  # type: ignore[attr-defined]
                assert not {"exc_info", "stack_info"} & {each.arg for each in node.keywords}, path
