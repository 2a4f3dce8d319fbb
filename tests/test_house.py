"""Check the structural rules of the code on its syntax trees, without importing the site.

The permitted imports are read from the table in ARCHITECTURE.md, so the page and these checks
cannot diverge. Every check is also tested on small made-up sources that break its rule.
"""

import ast
import fnmatch
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from app.catalog import FEATURES
from bert_core.errors import InputError
from tools.new_feature import missing, rows, write

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"build", "dist", "runs", "node_modules", "__pycache__"}
CONFINED = {
    "inference_mode": "app/engine/compute",
    "no_grad": "app/engine/compute",
    "cache_data": "app/faces/streamlit",
    "cache_resource": "app/faces/streamlit",
}
# Written in parts, so that this file does not match its own patterns.
PLACES_OF_THE_IMAGE = {"/" + "tmp", "/" + "home/user/"}
OF_THE_CLUSTER = "deploy/cluster/compose.yaml"
ABOUT_THE_IMAGE = {"Dockerfile", "deploy/check.py", "docs/hosting.md", OF_THE_CLUSTER}
ELSEWHERE = re.compile(
    "|".join(
        [r"\.\./" + "shared", r"(?<![\w./-])/(?:" + "work|root|tmp" + r")\b", "/home/" + r"\w+/"]
    )
)


def files(pattern: str) -> Iterator[Path]:
    """Yield all matching files of the checkout, except environments and build outputs."""
    for folder, below, names in os.walk(ROOT):
        below[:] = sorted(
            name
            for name in below
            if name not in SKIPPED and (name[0] != "." or name in {".ci", ".streamlit"})
        )
        names = [name for name in names if name != ".git"]  # a file in a worktree
        yield from (Path(folder, name) for name in sorted(fnmatch.filter(names, pattern)))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


SOURCES = {name_of(p): p.read_text(encoding="utf-8") for p in files("*.py")}
PRODUCT = {name: text for name, text in SOURCES.items() if not name.startswith("tests/")}


def import_table(page: str) -> dict[str, list[str]]:
    """Return what each package may import, from the table whose last column says so."""
    table = page.partition("| may import |")[2]
    found = re.findall(r"^\| `([^`]+)` \|[^|]*\| (.*) \|$", table, re.M)
    return {package: re.findall(r"`([^`]+)`", allowed) for package, allowed in found}


def is_in(package: str, place: str) -> bool:
    """Return whether a place is in a package.

    `app/words` contains `app/words/html` and `app/words_html`, not `app/wordss`.
    """
    return _slug_in(package, place) is not None


def _slug_in(package: str, place: str) -> str | None:
    """Return what `<slug>` in a package's name is in a given place; "" if there is no slug."""
    pattern = re.escape(package).replace("<slug>", r"(?P<slug>[a-z_]+)") + r"(?![A-Za-z0-9])"
    found = re.match(pattern, place)
    return None if found is None else found.groupdict().get("slug", "")


@cache
def imports(source: str) -> tuple[tuple[str, ...], ...]:
    """Return the possible paths of each import: `from a import b` is `a/b` (a module) or `a`."""
    found: list[tuple[str, ...]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name.replace(".", "/"),) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "").replace(".", "/")
            found += [(f"{module}/{alias.name}", module) for alias in node.names]
    return tuple(found)


def forbidden_imports(name: str, source: str, table: dict[str, list[str]]) -> list[str]:
    place = name if name in table else name.removesuffix(".py")
    packages = [package for package in table if is_in(package, place)]
    if not packages:
        return [f"{name} is in no package of ARCHITECTURE.md"]
    package = max(packages, key=len)
    slug = _slug_in(package, place) or "<slug>"
    allowed = [each.replace("<slug>", slug) for each in table[package]]
    return [
        f"{name} imports {meanings[0]}"
        for meanings in imports(source)
        if meanings[-1].split("/")[0] not in sys.stdlib_module_names
        and not any(is_in(package, meaning) for package in allowed for meaning in meanings)
    ]


