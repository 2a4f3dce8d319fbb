"""The files of the Spaces: front matter, what is uploaded, and what the Dockerfile promises."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.engine.models.curated import CURATED
from deploy.check import read_dockerfile
from deploy.tree import FILES, ROOT, build_tree

COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def front_matter(kind: str) -> dict[str, Any]:
    text = (ROOT / f"deploy/{kind}-space/README.md").read_text(encoding="utf-8")
    _, block, _ = text.split("---\n", 2)
    return dict(yaml.safe_load(block))


@pytest.mark.parametrize("kind", FILES)
def test_the_front_matter_is_what_spaces_accept(kind: str) -> None:
    found = front_matter(kind)
    assert found["sdk"] == kind
    assert len(found["short_description"]) <= 60  # longer ones are refused on push
    assert {found["colorFrom"], found["colorTo"]} <= COLOURS
    assert found["models"] == [each.wanted.name for each in CURATED]


def test_the_gradio_space_names_the_pinned_gradio_and_a_python_that_streamlit_runs_on() -> None:
    found = front_matter("gradio")
    pin = re.search(r"^gradio(?:\[\w+\])?==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)
    assert pin is not None and found["sdk_version"] == pin[1]
    assert found["python_version"] == "3.12"
    assert found["app_file"] in FILES["gradio"]


def test_the_docker_space_shows_the_port_of_the_image() -> None:
    port = str(front_matter("docker")["app_port"])
    assert read_dockerfile(ROOT / "Dockerfile").environment["STREAMLIT_SERVER_PORT"] == port
    assert re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.M) == [port]


@pytest.mark.parametrize("kind", FILES)
def test_a_tree_has_the_site_and_its_model_and_nothing_private(kind: str, tmp_path: Path) -> None:
    assert 45e6 < build_tree(kind, tmp_path / "tree") < 60e6
    names = {path.relative_to(tmp_path / "tree").as_posix() for path in tmp_path.rglob("*.*")}
    assert "bert_core/bundled/explorer-mini-uncased/model.safetensors" in names
    assert not [name for name in names if name.startswith(("tests", "training", "docs", ".git"))]
    with pytest.raises(FileExistsError):
        build_tree(kind, tmp_path / "tree")


def test_the_dockerfile_is_read_as_docker_reads_it(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        "FROM x\nWORKDIR /app\n# RUN python -m pip install no\n"
        "RUN python -m pip install \\\n  # no\n  a \\\n"
        " && python -m pip check\nRUN useradd u\nENV A=1 \\\n    B='2 3'\n"
        'HEALTHCHECK --interval=1s \\\n  CMD ["python", "h.py"]\nCMD ["python", "s.py"]\n'
    )
    recipe = read_dockerfile(tmp_path / "Dockerfile")
    assert recipe.steps == (
        ("python", "-m", "pip", "install", "a"),
        ("python", "-m", "pip", "check"),
        ("useradd", "u"),
    )
    assert recipe.environment == {"A": "1", "B": "2 3"}
    assert (recipe.health, recipe.start) == (("python", "h.py"), ("python", "s.py"))


def test_the_image_runs_as_user_1000_and_installs_only_what_is_locked() -> None:
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith((" ", "#"))]
    names = [line.split()[0] for line in lines]
    assert "RUN useradd --create-home --uid 1000 user" in lines and "USER user" in lines
    assert names.index("USER") > max(n for n, name in enumerate(names) if name == "RUN")
    assert "COPY --chown=user . ." in lines
    steps = read_dockerfile(ROOT / "Dockerfile").steps
    installs = [step for step in steps if step[:3] == ("python", "-m", "pip")]
    assert [install[3] for install in installs] == ["install", "install", "check"]
    assert all("--require-hashes" in install for install in installs[:2])


def test_what_the_image_copies_by_name_is_in_the_space_and_not_ignored() -> None:
    copied = re.findall(r"^COPY (?!-)(.+) \S+$", DOCKERFILE, re.M)
    named = [name for line in copied for name in shlex.split(line)]
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {"deploy/torch.lock", "deploy/requirements.lock"} == set(named) <= set(FILES["docker"])
    assert "!deploy/*.lock" in ignore
    kept = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    build_only = {"Dockerfile", ".dockerignore", *named}
    assert set(FILES["docker"]) - build_only <= kept
