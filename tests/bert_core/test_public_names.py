"""The public names of the library, which are imported when they are asked for."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bert_core

SOURCE = Path(bert_core.__file__).read_text(encoding="utf-8")


def imported_for_type_checkers() -> set[tuple[str, str, str]]:
    """Return module, name and public name of each import that only type checkers see."""
    block = next(node for node in ast.parse(SOURCE).body if isinstance(node, ast.If))
    return {
        (node.module or "", each.name, each.asname or each.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


def test_every_public_name_is_what_type_checkers_are_told() -> None:
    told = imported_for_type_checkers()
    assert {public for _, _, public in told} | {"__version__"} == set(bert_core.__all__)
    for module, name, public in told:
        home = __import__(module, fromlist=[name])
        assert getattr(bert_core, public) is getattr(home, name)


def test_modules_are_there_without_being_imported_by_name() -> None:
    code = "import bert_core as b; print(b.errors.InputError('no').args, 'BertModel' in dir(b))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "('no',) True\n"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    for name in ("BertForNothing", "_hidden", "no_module"):
        with pytest.raises(AttributeError, match=f"'bert_core' has no attribute '{name}'"):
            getattr(bert_core, name)


def test_errors_and_help_do_not_wait_for_pytorch() -> None:
    code = "import sys, bert_core.errors; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