def unconditional_skips(name: str, source: str) -> list[str]:
    """Return unconditional skips: such a test never runs anywhere."""
    found: list[str] = []

    def visit(node: ast.AST, guarded: bool) -> None:
        text = ast.unparse(node) if isinstance(node, ast.Call | ast.Attribute) else ""
        bare_mark = text in {"pytest.mark.skip", "unittest.skip"}
        constant = re.match(
            r"(pytest\.mark|unittest)\.skip(if|If|Unless)\((True|False|1|0)\b", text
        )
        bare_call = re.match(r"pytest\.skip\(", text) and not guarded
        if bare_mark or constant or bare_call:
            found.append(f"{name}:{getattr(node, 'lineno', 0)} skips unconditionally")
        guards = isinstance(node, ast.If | ast.ExceptHandler | ast.IfExp | ast.match_case)
        for child in ast.iter_child_nodes(node):
            visit(child, guarded or guards)

    visit(ast.parse(source), False)
    doctests = [line for line in source.splitlines() if re.search(r"#\s*doctest:.*SKIP", line)]
    return found + [f"{name} skips {line.strip()}" for line in doctests]


def strays(name: str, source: str) -> list[str]:
    """Return calls reserved for one package that are used in another part of the site."""
    words = {n.attr for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)}
    site = name.startswith(("app", "pages"))
    return [
        f"{name} uses {word}; only {package} may"
        for word, package in CONFINED.items()
        if site and word in words and not is_in(package, name)
    ]


def foreign_paths(name: str, text: str) -> list[str]:
    found = {each.group() for each in ELSEWHERE.finditer(text)}
    own = PLACES_OF_THE_IMAGE if name in ABOUT_THE_IMAGE else set()
    return [f"{name} names {place}" for place in sorted(found - own)]


def feature_folders(names: Iterable[str], file: str) -> set[str]:
    """Return the slugs whose folder has a file with this name."""
    found = (re.fullmatch(r"app/features/(\w+)/" + re.escape(file), name) for name in names)
    return {match[1] for match in found if match}


def slugs_in(names: Iterable[str], folder: str) -> set[str]:
    """Return the slugs of the pages in a folder (file names may be numbered)."""
    found = (re.fullmatch(re.escape(folder) + r"/(?:\d+_)?([a-z]\w*)\.\w+", n) for n in names)
    return {match[1] for match in found if match}


def third_party(folders: tuple[str, ...]) -> set[str]:
    """Return the third-party packages imported by the files in some folders."""
    found = {
        meanings[-1].split("/")[0]
        for name, source in PRODUCT.items()
        if name.startswith(folders)
        for meanings in imports(source)
    }
    return found - sys.stdlib_module_names - {name.split("/")[0] for name in PRODUCT}


PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
TABLE = import_table(PAGE)


def test_what_the_index_says_to_open_is_there() -> None:
    rows = PAGE.partition("| to change | open |")[2].partition("\n\n")[0]
    named = [row.partition("|")[2].split("|")[1] for row in rows.splitlines() if row.count("|") > 2]
    assert len(named) > 25
    for row in named:
        folder = ROOT
        for name in re.findall(r"`([^`]+)`", row):
            name = name.replace("<slug>", "senses")
            folder = (ROOT / name).parent if "/" in name else folder
            assert list(folder.glob(Path(name).name)) or (ROOT / name).exists(), (row, name)


def test_the_page_and_its_guide_stay_short() -> None:
    assert len(PAGE.split()) <= 2_500
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= 2_000


def test_the_import_table_covers_the_house() -> None:
    assert {"bert_core/text", "app/features/<slug>/task", "pages", "app.py"} <= TABLE.keys()


def test_every_file_imports_only_what_its_room_may() -> None:
    found = {name: forbidden_imports(name, text, TABLE) for name, text in PRODUCT.items()}
    assert {name: each for name, each in found.items() if each} == {} != found


def test_the_library_declares_exactly_what_it_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [re.split(r"[<>=!~ \[]", each)[0] for each in project["dependencies"]]
    library = third_party(("bert_core/",))
    assert set(declared[: len(library)]) == library  # first, as the README says
    site = {name.replace("_", "-") for name in third_party(("app", "pages/"))}
    assert site - {"redis", "ray"} <= {name.replace("_", "-") for name in declared}


