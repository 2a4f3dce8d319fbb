"""Downloads requested by visitors: shared, bounded, cancelled when the last one leaves."""

import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.engine.models import Engine, offers
from app.engine.models import downloads as downloads_module
from app.engine.models.copies import HubId, bytes_in, downloads_folder, forget, note
from app.engine.models.downloads import Downloads, State, Status, Ticket
from app.engine.models.hub import copy_here, look_up, parse_hub_id
from bert_core.checkpoints.sources.hub import DownloadPlan
from bert_core.checkpoints.sources.resolve import resolve
from bert_core.errors import CheckpointError, DownloadError, InputError, MissingFileError
from tests.loopback import Fault, Loopback, Repository
from tests.strangers import until

NAME = "someone/tiny-bert"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> Path:
    """A folder for downloads of the test's own, and small pieces so that they can be slow."""
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1_000)
    monkeypatch.delenv("BERT_EXPLORER_MODELS", raising=False)
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path / "downloads"))
    return tmp_path / "downloads"


@pytest.fixture
def model(loopback: Loopback, tiny_folder: Path) -> Repository:
    return loopback.add_model(NAME, tiny_folder)


def ended(ticket: Ticket) -> Status:
    until(lambda: ticket.ask().state is not State.RUNNING)
    return ticket.ask()


def files_in(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.glob("models--*/**/*")
        if path.is_file() or path.is_symlink()
    )


# -- asking ----------------------------------------------------------------------------------------


def test_asking_fetches_nothing_and_sends_no_token(
    model: Repository, loopback: Loopback, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 30)
    plan = look_up(HubId(NAME))
    assert plan.commit == model.commit
    assert plan.bytes == plan.total_bytes == sum(map(len, model.files.values()))
    assert all(path.startswith("/api/") for path in loopback.asked())
    assert not any(name.lower() == "authorization" for *_, sent in loopback.log for name in sent)
    assert files_in(place) == []


def test_what_the_operator_fetched_with_a_token_stays_theirs(
    model: Repository, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "shared cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_" + "x" * 30)
    model.private = True
    assert resolve(NAME).is_dir()
    for wanted in (HubId(NAME), HubId(NAME, model.commit)):
        assert copy_here(wanted) is None
        with pytest.raises(DownloadError, match="Private models are not downloaded here"):
            look_up(wanted)


@pytest.mark.parametrize(
    ("trouble", "error", "says"),
    [
        ("unknown", DownloadError, "There is no 'someone/gone' on the Hub"),
        ("no model", MissingFileError, "so it is not a BERT model"),
        ("no weights", CheckpointError, "has no weights in a supported format"),
        ("dead", DownloadError, "the Hub cannot be reached"),
        ("broken", DownloadError, r"returned an error \(500\)"),
        ("busy", DownloadError, r"too many requests from here \(429\)"),
        ("no revision", DownloadError, "has no revision 'v9'"),
    ],
)
def test_why_there_is_nothing_to_fetch_is_said_in_a_sentence(
    model: Repository, loopback: Loopback, trouble: str, error: type[Exception], says: str
) -> None:
    wanted = HubId({"unknown": "someone/gone"}.get(trouble, NAME))
    if trouble == "no model":
        del model.files["config.json"]
    elif trouble == "no weights":
        del model.files["model.safetensors"]
    elif trouble == "dead":
        loopback.stop()
    elif trouble == "no revision":
        wanted = HubId(NAME, "v9")
    elif trouble in ("broken", "busy"):
        status = {"broken": 500, "busy": 429}[trouble]
        loopback.faults[f"/api/models/{NAME}/revision/main"] = Fault(status=status)
    with pytest.raises(error, match=says):
        look_up(wanted)


