"""Limits, paths and environment variables of the explorer.

An empty variable counts as not set. With an invalid value, or a folder that does not exist, the
site does not start.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from functools import cache, lru_cache
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from bert_core.errors import ConfigError

T = TypeVar("T")

# The root of the checkout, which contains `pages/` and `assets/`.
ROOT = Path(__file__).resolve().parent.parent

ASSETS = ROOT / "assets"
LIVE = ROOT / "live"

BUNDLED_MODEL = "explorer-mini-uncased"

_PREFIX = "BERT_EXPLORER_"
# What each variable means and its default, as Markdown; `docs/hosting.md` has them as a table.
_DECLARED: dict[str, tuple[str, str]] = {
    "MODEL": (
        "the model that pages start with: a bundled name, a folder, or a Hub id (`owner/name`, "
        "`owner/name@revision`), downloaded with your token before the site starts",
        "the bundled model",
    ),
    "MODELS": (
        "folders with more models, or folders of single models, separated as in `PATH`; the "
        "Hugging Face cache can be one of them",
        "none",
    ),
    "HUB": (
        "who may download models: `on` everyone, `off` no one, `local` visitors on this machine, "
        "unless the site is open to the network or behind a proxy that sets `X-Forwarded-For` or "
        "a similar header",
        "`local`",
    ),
    "LINKS": (
        "whose texts are kept in memory for a day when they are too long for a link: `on` "
        "everyone's, `off` no one's, `local` those of visitors on this machine",
        "`local`",
    ),
    "DOWNLOAD": ("maximum size of one download, in MiB", "2048"),
    "DISK": ("maximum size of all downloads together, in MiB", "10240"),
    "CACHE": (
        "folder for downloads; a model removed there is no longer offered",
        "`hub` in the folder of [`BERT_CORE_CACHE`](reference/checkpoints.md)",
    ),
    "KEEP": ("maximum number of models in memory", "4"),
    "MEMORY": ("maximum memory of all these models together, in MiB", "4096"),
    "DEVICE": (
        "where models compute: `cpu`, `cuda`, `cuda:1`, `mps`, or `auto` for a GPU if there is one",
        "`cpu`",
    ),
    "THREADS": (
        "threads of one computation while others may run; from 1 to 64, or to the number of cores "
        "if that is larger",
        "half the cores, at most 4",
    ),
    "RUNS": ("computations that may run at the same time; same range", "cores divided by threads"),
    "HOSTS": (
        "more names under which visitors reach the site, such as `bert.school.example` or "
        "`localhost:9000`, separated by commas; requests for other names are refused",
        "the address it listens on and the names of the machine",
    ),
    "TABS": ("maximum number of pages that one visitor may have open at the same time", "30"),
    "SESSIONS": (
        "maximum number of pages open at the same time from one network address, which a class "
        "may share",
        "100",
    ),
    "CONNECTIONS": (
        "maximum number of connections at the same time; fewer if the system allows fewer open "
        "files; a quarter of them may wait for requests of one network address",
        "1000",
    ),
    "LAB": (
        "whether visitors may fine-tune on rows of their own: `on` or `off`",
        "`on`; public: `off`",
    ),
    "LESSONS": (
        "a folder with lessons of your own, offered in addition to those of this site",
        "none",
    ),
    "CLASSES": ("whether teachers may open class rooms on lessons: `on` or `off`", "`on`"),
    "ROOMS": (
        "maximum number of class rooms at the same time; half of them from one network address",
        "20; 6 if public",
    ),
    "MEMBERS": ("maximum number of browsers that may join one class", "100"),
    "HOURS": ("hours after which a class ends and its votes are deleted; at most 24", "3"),
    "WORD": ("maximum number of characters of a word that students send", "30"),
    "METRICS": (
        "`on` opens `/metrics` (for Prometheus) and `/_stcore/metrics`; nothing of a visitor is "
        "in them",
        "`off`",
    ),
    "LOG": ("how events are logged: `lines`, or `json` for one JSON object each", "`lines`"),
    "PUBLIC": (
        "`on` for a site open to strangers: only bundled models and published ones at a pinned "
        "commit, no downloads, no texts kept, and the lower limits named here",
        "`off`",
    ),
    "TEXT": ("maximum number of characters in a text", "100000; 10000 if public"),
    "WINDOWS": ("maximum number of windows that a long text is cut into", "1000; 64 if public"),
    "REQUESTS": (
        "maximum number of answers for one visitor in a minute, over all interfaces; ten times as "
        "many for all visitors of one network address",
        "no limit; 60 if public",
    ),
    "SECONDS": (
        "maximum seconds of computing for one visitor in a minute, likewise",
        "no limit; 20 if public",
    ),
    "KEY": (
        "signs the cookies that tell visitors apart, across restarts and servers; 32 or more "
        "characters",
        "a new one at each start, or one in the shared store",
    ),
    "SHARED": (
        "a Redis that the servers of one site share, such as "
        "`rediss://:PASSWORD@redis.example:6379`; needs `requirements-cluster.txt`, and beyond "
        "this machine TLS and a password",
        "none: in the memory of the server",
    ),
    "DRAIN": (
        "seconds for which a server that is stopped by SIGTERM keeps serving the visitors it has, "
        "while `/readyz` is 503; it ends as soon as nothing is being answered",
        "0",
    ),
}

VARIABLES = tuple(_PREFIX + name for name in _DECLARED)
_READ = (*VARIABLES, "SPACE_HOST")  # the environment variables of the site

_SWITCH = {True: ("on", "yes", "true", "1"), False: ("off", "no", "false", "0")}
_HOST = re.compile(r"(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")
_STORE = re.compile(
    r"rediss?://(?:[^@/?#\s]*@)?(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?"
    r"(?:/[0-9]{0,3})?(?:\?ssl_ca_certs=[^&#\s]+)?",
    re.I,
)
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?")
_NUMBER = re.compile(r"[0-9]{1,9}")
NO_LIMIT = 999_999_999  # what a limit is that the operator has not set

# More threads than cores only slow each other down, and several thousand end the process: PyTorch
# crashes when the system has no more threads.
_MOST_THREADS = max(64, os.cpu_count() or 1)
_KEY_CHARS = 32
_QUOTED = 40  # characters of a value in a message
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds of all cores in a period, or "max"; period


class Visitors(Enum):
    """Which visitors may use something; `app.faces.streamlit.visitor` knows who is local."""

    NONE = "off"
    LOCAL = "at this machine"
    ALL = "on"


_VISITORS = {
    Visitors.ALL: _SWITCH[True],
    Visitors.NONE: _SWITCH[False],
    Visitors.LOCAL: ("local",),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings, and the limits that keep one visitor from starving the others.

    `_read` has the variable of each, and `_DECLARED` what that means.
    """

    model: str = BUNDLED_MODEL
    device: str = "cpu"
    threads: int = 1
    runs: int = 2
    folders: tuple[str, ...] = ()
    models: int = 4
    model_bytes: int = 4 * 2**30  # nine of BERT's base size in float32
    hub: Visitors = Visitors.LOCAL
    links: Visitors = Visitors.LOCAL
    download_bytes: int = 2 * 2**30
    disk_bytes: int = 10 * 2**30
    downloads: str = ""
    hosts: tuple[str, ...] = ()
    space: tuple[str, ...] = ()  # names of the Space of the Hugging Face Hub that this is
    tabs: int = 30
    sessions: int = 100
    connections: int = 1_000
    key: str = ""
    shared: str = field(default="", repr=False)  # it has a password
    drain: int = 0
    metrics: bool = False
    log_json: bool = False
    lab: bool = True
    lessons: str = ""
    classes: bool = True
    rooms: int = 20
    members: int = 100
    hours: int = 3
    word_chars: int = 30
    public: bool = False
    text_chars: int = 100_000
    windows: int = 1_000
    requests: int = NO_LIMIT
    seconds: int = NO_LIMIT
    # Longest text, percent-encoded, in an address; chat programs and proxies cut longer ones.
    address_chars: int = 2_000
    shown_pieces: int = 600  # most pieces drawn in colour at once; the rest are on further pages

    @property
    def streams(self) -> int:
        """Requests in progress for one network address, besides those of open pages."""
        return max(1, self.connections // 4)


def _value(name: str) -> str:
    return os.environ.get(name, "").strip()


def _refusal(name: str, expected: str) -> ConfigError:
    return ConfigError(f"{name} is {_value(name)[:_QUOTED]!r}; expected {expected}.")


def _number(name: str, default: int, most: int = NO_LIMIT, least: int = 1) -> int:
    value = _value(name)
    if not value:
        return default
    if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
        raise _refusal(name, f"a whole number from {least} to {most:,}")
    return int(value)


def _hosts(name: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in _value(name).lower().split(",") if part.strip())
    if not all(_HOST.fullmatch(part) for part in found):
        raise _refusal(name, "names such as bert.school.example or localhost:9000, with commas")
    return found


def _one_of(name: str, words: Mapping[T, Sequence[str]], default: T) -> T:
    """Read one of some values, each of which has words of its own."""
    value = _value(name).lower()
    found = [each for each, known in words.items() if value in known]
    if value and not found:
        raise _refusal(name, " or ".join(known[0] for known in words.values()))
    return found[0] if found else default


def _key(name: str) -> str:
    """Read a secret, which no message may contain."""
    value = _value(name)
    if 0 < len(value) < _KEY_CHARS:
        raise ConfigError(
            f"{name} has {len(value)} characters; expected {_KEY_CHARS} or more, such as: "
            'python -c "import secrets; print(secrets.token_hex())"'
        )
    return value


def _store(name: str) -> str:
    """Read the address of a store; no message may contain it, because it has a password."""
    value = _value(name)
    if value and not _STORE.fullmatch(value):
        raise ConfigError(
            f"{name} is not the address of a store; expected one such as redis://localhost:6379, "
            "or rediss://:PASSWORD@redis.example:6379/0?ssl_ca_certs=/run/secrets/ca.crt."
        )
    found = urlsplit(value)
    safe = found.scheme == "rediss" and found.password
    if value and not safe and not is_here(found.hostname or ""):
        raise ConfigError(
            f"{name} leads to another machine; expected rediss:// (TLS) and a password, because "
            "texts and votes of visitors go there."
        )
    return value


def is_here(host: str) -> bool:
    """Return whether a name in lower case, or an address, is always this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _device(name: str) -> str:
    """Read the name of a device; `app.engine.compute.device` checks that it exists."""
    value = _value(name).lower() or "cpu"
    if not _DEVICE.fullmatch(value):
        raise _refusal(name, "cpu, cuda, cuda:0 (with the number of the GPU), mps or auto")
    return value


def settings() -> Settings:
    """Return the settings from the current environment.

    Raises:
        ConfigError: a variable has an invalid value.
    """
    return _read(tuple(map(os.environ.get, _READ)), available_cores())


@lru_cache(maxsize=4)
def _read(_: tuple[str | None, ...], cores: int) -> Settings:
    """Read the settings; a page asks for them twenty times, and they change with what is given.

    Each pass gets half the cores, so that two visitors can compute at the same time. If each used
    all cores, threads would wait for each other (measured: three times slower on two busy cores).
    """
    public = _one_of("BERT_EXPLORER_PUBLIC", _SWITCH, False)
    usual = Visitors.NONE if public else Visitors.LOCAL
    threads = _number("BERT_EXPLORER_THREADS", max(1, min(4, cores // 2)), _MOST_THREADS)
    return Settings(
        model=_value("BERT_EXPLORER_MODEL") or BUNDLED_MODEL,
        folders=()
        if public
        else tuple(
            part for part in _value("BERT_EXPLORER_MODELS").split(os.pathsep) if part.strip()
        ),
        models=_number("BERT_EXPLORER_KEEP", 4),
        model_bytes=_number("BERT_EXPLORER_MEMORY", 4_096) * 2**20,
        hub=Visitors.NONE if public else _one_of("BERT_EXPLORER_HUB", _VISITORS, usual),
        links=_one_of("BERT_EXPLORER_LINKS", _VISITORS, usual),
        download_bytes=_number("BERT_EXPLORER_DOWNLOAD", 2_048) * 2**20,
        disk_bytes=_number("BERT_EXPLORER_DISK", 10_240) * 2**20,
        downloads=_value("BERT_EXPLORER_CACHE"),
        hosts=_hosts("BERT_EXPLORER_HOSTS"),
        space=_hosts("SPACE_HOST"),
        tabs=_number("BERT_EXPLORER_TABS", 30),
        sessions=_number("BERT_EXPLORER_SESSIONS", 100),
        connections=_number("BERT_EXPLORER_CONNECTIONS", 1_000),
        key=_key("BERT_EXPLORER_KEY"),
        shared=_store("BERT_EXPLORER_SHARED"),
        drain=_number("BERT_EXPLORER_DRAIN", 0, 600, 0),
        metrics=_one_of("BERT_EXPLORER_METRICS", _SWITCH, False),
        log_json=_one_of("BERT_EXPLORER_LOG", {True: ("json",), False: ("lines",)}, False),
        lab=_one_of("BERT_EXPLORER_LAB", _SWITCH, not public),
        lessons=_value("BERT_EXPLORER_LESSONS"),
        classes=_one_of("BERT_EXPLORER_CLASSES", _SWITCH, True),
        rooms=_number("BERT_EXPLORER_ROOMS", 6 if public else 20),
        members=_number("BERT_EXPLORER_MEMBERS", 100),
        hours=_number("BERT_EXPLORER_HOURS", 3, 24),
        word_chars=_number("BERT_EXPLORER_WORD", 30, 1_000),
        device=_device("BERT_EXPLORER_DEVICE"),
        threads=threads,
        runs=_number("BERT_EXPLORER_RUNS", max(1, cores // threads), _MOST_THREADS),
        public=public,
        text_chars=_number("BERT_EXPLORER_TEXT", 10_000 if public else 100_000),
        windows=_number("BERT_EXPLORER_WINDOWS", 64 if public else 1_000),
        requests=_number("BERT_EXPLORER_REQUESTS", 60 if public else NO_LIMIT),
        seconds=_number("BERT_EXPLORER_SECONDS", 20 if public else NO_LIMIT),
    )


@cache
def available_cores() -> int:
    """Return how many cores this process may use, which may be fewer than the machine has.

    A container is often limited to a share of the cores of a large machine. With a thread for each
    of those, threads would wait for each other: on two of four cores, a short sentence on the page
    "Fill-mask" then took 66 ms of processor time instead of 47 (measured once, on a busy machine).
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux has it
        cores = os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):  # there is no such limit, or it is "max"
        return cores


