"""What frameworks do not document is used in the `compat` modules alone.

What is documented of each framework is listed here. A new import that is not listed is either
documented, and then belongs into the list, or not, and then belongs into a compat module, with what
it is needed for and a test in `tests/app/compat` or `tests/bert_core/test_compat.py`.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import pytest
from torch import nn

from tests.test_house import ROOT, SOURCES

COMPAT = (
    *("app/compat/", "bert_core/compat.py", "tests/compat/", "tests/app/compat/"),
    *("tests/bert_core/test_compat.py", "tests/test_private_uses.py"),
)
DOCUMENTED = {
    "streamlit": r"(errors|testing\.v1|delta_generator|components\.v2\.types)(\.|$)|$",
    "gradio": r"(components)(\.|$)|$",
    "uvicorn": r"$",
    "websockets": r"(asyncio\.client|sync\.client|exceptions|typing|datastructures|frames)(\.|$)|$",
    "torch": r"(?!.*(^|\.)_)",  # whatever has no underscore
}
# They begin with an underscore and are documented, or say more in a test than any public name.
NOT_PRIVATE = {"_exit", "_getframe", "_replace", "_fields", "_asdict"}
OF_OTHERS = {"_from_config", "_condition", "_waiters"}  # transformers; a lock of Python
# Private names without an underscore, which are reached through objects that anyone may hold.
QUIET = re.compile(
    r"\.(pending_messages_per_session|state_session_capacity|uses_pages_directory|current_page"
    r"|is_history_navigation|widget_user_keys_this_run|limit_concurrency|server_state"
    r"|trailing_data|state_holder)\b"
)
MODULE = {name for name in vars(nn.Module) if re.match(r"_[a-z]", name)}
HOOKED = {("bert_core/model/pretrained.py", "_apply")}
"""Methods of PyTorch's modules that are replaced; `bert_core/compat.py` says what for."""


@dataclass(frozen=True)
class Names:
    """What a file names: with their lines what it imports, reads and defines, and what it gives."""

    imports: list[tuple[int, str, str]] = field(default_factory=list)
    private: list[tuple[int, str]] = field(default_factory=list)
    functions: list[tuple[int, str]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)


@cache
def names_in(source: str) -> Names:
    """Read a file's names in one walk: all files have a million nodes."""
    found = Names()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute():
                if isinstance(node.ctx, ast.Store):
                    found.given.add(node.attr)
                if re.match(r"_[a-z]", node.attr):
                    found.private.append((node.lineno, node.attr))
            case ast.Name():
                if isinstance(node.ctx, ast.Store):
                    found.given.add(node.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.given.add(node.name)
                if isinstance(node, ast.FunctionDef):
                    found.functions.append((node.lineno, node.name))
            case ast.Import() | ast.ImportFrom():
                found.imports.extend((node.lineno, *each) for each in imported(node))
    return found


@cache
def known_names() -> set[str]:
    """Return every name that the repository itself gives to something, and what is allowed."""
    ours = (names_in(text).given for name, text in SOURCES.items() if not name.startswith(COMPAT))
    return set().union(NOT_PRIVATE, OF_OTHERS, *ours) - MODULE


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield package and the rest of each name that a statement imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            package, _, rest = alias.name.partition(".")
            yield package, rest
    if isinstance(node, ast.ImportFrom) and node.module:
        package, _, rest = node.module.partition(".")
        for alias in node.names:
            name = alias.name if alias.name.startswith("_") else ""
            yield package, ".".join(filter(None, (rest, name)))


def private_uses(name: str, source: str) -> list[str]:
    """Return what a file uses of frameworks that is not documented."""
    names = names_in(source)
    found = [
        f"{name}:{line} imports {package}.{rest}, which is not documented"
        for line, package, rest in names.imports
        if package in DOCUMENTED and not re.match(DOCUMENTED[package], rest)
    ]
    found += [
        f"{name}:{line} uses {word}, which is private"
        for line, word in names.private
        if word not in known_names() and (name, word) not in HOOKED
    ]
    found += [
        f"{name}:{line} replaces {hook}, which is private to PyTorch"
        for line, hook in names.functions
        if hook in MODULE and (name, hook) not in HOOKED
    ]
    lines = enumerate(source.splitlines(), 1)
    return found + [f"{name}:{n} uses {m[0]}" for n, line in lines for m in QUIET.finditer(line)]


def test_nothing_private_is_used_outside_the_compat_modules() -> None:
    outside = {name: text for name, text in SOURCES.items() if not name.startswith(COMPAT)}
    assert len(outside) > 500
    assert [use for name, text in outside.items() for use in private_uses(name, text)] == []


@pytest.mark.parametrize(
    "source",
    [
        "from streamlit.runtime.scriptrunner import get_script_run_ctx",
        "import streamlit.web.bootstrap",
        "from gradio.utils import LRUCache",
        "from uvicorn.server import ServerState",
        "from torch.utils._pytree import tree_leaves",
        "from torch import _foreach_lerp_",
        "import torch\ntorch.ops.mkldnn._linear_pointwise(x)",
        "face._queue_of_gradio.push()",
        "face.state_session_capacity = 3",
        "class Model(Module):\n    def _call_impl(self): ...",
    ],
)
def test_the_check_sees_what_it_should(source: str) -> None:
    assert len(private_uses("pages/1_page.py", source)) == 1


def test_documented_names_are_no_private_uses() -> None:
    source = "import streamlit as st, gradio, torch.nn.functional\nfrom torch.optim import Muon\n"
    assert private_uses("pages/1_page.py", f"{source}import os\nos._exit(0)\nst.text_area") == []


NAMED = re.compile(r"data-testid|get_by_test_id")
SHEETS = (
    *("app/faces/streamlit/style.css", "assets/presenter.css", "assets/components/bridge.js"),
    *("app/faces/streamlit/features/qa.css", "app/faces/streamlit/features/data.css"),
)


def test_streamlits_markup_is_named_in_its_own_sheets_and_one_script() -> None:
    files = [
        path
        for kind in ("*.css", "*.js")
        for folder in ("app", "assets", "pages")
        for path in (ROOT / folder).rglob(kind)
    ]
    named = {p.relative_to(ROOT).as_posix() for p in files if NAMED.search(p.read_text("utf-8"))}
    assert named == set(SHEETS)
