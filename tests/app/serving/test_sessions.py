"""Who visits, and how many pages are open."""

from contextlib import ExitStack

from app.serving.sessions import COOKIE, Sessions, new_cookie, visitor_in


def test_a_visitor_has_a_number_of_our_own_making_or_none() -> None:
    number = new_cookie(secure=False, framed=False).partition("=")[2].partition(";")[0]
    assert visitor_in({COOKIE: number}) == number
    for other in ({}, {COOKIE: ""}, {COOKIE: "x" * 32}, {COOKIE: number * 1000}, {"a": number}):
        assert visitor_in(other) == ""


def test_a_cookie_is_out_of_reach_of_scripts_and_goes_where_the_page_goes() -> None:
    plain = new_cookie(secure=False, framed=False)
    assert "HttpOnly" in plain and "SameSite=Lax" in plain and "Secure" not in plain
    assert new_cookie(secure=True, framed=False).endswith("SameSite=Lax; Secure")
    assert new_cookie(secure=False, framed=True).endswith("SameSite=None; Secure; Partitioned")


def test_a_visitor_has_so_many_pages_open_and_no_more() -> None:
    sessions = Sessions(2, 100)
    with sessions.opened("ann", "10.0.0.1"), sessions.opened("ann", "10.0.0.2"):
        assert "2 pages open" in sessions.refusal("ann", "10.0.0.3")
        assert sessions.refusal("bob", "10.0.0.1") == ""
    assert sessions.refusal("ann", "10.0.0.1") == ""


def test_who_deletes_the_cookie_is_counted_by_address() -> None:
    sessions = Sessions(2, 3)
    with ExitStack() as stack:
        for number in ("", "", "ann"):
            assert sessions.refusal(number, "10.0.0.1") == ""
            stack.enter_context(sessions.opened(number, "10.0.0.1"))
        assert "3 pages are open from your network address" in sessions.refusal("", "10.0.0.1")
        assert sessions.refusal("", "10.0.0.2") == ""


def test_nothing_is_remembered_of_who_has_gone() -> None:
    sessions = Sessions(2, 3)
    with sessions.opened("ann", "10.0.0.1"):
        pass
    assert not sessions._open