def settings_table() -> str:
    """Return all variables as a table in Markdown."""
    rows = (
        f"| `{_PREFIX}{name}` | {means} | {usual} |" for name, (means, usual) in _DECLARED.items()
    )
    return "\n".join(["| variable | meaning | default |", "|---|---|---|", *rows])


def check_settings() -> None:
    """Check the environment before the site starts; report unknown variables on stderr.

    Raises:
        ConfigError: a variable has an invalid value, or names a folder that does not exist.
    """
    for name in sorted(set(os.environ) - set(VARIABLES)):
        if name.startswith(_PREFIX):
            near = get_close_matches(name.removeprefix(_PREFIX), _DECLARED, 1)
            meant = f" Did you mean {_PREFIX}{near[0]}?" if near else ""
            sys.stderr.write(f"{name} is ignored: there is no such setting.{meant}\n")
    found = settings()
    for name in ("BERT_EXPLORER_MODELS", "BERT_EXPLORER_HUB"):
        if found.public and _value(name).lower() not in ("", *_SWITCH[False]):
            raise _refusal(
                name,
                "nothing, because a public site (BERT_EXPLORER_PUBLIC) has only "
                "bundled and pinned models. Unset one of the two",
            )
    if found.shared and find_spec("redis") is None:
        raise ConfigError(
            "BERT_EXPLORER_SHARED needs more packages: pip install -r requirements-cluster.txt."
        )
    named = [(folder, "BERT_EXPLORER_MODELS, --models") for folder in found.folders]
    named += [(found.lessons, "BERT_EXPLORER_LESSONS")] if found.lessons else []
    for folder, setting in named:
        if not Path(folder).expanduser().is_dir():
            raise ConfigError(
                f"There is no folder {folder} ({setting}). Create it, or give another one."
            )
    downloads = Path(found.downloads).expanduser()
    if found.downloads and downloads.exists() and not downloads.is_dir():
        raise ConfigError(f"BERT_EXPLORER_CACHE is {found.downloads!r}; expected a folder.")
