"""Links to texts too long for an address: what they open, for how long, and for whom."""

import threading
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.catalog import examples
from app.faces.streamlit import links, visitor
from app.settings import Visitors
from app.shared.memory import Shelf
from tests.visits import checked, markup, opened

LONG = "the cat sat on the [MASK] " * 200


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> Shelf:
    """A store and a setting of the test's own."""
    store = Shelf(50, 10**6)
    monkeypatch.setattr(links, "SHARED", store)
    monkeypatch.setenv("BERT_EXPLORER_LINKS", "on")
    return store


def visited(page: str = "2_fill_mask", **address: str) -> AppTest:
    """Open a page in a session of its own."""
    return opened(f"pages/{page}.py", **address)


def typed(text: str) -> AppTest:
    at = visited()
    at.text_area(key="text").set_value(text)
    return checked(at)


def captions(at: AppTest) -> str:
    return " ".join(caption.value for caption in at.caption)


def key_of(at: AppTest) -> str:
    return "".join(at.query_params.get("kept", []))


# -- the store -------------------------------------------------------------------------------------


def test_a_text_is_kept_for_a_day() -> None:
    now = [1_000.0]
    store = Shelf(10, 100, clock=lambda: now[0])
    key = store.keep({"text": "x" * 60})
    now[0] += 24 * 60 * 60 - 1
    assert store.find(key) is not None
    now[0] += 1
    assert store.find(key) is None
    store.keep({"text": "y" * 60})
    assert store._size == 60  # what left takes no room


def test_many_threads_may_keep_at_once() -> None:
    store = Shelf(40, 10**6)
    found: list[bool] = []

    def work(name: int) -> None:
        for n in range(200):
            text = {"text": f"{name}-{n}"}
            found.append(store.find(store.keep(text)) in (text, None))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1_600 and all(found)
    assert len(store._entries) == 40
    assert store._size == sum(entry.size for entry in store._entries.values())


# -- a link ----------------------------------------------------------------------------------------


def test_a_long_text_travels_by_link_to_another_visitor() -> None:
    sender = typed(LONG)
    assert "text" not in sender.query_params
    assert len(key_of(sender)) >= 16 and "works for one day" in captions(sender)
    receiver = visited(kept=key_of(sender))
    assert receiver.text_area(key="text").value == LONG
    assert key_of(receiver) == key_of(sender)  # the link is the same when passed on
    checked(receiver)
    assert receiver.text_area(key="text").value == LONG


def test_two_visitors_never_get_each_others_texts() -> None:
    one, two = typed(LONG + "one"), typed(LONG + "two")
    assert key_of(one) != key_of(two)
    assert visited(kept=key_of(two)).text_area(key="text").value == LONG + "two"
    checked(one)
    assert one.text_area(key="text").value == LONG + "one"


def test_a_changed_text_gets_a_new_key_and_a_short_one_none(own_store: Shelf) -> None:
    at = typed(LONG)
    first = key_of(at)
    checked(at)
    assert key_of(at) == first  # a rerun alone changes nothing
    at.text_area(key="text").set_value(LONG + "more")
    second = key_of(checked(at))
    assert second not in ("", first)
    assert own_store.find(first) == {"text": LONG}  # a link that was passed on stays good
    at.text_area(key="text").set_value("a short [MASK]")
    assert key_of(checked(at)) == ""


@pytest.mark.parametrize("key", ["nonsense", "", "x" * 3_000, "../../etc/passwd", "<script>"])
def test_a_link_whose_text_is_gone_opens_no_other_text(key: str) -> None:
    at = visited(kept=key)
    assert at.text_area(key="text").value == ""
    assert "The text of this link is no longer kept" in captions(at)
    assert examples("fill_mask")[0].values["text"] not in markup(at)
    at.text_area(key="text").set_value("the [MASK]")
    checked(at)
    assert captions(at).count("link") == 0
    assert at.text_area(key="text").value == "the [MASK]"


def test_of_two_texts_only_the_long_one_is_kept(own_store: Shelf) -> None:
    at = visited("3_next_sentence", text="the first")
    at.text_area(key="text_pair").set_value(LONG)
    checked(at)
    assert own_store.find(key_of(at)) == {"text_pair": LONG}
    other = visited("3_next_sentence", text="the first", kept=key_of(at))
    assert other.text_area(key="text").value == "the first"
    assert other.text_area(key="text_pair").value == LONG
    gone = visited("3_next_sentence", text="the first", kept="gone")
    assert gone.text_area(key="text").value == "the first"
    assert gone.text_area(key="text_pair").value == ""
    assert captions(gone).count("The text of this link is no longer kept") == 1


# -- switched off ----------------------------------------------------------------------------------


def test_switched_off_a_link_opens_only_in_the_session_that_made_it(
    monkeypatch: pytest.MonkeyPatch, own_store: Shelf
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_LINKS", "off")
    at = typed(LONG)
    assert "a link to this page will not contain it" in captions(at)
    assert len(own_store._entries) == 0
    other = visited(kept=key_of(at))
    assert other.text_area(key="text").value == ""
    assert "The text of this link is no longer kept" in captions(other)
    assert at.text_area(key="text").value == LONG


@pytest.mark.parametrize(
    ("who", "space", "address", "kept"),
    [
        (Visitors.LOCAL, "", "127.0.0.1", True),
        (Visitors.LOCAL, "", "0.0.0.0", False),
        (Visitors.LOCAL, "someone/explorer", "127.0.0.1", False),
        (Visitors.ALL, "someone/explorer", "0.0.0.0", True),
        (Visitors.NONE, "", "127.0.0.1", False),
    ],
)
def test_public_sites_keep_no_texts_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch, who: Visitors, space: str, address: str, kept: bool
) -> None:
    monkeypatch.setenv("SPACE_ID", space)
    monkeypatch.setattr(visitor.st, "get_option", lambda name: address)
    assert visitor.is_among(who) is kept
