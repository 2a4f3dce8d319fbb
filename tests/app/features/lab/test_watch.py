"""Watching together: whose run is shared, who may follow it, for how long, and how many."""

import pytest

from app.features.lab import task_lab, task_watch
from app.features.lab.result_settings import LabSettings
from app.features.lab.task_lab import Lab, Labs
from app.features.lab.task_watch import Share
from bert_core.errors import InputError

SMALL = LabSettings(corpus="facts", width=32, layers=1, steps=4_000)


def shared(labs: Labs, owner: str = "ada") -> tuple[Lab, str]:
    lab = labs.start(SMALL, owner=owner)
    labs.share(lab, owner)
    assert lab.share is not None
    return lab, lab.share.key


def test_a_link_leads_to_the_run_and_says_nothing_of_it(labs: Labs) -> None:
    lab, key = shared(labs)
    assert labs.watched(key, "bob") is lab
    assert len(key) >= 20 and lab.key not in key
    assert labs.ask(lab).watchers == 1
    labs.watched(key, "bob")
    labs.watched(key, "cy")
    assert labs.ask(lab).watchers == 2


@pytest.mark.parametrize(
    "key", ["", "x", "../../etc/passwd", "<b>", "ключ", "\ud800", "A" * 100_000]
)
def test_what_is_no_key_leads_nowhere(labs: Labs, key: str) -> None:
    shared(labs)
    assert labs.watched(key, "eve") is None


def test_only_its_owner_shares_a_run_and_ends_the_link(labs: Labs) -> None:
    lab, key = shared(labs)
    for other in ("bob", ""):
        with pytest.raises(InputError, match="Only the visitor who started a run"):
            labs.share(lab, other)
    labs.unshare("bob")
    assert labs.watched(key, "bob") is lab
    labs.unshare("ada")
    assert labs.watched(key, "bob") is None


def test_the_link_of_a_visitor_leads_to_the_next_run(labs: Labs) -> None:
    first, key = shared(labs)
    labs.stop(first)
    second = labs.start(SMALL, owner="ada")
    labs.share(second, "ada")
    assert labs.watched(key, "bob") is second


def test_watchers_links_and_hours_are_bounded(labs: Labs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_watch, "WATCHERS", 2)
    monkeypatch.setattr(task_lab, "SHARED", 1)
    _, key = shared(labs)
    labs.watched(key, "bob")
    labs.watched(key, "cy")
    with pytest.raises(InputError, match="2 are watching this run"):
        labs.watched(key, "dan")
    assert labs.watched(key, "bob") is not None  # who is there may go on
    other = labs.start(SMALL, owner="eve")
    with pytest.raises(InputError, match="1 runs are watched together"):
        labs.share(other, "eve")


def test_a_link_ends_after_the_hours_of_a_class_and_with_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    share = Share(lambda: now[0])
    share.enter("bob")
    now[0] = 59.0
    assert (share.is_open, share.watchers) == (True, 1)
    now[0] = 61.0
    assert share.watchers == 0  # it has not asked for a minute
    now[0] = 3 * 3600.0
    assert not share.is_open
    now[0] = 0.0
    monkeypatch.setenv("BERT_EXPLORER_CLASSES", "off")
    assert not share.is_open
