"""Under which names the site may be reached."""

import pytest

from app.server.names import Names, names_of

LOCAL = names_of("127.0.0.1", 8501, "desk", ())
OPEN = names_of("0.0.0.0", 8501, "Desk", ("bert.school.example", "tunnel.example:9000"))


CASES = [
    (LOCAL, True, "localhost:8501 127.0.0.1:8501 [::1]:8501 LocalHost:8501"),
    (OPEN, True, "desk:8501 DESK.:80 desk.local:8501 192.168.1.5:8501 [fe80::1]:8501 "
     "localhost:9000 "  # a port may be mapped on the way into a container
     "bert.school.example bert.school.example:8443 tunnel.example:9000"),
    (LOCAL, False, "evil.example evil.example:8501 localhost localhost:9999 127.0.0.1:80 "
     "192.168.1.5:8501 desk:8501 localhost.evil.example:8501 localhost:8501.evil.example "
     "evil.example@localhost:8501 localhost:8501/ localhost:8501# localhost:٨٥٠١ [::1]:8501]"),
    (OPEN, False, "evil.example tunnel.example 1.2.3.4.evil.example 1.2"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "known", "hosts"), CASES)
def test_a_server_is_known_by_its_names_and_ports_and_no_other_spelling(
    names: Names, known: bool, hosts: str
) -> None:
    assert [each for each in hosts.split() if names.admit(each) is not known] == []
    assert not names.admit("") and not names.admit("localhost:8501\n")


def test_a_name_without_a_port_means_the_port_of_its_scheme() -> None:
    names = Names(frozenset({"a.example:443"}), frozenset(), addresses=False)
    assert names.admit("a.example", "https")
    assert not names.admit("a.example", "http")


def test_the_address_a_teacher_chose_is_a_name() -> None:
    for address, host in [("192.168.1.5", "192.168.1.5"), ("fe80::1", "[fe80::1]"), ("Lab", "lab")]:
        assert names_of(address, 8501, "desk", ()).admit(f"{host}:8501")


def test_an_origin_is_a_page_of_this_server() -> None:
    host = "localhost:8501"
    assert LOCAL.admit_origin("http://localhost:8501", host)
    assert LOCAL.admit_origin("https://LOCALHOST:8501", host)
    assert OPEN.admit_origin("https://bert.school.example", "127.0.0.1:8501")  # behind a proxy


FOREIGN = (
    *("http://evil.example", "null", "", "file://", "ftp://localhost:8501", "http://localhost"),
    "http://localhost:9999",  # another program of this machine
    "http://127.0.0.1:8501",  # another name: another page, for a browser
    *("http://desk:8501", "https://bert.school.example:8443", "https://bert.school.example/"),
    "http://localhost:8501@evil.example",
)


def test_a_page_of_anyone_else_is_foreign() -> None:
    for names in (LOCAL, OPEN):
        assert not any(names.admit_origin(each, "localhost:8501") for each in FOREIGN)
