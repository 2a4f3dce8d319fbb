"""The locks of the image contain what requirements.txt pins, each file with its digests."""

import re
import subprocess

from deploy.tree import ROOT

PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[\w,]+\])?==([\w.+]+)", re.M)


def name_of(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def pins(file: str) -> set[tuple[str, str]]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return {(name_of(name), version) for name, version in PIN.findall(text)}


def entries(file: str) -> list[str]:
    """Return each package of a lock with the lines of its digests."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(r"^[A-Za-z0-9][^\n]*==[^\n]*(?:\n    --hash=\S+(?: \\)?)*", text, re.M)


def test_the_locks_contain_every_pin_of_the_site() -> None:
    required, locked = pins("requirements.txt"), pins("deploy/requirements.lock")
    (torch,) = (version for name, version in required if name == "torch")
    assert required - {("torch", torch)} <= locked, "run make lock"
    assert pins("deploy/torch.lock") == {("torch", f"{torch}+cpu")}, "run make lock"


def test_every_file_that_is_installed_has_a_digest() -> None:
    for file in ("deploy/requirements.lock", "deploy/torch.lock"):
        assert len(entries(file)) == len(re.findall(r"^\S+==", (ROOT / file).read_text(), re.M))
        for entry in entries(file):
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_nothing_of_cuda_is_in_the_image() -> None:
    names = {name for name, _ in pins("deploy/requirements.lock")}
    left_out = set(re.findall(r"^[a-z][\w-]+$", (ROOT / "deploy/cuda.txt").read_text(), re.M))
    assert "triton" in left_out and len(names) > 50
    assert [name for name in names if name.startswith(("nvidia", "cuda")) or name in left_out] == []


def test_torch_comes_from_pytorchs_own_index_and_nothing_else_does() -> None:
    index = re.compile(r"^--(?:extra-|default-)?index-url (\S+)$", re.M)
    torch, rest = ((ROOT / f"deploy/{name}.lock").read_text() for name in ("torch", "requirements"))
    assert index.findall(torch) == ["https://download.pytorch.org/whl/cpu"]
    assert index.findall(rest) == []


def test_an_audit_lists_what_is_installed_before_it_asks_anybody() -> None:
    made = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", "audit"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    listing, asking = made.index("cyclonedx-py environment"), made.index("pip-audit --strict")
    assert listing < made.index("build/sbom.json") < asking
