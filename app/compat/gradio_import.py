"""Gradio's import without its stub files.

For each class of a component, Gradio parses the class's source and writes a stub file for editors
into its own folder: 1.8 of the 4.9 seconds of its import. On Python 3.11.7, that parser can fail if
another thread parses at the same time (python/cpython#106905).
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_MODULE, _WRITES_STUBS = "gradio.component_meta", "create_or_modify_pyi"


class _WithoutStubs(MetaPathFinder):
    """Finds the module that writes them, and has it write none."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == _MODULE else None
        if spec and spec.loader:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                setattr(module, _WRITES_STUBS, lambda *_: None)

            loader.exec_module = exec_module
        return spec


def write_no_stubs() -> None:
    """Let an import of Gradio from now on write no stub files."""
    if not any(isinstance(each, _WithoutStubs) for each in sys.meta_path):
        sys.meta_path.insert(0, _WithoutStubs())
