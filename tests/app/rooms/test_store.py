"""The rooms of a process: bounds, keys, time, and who is told."""

import pytest

from app.rooms.records import Room, RoomError
from app.rooms.store import CODE, SIGNS, Rooms
from app.rooms.turns import joined


class Clock:
    """A clock that is set by hand."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Later:
    """Keeps what is to be done later."""

    def __init__(self) -> None:
        self.acts: list[tuple[float, object]] = []

    def __call__(self, seconds: float, act: object) -> None:
        self.acts.append((seconds, act))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(clock, Later())


def opened(rooms: Rooms, owner: str = "t", network: str = "net") -> Room:
    return rooms.open(owner, network, "pieces", "Title")


def test_a_code_has_no_sign_that_looks_like_another_and_a_key_is_never_printed(
    rooms: Rooms,
) -> None:
    room = opened(rooms)
    assert len(room.code) == CODE and set(room.code) <= set(SIGNS)
    assert set("0O1IL2Z5S8BUV").isdisjoint(SIGNS)
    assert len(room.key) >= 32 and room.key not in repr(room)
    assert room.key != opened(rooms, "u").key


def test_a_room_ends_after_its_hours_even_if_nobody_asks(clock: Clock) -> None:
    later = Later()
    rooms, told = Rooms(clock, later), []
    rooms.listen(lambda code, public: told.append((code, public)))
    room = opened(rooms)
    clock.now += 3 * 3_600 - 1
    assert rooms.find(room.code) == room
    clock.now += 2
    assert rooms.find(room.code) is None and rooms.owned("t") is None
    with pytest.raises(RoomError, match="There is no class with this code"):
        rooms.change(room.code, joined("a", 9))
    ((seconds, sweep),) = later.acts
    assert seconds > 3 * 3_600
    sweep()  # type: ignore[operator]
    assert rooms.codes == () and told == [(room.code, True)]


def test_rooms_are_bounded_in_all_and_for_one_network_address(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_ROOMS", "4")
    first = opened(rooms, "a"), opened(rooms, "b")
    with pytest.raises(RoomError, match="2 classes are running, 2 of them from your network"):
        opened(rooms, "c")
    opened(rooms, "c", "other"), opened(rooms, "d", "third")
    with pytest.raises(RoomError, match="This site takes 4"):
        opened(rooms, "e", "fourth")
    rooms.end(first[0].code)
    assert opened(rooms, "e", "fourth") == opened(rooms, "e", "fourth")  # one for each teacher


def test_classes_can_be_switched_off_and_need_to_know_the_teachers_browser(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RoomError, match="needs the cookie"):
        opened(rooms, "")
    monkeypatch.setenv("BERT_EXPLORER_CLASSES", "off")
    with pytest.raises(RoomError, match="switched off"):
        opened(rooms)


def test_the_teachers_link_opens_the_room_elsewhere_and_another_key_does_not(rooms: Rooms) -> None:
    room = opened(rooms)
    other = opened(rooms, "u")
    for link in (room.code, f"{room.code}.", f"{room.code}.{other.key}", f".{room.key}", "", "é.é"):
        with pytest.raises(RoomError, match="There is no class behind this link"):
            rooms.admit(link, "second")
    with pytest.raises(RoomError, match="There is no class behind this link"):
        rooms.admit(f"{room.code}.{room.key}", "")
    assert rooms.owned("second") is None and rooms.owned("") is None
    rooms.admit(f"{room.code}.{room.key}", "second")
    assert rooms.owned("second") == rooms.owned("t") and rooms.owned("t") is not None
    for number in range(3):
        rooms.admit(f"{room.code}.{room.key}", f"more{number}")
    with pytest.raises(RoomError, match="open in 5 browsers"):
        rooms.admit(f"{room.code}.{room.key}", "sixth")