def test_what_the_site_imports_is_pinned() -> None:
    files = "requirements.txt", "requirements-cluster.txt"
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    names = {  # import names that differ from the package name
        "prometheus-client": "prometheus_client",
        "sse-starlette": "sse_starlette",
    }
    pins = {names.get(pin, pin) for pin in re.findall(r"^([\w-]+)(?:\[\w+\])?==", text, re.M)}
    assert {"torch", "streamlit"} <= third_party(("app", "pages/", "bert_core/")) <= pins


def modules(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return the modules each module imports anywhere, including for type checking only."""
    names = {name.removesuffix(".py").removesuffix("/__init__"): name for name in sources}
    return {
        place: {
            next(meaning for meaning in meanings if meaning in names)
            for meanings in imports(sources[name])
            if any(meaning in names for meaning in meanings)
        }
        - {place}
        for place, name in names.items()
    }


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a cycle in the graph; [] if there is none."""
    done: set[str] = set()

    def walk(place: str, path: list[str]) -> list[str]:
        if place in path:
            return [*path[path.index(place) :], place]
        if place in done:
            return []
        found = next((c for each in sorted(graph[place]) if (c := walk(each, [*path, place]))), [])
        done.add(place)
        return found

    return next((found for place in sorted(graph) if (found := walk(place, []))), [])


def test_no_import_leads_back_to_where_it_began() -> None:
    assert circle(modules(PRODUCT)) == []


def scripts(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return the scripts that each script of a browser imports from its folder."""
    imported = re.compile(r"""\b(?:from|import)\s*\(?\s*["']\./([\w.]+)["']""")
    beside = {name: f"{name.rpartition('/')[0]}/" for name in sources}
    return {
        name: {beside[name] + each for each in imported.findall(text)} & sources.keys()
        for name, text in sources.items()
    }


def test_no_script_imports_what_imports_it() -> None:
    sources = {name_of(p): p.read_text(encoding="utf-8") for p in files("*.js")}
    graph = scripts({n: t for n, t in sources.items() if n.startswith(("live/", "assets/"))})
    assert {"live/blocks.js", "live/maps.js"} <= graph["live/draw.js"]
    assert circle(graph) == []


def test_what_belongs_to_one_room_stays_there() -> None:
    found = {name: strays(name, text) for name, text in PRODUCT.items()}
    assert {name: each for name, each in found.items() if each} == {} != found


SLUGS = sorted(
    {feature.slug for feature in FEATURES}
    | slugs_in(SOURCES, "pages") - {"home", "lessons"}
    | feature_folders(SOURCES, "task.py")
)
"""Every feature that any place knows."""


@pytest.mark.parametrize("slug", SLUGS)
def test_a_feature_has_everything_that_belongs_to_it(slug: str) -> None:
    assert list(missing(slug)) == []
    assert [feature.slug for feature in FEATURES].count(slug) == 1


def test_the_check_of_features_names_every_place(tmp_path: Path) -> None:
    for name in ("app/catalog.py", "docs/guide.md", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    files = write("odd_word", "Odd word", "INSIDE", tmp_path)
    assert len(files) == 9 and sum(map(len, map(Path.read_bytes, map(tmp_path.joinpath, files))))
    assert list(missing("odd_word", tmp_path)) == []
    guide = (tmp_path / "docs/guide.md").read_text(encoding="utf-8")
    order = [row["title"] for row in rows(tmp_path).values() if "tab_of" not in row]
    assert re.findall(r"^## (.*)$", guide, re.M) == ["Home", *order]
    for name in files[:6]:
        (tmp_path / name).rename(tmp_path / "aside")
        (said,) = missing("odd_word", tmp_path)
        assert name in said or Path(name).parent.as_posix() in said
        (tmp_path / "aside").rename(tmp_path / name)
    (tmp_path / "app/catalog.py").write_bytes((ROOT / "app/catalog.py").read_bytes())
    (said,) = missing("odd_word", tmp_path)
    assert said == "app/catalog.py has no row with slug='odd_word'."


@pytest.mark.parametrize("slug", ["qa", "fill_mask_more", "home", "class", "Odd", "odd-word", ""])
def test_a_name_that_cannot_be_a_feature_is_refused(slug: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/catalog.py").write_bytes((ROOT / "app/catalog.py").read_bytes())
    with pytest.raises(InputError, match=r"Found|is, or begins like"):
        write(slug, "Title", "INSIDE", tmp_path)


def test_no_test_is_skipped_unconditionally() -> None:
    own = Path(__file__).relative_to(ROOT).as_posix()
    named = re.compile(r"(mark|unittest|pytest)\.skip|doctest:.*SKIP")
    sources = {name: text for name, text in SOURCES.items() if named.search(text)}
    assert sources.pop(own)
    found = [skip for name, text in sources.items() for skip in unconditional_skips(name, text)]
    assert found == []


def test_nothing_names_a_place_outside_the_repository() -> None:
    texts = (p for p in files("*") if p.suffix not in {".png", ".safetensors", ".bin", ".woff2"})
    # Not every file is text; the readable parts of binary files are checked too.
    found = [foreign_paths(name_of(p), p.read_text("utf-8", errors="replace")) for p in texts]
    assert [place for places in found for place in places] == []


TINY = {
    "core": ["torch", "core"],
    "app/features/<slug>/task": ["core/errors", "app/features/<slug>/result"],
    "run.py": ["app"],
}


@pytest.mark.parametrize(
    ("name", "source", "complaints"),
    [
        ("core/model.py", "import os, torch.nn\nfrom core.errors import E", 0),
        ("core/model.py", "import torchvision", 1),
        ("core/model.py", "def f():\n    from app.features.qa import task", 1),
        ("app/features/qa/task.py", "from core import errors\nfrom core.errors import E", 0),
        ("app/features/qa/task.py", "from core import model", 1),
        ("app/features/qa/task.py", "from app.features.qa.result import QaResult", 0),
        ("app/features/qa/task_spans.py", "from app.features.qa.result import QaResult", 0),
        ("app/features/qa/task.py", "from app.features.ner.result import NerResult", 1),
        ("app/features/qa/task.py", "from . import ner", 1),
        ("run.py", "from app.features.qa.task import qa", 0),
        ("elsewhere.py", "", 1),
    ],
)
def test_the_import_check_sees_what_it_should(name: str, source: str, complaints: int) -> None:
    assert len(forbidden_imports(name, source, TINY)) == complaints


@pytest.mark.parametrize(
    ("source", "complaints"),
    [
        ("@pytest.mark.skip\ndef test_a(): ...", 1),
        ("@pytest.mark.skip(reason='later')\ndef test_a(): ...", 1),
        ("pytestmark = pytest.mark.skipif(True, reason='no')", 1),
        ("def test_a():\n    pytest.skip('later')", 1),
        ("# f()  # doctest: +SKIP", 1),
        ("def test_a():\n    if not found:\n        pytest.skip('no browser')", 0),
        ("@pytest.mark.skipif(not cuda(), reason='no GPU')\ndef test_a(): ...", 0),
    ],
)
def test_the_skip_check_sees_what_it_should(source: str, complaints: int) -> None:
    assert len(unconditional_skips("made_up.py", source)) == complaints


def test_the_other_checks_see_what_they_should() -> None:
    names = ["pages/2_qa.py", "pages/home.py", "pages/old/ner.py", "app/features/qa/task.py"]
    assert slugs_in([*names, "pages/_x.py"], "pages") == {"qa", "home"}
    assert feature_folders(names, "task.py") == {"qa"}
    source = "with torch.inference_mode():\n    pass"
    assert len(strays("app/features/qa/task.py", source)) == 1
    assert (
        strays("app/engine/compute/processor.py", source) == strays("training/a.py", source) == []
    )
    straight = {"a/__init__.py": "from a.b import c", "a/b.py": "import os"}
    assert circle(modules(straight)) == []
    assert circle(modules({**straight, "a/b.py": "def f():\n    from a import d"})) != []
    round_trip = {"a/b.js": 'import { c } from "./d.js";', "a/d.js": 'await import("./b.js")'}
    assert circle(scripts(round_trip)) == ["a/b.js", "a/d.js", "a/b.js"]


def test_the_place_check_sees_what_it_should() -> None:
    places = ["open('../" + "shared/x')", "see /" + "tmp/x", "cd /" + "root", "/home/" + "ada/x"]
    assert all(foreign_paths("made_up.py", place) for place in places)
    assert not foreign_paths("made_up.py", "tmp_path / 'x', a/" + "tmp, https://a.example/work")
