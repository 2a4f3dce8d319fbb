"""What visitors have on the page of tables is bounded over all of them."""

import threading

from app.compat.streamlit import bound_uploads
from app.data.kept import Kept
from tests.compat.streamlit import MemoryUploadedFileManager, UploadedFileRec


def test_the_values_that_were_not_asked_for_go_first() -> None:
    held = Kept[str](30)
    keys = [held.keep(name, 10) for name in "abc"]
    assert held.find(keys[0]) == "a"
    held.keep("d", 10)
    assert [held.find(key) for key in keys] == ["a", None, "c"]
    held.keep("e", 31)
    assert not any(map(held.find, keys))


def test_a_key_that_is_kept_again_is_counted_once() -> None:
    held = Kept[str](30)
    other = held.keep("other", 10)
    for _ in range(50):
        held.keep("again", 20, "mine")
    assert (held.find(other), held.find("mine")) == ("other", "again")


def test_many_threads_keep_within_the_bound() -> None:
    held = Kept[int](100)
    threads = [
        threading.Thread(target=lambda: [held.keep(n, 7) for n in range(200)]) for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sum(size for _, size in held._values.values()) <= 100


def test_files_that_no_page_has_read_yet_are_bounded(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(
        MemoryUploadedFileManager, "add_file", MemoryUploadedFileManager.add_file
    )  # restored
    bound_uploads(100)
    files = MemoryUploadedFileManager("/upload")
    for n in range(20):
        files.add_file(f"session {n % 4}", UploadedFileRec(f"{n}", "a.csv", "text/csv", b"x" * 30))
    held = [each for session in files.file_storage.values() for each in session.values()]
    assert sum(len(each.data) for each in held) <= 100
    assert "19" in {each.file_id for each in held}
