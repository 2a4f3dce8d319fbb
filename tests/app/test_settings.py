"""The environment variables of the site: what they may be, and how nonsense is refused."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import app.settings
from app.settings import (
    VARIABLES,
    Visitors,
    available_cores,
    check_settings,
    settings,
    settings_table,
)
from bert_core.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = (
    *("KEEP", "MEMORY", "DOWNLOAD", "DISK", "THREADS", "RUNS"),
    *("TABS", "SESSIONS", "CONNECTIONS"),
    *("ROOMS", "MEMBERS", "HOURS", "WORD"),
    *("TEXT", "WINDOWS", "REQUESTS", "SECONDS"),
)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("BERT_EXPLORER_"):
            monkeypatch.delenv(name)


def test_every_variable_is_declared_where_it_is_read_and_documented() -> None:
    source = Path(app.settings.__file__).read_text(encoding="utf-8")
    hosting = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    assert settings_table() in hosting, "Run `python -m tools.derive api`."
    assert set(re.findall(r'"(BERT_EXPLORER_[A-Z]+)"', source)) == set(VARIABLES)


def test_nothing_set_and_empty_values_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = settings()
    for name in VARIABLES:
        monkeypatch.setenv(name, " ")
    assert settings() == usual
    check_settings()


REFUSED = {
    **dict.fromkeys(
        NUMBERS, (["0", "-1", "two", "1.5", "1e3", "٣", "9" * 5_000, "0x10"], "a whole number")
    ),
    "HOSTS": (["https://a.example", "a.example/b", "*", "a b", "a:b", "ä.example"], "names such"),
    "HUB": (["everybody"], "on or off or local"),
    "LINKS": (["everybody"], "on or off or local"),
    "METRICS": (["maybe"], "on or off"),
    "PUBLIC": (["perhaps"], "on or off"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_variable_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    values, expected = REFUSED[name]
    for value in [*values, *["99999"] * (name in ("THREADS", "RUNS"))]:
        monkeypatch.setenv(f"BERT_EXPLORER_{name}", value)
        with pytest.raises(ConfigError, match=f"_{name} is '.*'; expected {expected}") as refused:
            settings()
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("word", "use"),
    [("On", Visitors.ALL), ("0", Visitors.NONE), ("local", Visitors.LOCAL), ("", Visitors.LOCAL)],
)
@pytest.mark.parametrize("name", ["HUB", "LINKS"])
def test_who_may_use_something_is_one_of_three_words(
    monkeypatch: pytest.MonkeyPatch, name: str, word: str, use: Visitors
) -> None:
    monkeypatch.setenv(f"BERT_EXPLORER_{name}", word)
    assert getattr(settings(), name.lower()) is use


def test_a_public_site_has_lower_limits_and_each_can_be_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual = settings()
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")
    found = settings()
    assert found.public and not usual.public
    assert (found.hub, found.links, found.folders) == (Visitors.NONE, Visitors.NONE, ())
    for name in ("text_chars", "windows", "requests", "seconds"):
        assert getattr(found, name) < getattr(usual, name)
    assert found.text_chars == 10_000
    for name, field in (("TEXT", "text_chars"), ("WINDOWS", "windows"), ("REQUESTS", "requests"),
                        ("SECONDS", "seconds")):  # fmt: skip
        monkeypatch.setenv(f"BERT_EXPLORER_{name}", "7")
        assert getattr(settings(), field) == 7


@pytest.mark.parametrize("name", ["HUB", "MODELS"])
def test_a_public_site_refuses_to_start_with_what_it_does_not_offer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "on")
    check_settings()
    monkeypatch.setenv(f"BERT_EXPLORER_{name}", "on" if name == "HUB" else str(tmp_path))
    with pytest.raises(ConfigError, match=f"BERT_EXPLORER_{name} is .* public site .* Unset one"):
        check_settings()


@pytest.fixture
def cores_unknown() -> Iterator[None]:
    available_cores.cache_clear()
    yield
    available_cores.cache_clear()


@pytest.mark.usefixtures("cores_unknown")
@pytest.mark.parametrize(
    ("quota", "cores"),
    [("200000 100000", 2), ("150000 100000", 2), ("5000 100000", 1), ("max 100000", 8), ("?", 8)],
)
def test_cores_are_those_that_the_container_gives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str, cores: int
) -> None:
    (tmp_path / "cpu.max").write_text(f"{quota}\n", encoding="ascii")
    monkeypatch.setattr(app.settings, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert available_cores() == cores
    assert settings().threads * settings().runs == cores


@pytest.mark.usefixtures("cores_unknown")
def test_cores_are_those_that_the_process_may_run_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(app.settings, "_QUOTA", tmp_path / "none")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert available_cores() == 2
    assert (settings().threads, settings().runs) == (1, 2)


def test_a_folder_that_is_not_there_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODELS", os.pathsep.join([str(tmp_path), "/no/where"]))
    with pytest.raises(ConfigError, match="There is no folder /no/where"):
        check_settings()
    assert settings().folders == (str(tmp_path), "/no/where")  # pages live on if it goes later


def test_a_cache_may_be_new_but_not_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path / "new"))
    check_settings()
    (tmp_path / "new").touch()
    with pytest.raises(ConfigError, match="expected a folder"):
        check_settings()


def test_an_unknown_variable_is_named_in_one_line_and_ignored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = settings()
    monkeypatch.setenv("BERT_EXPLORER_THREDS", "3")
    monkeypatch.setenv("BERT_EXPLORER_XYZ", "")
    check_settings()
    assert capsys.readouterr().err.splitlines() == [
        "BERT_EXPLORER_THREDS is ignored: there is no such setting. "
        "Did you mean BERT_EXPLORER_THREADS?",
        "BERT_EXPLORER_XYZ is ignored: there is no such setting.",
    ]
    assert settings() == usual


@pytest.mark.parametrize("name", ["BERT_EXPLORER_HOSTS", "SPACE_HOST"])
def test_names_of_the_site_are_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, " Bert.School.example , localhost:9000,[fe80::1]:80,")
    expected = ("bert.school.example", "localhost:9000", "[fe80::1]:80")
    assert expected in (settings().hosts, settings().space)


STORES = {
    "redis://localhost": True,
    "redis://:pw@127.0.0.1:6379/1": True,
    "redis://[::1]:6379": True,
    "rediss://:hunter2@redis.example:6379/0?ssl_ca_certs=/run/ca.crt": True,
    "redis://:hunter2@redis.example": False,
    "rediss://redis.example": False,
    "rediss://user@redis.example": False,
    "rediss://:hunter2@redis.example?ssl_cert_reqs=none": False,
    "rediss://:hunter2@redis.example?ssl_ca_certs=a&ssl_check_hostname=no": False,
    "unix:///run/hunter2.sock": False,
    "redis://localhost:99999999": False,
    "hunter2": False,
}


@pytest.mark.parametrize(("value", "fits"), STORES.items())
def test_a_store_beyond_this_machine_needs_tls_and_a_password_which_no_message_has(
    monkeypatch: pytest.MonkeyPatch, value: str, fits: bool
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_SHARED", value)
    if fits:
        check_settings()
        assert settings().shared == value and "hunter2" not in repr(settings())
    else:
        with pytest.raises(ConfigError, match=r"BERT_EXPLORER_SHARED .*rediss://") as refused:
            settings()
        assert "hunter2" not in str(refused.value)


def test_a_store_needs_a_package_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERT_EXPLORER_SHARED", "redis://localhost")
    monkeypatch.setattr(app.settings, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install -r requirements-cluster\.txt"):
        check_settings()