def test_a_model_beyond_a_limit_is_refused_with_both_numbers(
    model: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.files["model.safetensors"] += b"x" * 2**20
    for name in ("BERT_EXPLORER_DOWNLOAD", "BERT_EXPLORER_MEMORY"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "1")
            with pytest.raises(InputError, match=r"is 1\.\d MB; .* at most 1\.0 MB"):
                look_up(HubId(NAME))
    monkeypatch.setenv("BERT_EXPLORER_DISK", "1")
    with pytest.raises(InputError, match=r"needs 1\.\d MB.* at most 1\.0 MB .* 0 bytes are in use"):
        look_up(HubId(NAME))


def test_a_few_questions_at_a_time(
    model: Repository, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.models.hub._AT_ONCE", threading.BoundedSemaphore(1))
    loopback.faults[f"/api/models/{NAME}/revision/main"] = Fault(wait=1.0)
    first = threading.Thread(target=look_up, args=(HubId(NAME),))
    first.start()
    until(lambda: len(loopback.log) > 0)
    with pytest.raises(InputError, match="Too many visitors"):
        look_up(HubId(NAME))
    first.join()
    loopback.faults.clear()
    assert look_up(HubId(NAME)).bytes > 0


# -- downloading -----------------------------------------------------------------------------------


def test_a_download_ends_as_a_model_on_offer_that_answers(
    model: Repository, loopback: Loopback, tiny_engine: Engine
) -> None:
    status = ended(Downloads().join(look_up(HubId(NAME))))
    assert (status.state, status.offer, status.says) == (State.DONE, NAME, "")
    assert status.done == status.total > 0
    offer = offers()[NAME]
    engine = Engine(offer.source, offer)
    assert engine.provenance.commit == model.commit
    assert engine.provenance.fingerprint == tiny_engine.provenance.fingerprint
    encoding = engine.tokenizer.encode("the [MASK]")
    assert engine.scores_at(encoding, [2]).equal(tiny_engine.scores_at(encoding, [2]))
    again = look_up(HubId(NAME))
    assert again.bytes == 0 and again.total_bytes == status.total


@pytest.mark.parametrize("by", ["commit", "main"])
def test_a_revision_is_part_of_the_name_and_can_be_found_again(model: Repository, by: str) -> None:
    revision = model.commit if by == "commit" else "main"
    wanted = parse_hub_id(NAME, revision)
    assert ended(Downloads().join(look_up(wanted))).offer == str(wanted)
    found = copy_here(wanted)
    assert found is not None and found.name == str(wanted)
    other = copy_here(HubId(NAME, "main" if by == "commit" else model.commit))
    assert other is (None if by == "commit" else found) or other == found


def test_visitors_who_ask_for_the_same_model_share_one_download_and_see_its_bytes(
    model: Repository, loopback: Loopback
) -> None:
    loopback.faults[model.weights_at] = Fault(drip=0.0005)
    downloads, plan, seen = Downloads(), look_up(HubId(NAME)), []
    tickets = [downloads.join(plan) for _ in range(5)]
    assert len(downloads._jobs) == 1
    assert [ticket.leave() for ticket in tickets[:2]] == [4, 3]
    while (status := tickets[2].ask()).state is State.RUNNING:
        seen.append(status.done)
        time.sleep(0.02)
    assert seen == sorted(seen) and len(set(seen)) > 3
    assert status.done == status.total
    assert {ended(ticket).state for ticket in tickets[2:]} == {State.DONE}
    assert sum("/cdn/" in path for path in loopback.asked("GET")) <= len(model.files)


def test_the_last_who_leaves_calls_it_off_and_who_comes_meanwhile_gets_another(
    model: Repository, loopback: Loopback, place: Path
) -> None:
    loopback.faults[model.weights_at] = Fault(drip=0.005)
    downloads, plan = Downloads(), look_up(HubId(NAME))
    ticket = downloads.join(plan)
    until(lambda: ticket.ask().done > 3_000)
    assert ticket.leave() == 0
    until(lambda: len(downloads._jobs) == 0)
    until(lambda: files_in(place) == [])
    assert "cancelled" in ticket.ask().says
    assert NAME not in offers()
    ticket = downloads.join(plan)
    until(lambda: ticket.ask().done > 3_000)
    ticket.leave()
    loopback.faults.clear()
    assert ended(downloads.join(plan)).state is State.DONE


def test_a_download_without_waiting_visitors_is_cancelled(
    model: Repository, loopback: Loopback, place: Path
) -> None:
    loopback.faults[model.weights_at] = Fault(drip=0.005)
    downloads = Downloads(patience=0.3)
    ticket = downloads.join(look_up(HubId(NAME)))
    for _ in range(4):  # longer than the patience, but a visitor asks
        assert ticket.ask().state is State.RUNNING
        time.sleep(0.1)
    until(lambda: len(downloads._jobs) == 0)
    until(lambda: files_in(place) == [])


def test_a_bounded_number_at_once_and_room_that_others_will_take_counts(
    model: Repository, loopback: Loopback, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (model, loopback.add_model("someone/else", tiny_folder)):
        each.files["model.safetensors"] += b"x" * 2**19
    monkeypatch.setenv("BERT_EXPLORER_DISK", "1")
    loopback.faults[model.weights_at] = Fault(drip=0.005)
    downloads = Downloads()
    other = look_up(HubId("someone/else"))
    first = downloads.join(look_up(HubId(NAME)))
    with pytest.raises(InputError, match="are in use"):
        downloads.join(other)
    with pytest.raises(InputError, match="Another version"):
        downloads.join(look_up(HubId(NAME, model.commit)))
    monkeypatch.setattr(downloads_module, "_AT_ONCE", 1)
    with pytest.raises(InputError, match=f"is downloading {NAME}, the most"):
        downloads.join(other)
    first.leave()
    until(lambda: len(downloads._jobs) == 0)


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        ("gone", "lists a file that the Hub does not have"),
        ("dead", "cannot be reached"),
        ("another kind", "model_type|gpt2"),
    ],
)
def test_what_goes_wrong_is_said_and_nothing_stays(
    model: Repository,
    loopback: Loopback,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
    says: str,
) -> None:
    path = model.weights_at
    if trouble == "another kind":
        model.files["config.json"] = b'{"model_type": "gpt2", "vocab_size": 9}'
    plan = look_up(HubId(NAME))
    if trouble == "gone":
        loopback.faults[path] = Fault(status=404)
    elif trouble == "dead":
        patient = SimpleNamespace(sleep=lambda seconds: None)  # the client waits between its tries
        monkeypatch.setattr("huggingface_hub.utils._http.time", patient)
        loopback.stop()
    status = ended(Downloads().join(plan))
    assert status.state is State.FAILED
    assert re.search(says, status.says)
    assert str(place) not in status.says
    assert files_in(place) == []
    assert NAME not in offers()


def test_a_full_disk_and_a_bug_are_told_without_path_and_text(
    model: Repository, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(plan: DownloadPlan, **_: Any) -> Path:
        raise KeyError(plan.name)

    plan = look_up(HubId(NAME))
    assert "an internal error occurred" in ended(Downloads(fetch=broken).join(plan)).says
    assert "KeyError" in caplog.text and "tiny-bert" not in caplog.text
    monkeypatch.setattr("bert_core.checkpoints.sources.cache._MARGIN", 2**62)
    status = ended(Downloads().join(plan))
    assert status.says == f"This server cannot store {NAME}: its disk is full or not writable."


# -- what is kept ----------------------------------------------------------------------------------


def test_forgetting_a_version_leaves_what_another_one_needs(tmp_path: Path) -> None:
    storage = tmp_path / "models--owner--name"
    (storage / "blobs").mkdir(parents=True)
    for blob in ("shared", "mine", "half.incomplete"):
        (storage / "blobs" / blob).write_bytes(b"x" * 10)
    kept, gone = (storage / "snapshots" / (letter * 40) for letter in "ab")
    for folder, blobs in ((kept, ["shared"]), (gone, ["shared", "mine"])):
        (folder / "heads").mkdir(parents=True)
        for blob in blobs:
            (folder / "heads" / blob).symlink_to(storage / "blobs" / blob)
    note(kept, "main")
    assert bytes_in(tmp_path) == 30 + 40  # blobs and the reference, links counted once
    forget(gone)
    assert not gone.exists()
    assert [path.name for path in (storage / "blobs").iterdir()] == ["shared"]
    forget(kept)
    assert (kept / "heads" / "shared").is_file()
    note(kept, "main")
    (storage / "refs" / "main").unlink()
    forget(kept)
    assert not storage.exists()


def test_downloads_lie_beside_the_other_caches_unless_the_operator_says_otherwise(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert downloads_folder() == place
    monkeypatch.delenv("BERT_EXPLORER_CACHE")
    monkeypatch.setenv("BERT_CORE_CACHE", str(tmp_path / "core"))
    assert downloads_folder() == tmp_path / "core" / "hub"
