"""Who visits, and how much is open."""

from contextlib import ExitStack

import pytest

from app.records.visitors import Visitor, network_of
from app.server.sessions import COOKIE, Cookies, Sessions

ANN = Visitor("ann", "10.0.0.1")


def given(cookies: Cookies) -> str:
    """The value of a new cookie."""
    return cookies.new(secure=False, framed=False).partition("=")[2].partition(";")[0]


def test_a_visitor_has_a_number_of_our_own_making_or_none() -> None:
    cookies = Cookies("k" * 32)
    value = given(cookies)
    number, _, signature = value.partition(".")
    assert cookies.number_in({COOKIE: value}) == number
    wrong = ["", "x" * 32, number, f"{number}.", f"{'0' * 32}.{signature}", value * 9, f"{value}0"]
    for other in [*({COOKIE: each} for each in wrong), {}, {"a": value}]:
        assert cookies.number_in(other) == "", other


def test_only_servers_with_the_same_key_know_each_others_visitors() -> None:
    value = given(Cookies("k" * 32))
    assert Cookies("k" * 32).number_in({COOKIE: value})
    assert not Cookies("j" * 32).number_in({COOKIE: value})


def test_a_cookie_is_out_of_reach_of_scripts_and_goes_where_the_page_goes() -> None:
    cookies = Cookies("k" * 32)
    plain = cookies.new(secure=False, framed=False)
    assert "HttpOnly" in plain and "SameSite=Lax" in plain and "Secure" not in plain
    assert cookies.new(secure=True, framed=False).endswith("SameSite=Lax; Secure")
    framed = cookies.new(secure=True, framed=True)
    assert framed.endswith("SameSite=None; Secure; Partitioned")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8::aaaa:1:2:3", "2001:db8::"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_an_address_of_ipv6_counts_as_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_long_requests_are_counted_by_address_and_those_of_a_page_with_the_page() -> None:
    sessions = Sessions(9, 9, 2)
    with ExitStack() as stack:
        for _ in range(2):
            assert sessions.stream_refusal(Visitor("", "10.0.0.1")) == ""
            stack.enter_context(sessions.streaming(Visitor("", "10.0.0.1")))
        assert "2 requests from your network address" in sessions.stream_refusal(ANN)
        assert sessions.stream_refusal(Visitor("ann", "10.0.0.2")) == ""
        stack.enter_context(sessions.opened(ANN))
        for _ in range(6):  # as many as a browser has for one page
            assert sessions.stream_refusal(ANN) == ""
            stack.enter_context(sessions.streaming(ANN))
        assert sessions.stream_refusal(ANN)
    assert sessions.stream_refusal(ANN) == ""
    assert not sessions._open  # nothing is remembered of who has gone
