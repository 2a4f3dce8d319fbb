"""What visitors have on the page of tables is bounded over all of them."""

import pytest

from app.compat.streamlit import bound_uploads
from app.engine.compute.recent import Cache
from tests.compat.streamlit import MemoryUploadedFileManager, UploadedFileRec


def test_the_values_that_were_not_asked_for_go_first_and_each_is_counted_once() -> None:
    held = Cache(30)
    keys = [held.keep(name, 10) for name in "abc"]
    assert held.find(keys[0]) == "a"
    held.keep("d", 10)
    assert [held.find(key) for key in keys] == ["a", None, "c"]
    for _ in range(9):
        held.keep("again", 20, "mine")
    assert (held.find(keys[2]), held.find("mine")) == ("c", "again")
    held.keep("too large", 31, "mine")
    assert (held.find(keys[2]), held.find("mine")) == ("c", None)


def test_files_that_no_page_has_read_yet_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    add = MemoryUploadedFileManager.add_file
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", add)  # restored
    bound_uploads(100)
    files = MemoryUploadedFileManager("/upload")
    for n in range(20):
        files.add_file(f"session {n % 4}", UploadedFileRec(f"{n}", "a.csv", "text/csv", b"x" * 30))
    held = [each for session in files.file_storage.values() for each in session.values()]
    assert sum(len(each.data) for each in held) <= 100
    assert "19" in {each.file_id for each in held}
