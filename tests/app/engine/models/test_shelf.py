"""What visitors may choose: names looked up in a table, ids of the Hub, never a path."""

import os
from pathlib import Path

import pytest

from app.engine.models.copies import HubId, copies, note
from app.engine.models.curated import PINNED
from app.engine.models.hub import copy_here, not_here, parse_hub_id
from app.engine.models.shelf import (
    UNTRAINED,
    Kind,
    Offer,
    called_by_name,
    default_offer,
    local_folder,
    offers,
)
from app.settings import BUNDLED_MODEL
from bert_core.errors import CheckpointError, InputError, MissingFileError

TWIN = f"{BUNDLED_MODEL}{UNTRAINED}"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def make_model(folder: Path) -> Path:
    """A folder that looks like a model from outside."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


def make_copy(cache: Path, name: str, commit: str = COMMIT, main: str | None = None) -> Path:
    """A model in the layout of the Hub's own cache."""
    place = cache / f"models--{name}"
    folder = make_model(place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit if main is None else main, encoding="utf-8")
    return folder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models that the operator offers."""
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("BERT_EXPLORER_MODELS", str(folder))
    return folder


def test_without_folders_the_bundled_model_is_on_offer_with_its_untrained_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BERT_EXPLORER_MODEL", raising=False)
    monkeypatch.delenv("BERT_EXPLORER_MODELS", raising=False)
    assert offers() == {
        BUNDLED_MODEL: Offer(BUNDLED_MODEL, BUNDLED_MODEL, Kind.BUNDLED),
        "explorer-mini-uncased untrained (random weights)": Offer(
            TWIN, BUNDLED_MODEL, Kind.UNTRAINED
        ),
    }
    assert default_offer().name == BUNDLED_MODEL


def test_folders_are_offered_by_name_after_the_model_that_pages_start_with(shelf: Path) -> None:
    for name in ("Zebra", "antelope"):
        make_model(shelf / name)
    (shelf / "no model").mkdir()
    (shelf / "a file").write_text("x", encoding="utf-8")
    make_model(shelf / ".hidden")
    (shelf / "first release").mkdir()
    (shelf / "first release" / "bert_config.json").write_text("{}", encoding="utf-8")
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "antelope", "first release", "Zebra"]
    assert not {"../real", "/etc", "~", "", "Zebra/..", "shelf/Zebra"} & offers().keys()
    assert offers()["Zebra"] == Offer("Zebra", str(shelf / "Zebra"), Kind.FOLDER)
    assert not any(str(shelf) in name for name in offers())


def test_several_folders_and_a_folder_that_is_a_model_itself(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_model(shelf / "one")
    alone = make_model(tmp_path / "elsewhere" / "alone")
    paths = os.pathsep.join([str(shelf), str(alone), str(tmp_path / "gone"), ""])
    monkeypatch.setenv("BERT_EXPLORER_MODELS", paths)
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "one", "alone"]


def test_equal_names_are_told_apart_and_bundled_ones_keep_theirs(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_model(shelf / "same")
    make_model(tmp_path / "other" / "same")
    make_model(tmp_path / "deep" / "other" / "same")
    mine = make_model(tmp_path / "mine" / BUNDLED_MODEL)
    roots = [shelf, tmp_path / "other", tmp_path / "deep" / "other"]
    monkeypatch.setenv("BERT_EXPLORER_MODELS", os.pathsep.join(map(str, roots)))
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(mine))
    names = list(offers())
    mine_and_bundled = [f"{BUNDLED_MODEL} (mine)", BUNDLED_MODEL, TWIN]
    assert names == [*mine_and_bundled, "same", "same (other)", "same (2)"]
    assert len({offer.source for offer in offers().values()}) == 5
    assert offers()[BUNDLED_MODEL].kind is Kind.BUNDLED


def test_the_model_of_the_settings_is_offered_once(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_MODEL", str(make_model(shelf / "mine")))
    assert list(offers()) == ["mine", BUNDLED_MODEL, TWIN]
    assert default_offer() == offers()["mine"]


def test_a_link_to_a_model_is_offered_under_its_own_name(shelf: Path, tmp_path: Path) -> None:
    make_model(tmp_path / "real")
    (shelf / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    assert offers()["real"].source == str(tmp_path / "real")


# -- copies from the Hub ---------------------------------------------------------------------------


def test_the_cache_of_the_hub_is_offered_by_ids(shelf: Path) -> None:
    folder = make_copy(shelf, "google-bert--bert-base-uncased")
    make_copy(shelf, "old-model")
    make_copy(shelf, "owner--half-there", main="f" * 40)
    make_copy(shelf, "owner--climber", main="../../../x")
    make_copy(shelf, "owner--not-text", main="\u00e9")
    found = {name: offer for name, offer in offers().items() if offer.kind is Kind.HUB_COPY}
    assert list(found) == ["google-bert/bert-base-uncased", "old-model"]
    assert found["google-bert/bert-base-uncased"].source == str(folder)
    for wanted in (HubId("google-bert/bert-base-uncased"), parse_hub_id("bert-base-uncased")):
        found_here = copy_here(wanted)
        assert found_here is not None and found_here.source == str(folder)
    assert copy_here(HubId("google-bert/bert-base-uncased", COMMIT)) == found_here
    assert copy_here(HubId("google-bert/bert-base-uncased", "v2")) is None


def test_an_id_without_a_copy_is_answered_with_what_to_do(shelf: Path) -> None:
    make_copy(shelf, "owner--here")
    make_model(shelf / "gone")  # a folder of the same name is not the model of the Hub
    assert copy_here(HubId("owner/gone")) is None
    table = {"owner/gone": Offer("owner/gone", "y", Kind.FOLDER)}
    assert copy_here(HubId("owner/gone"), table) is None
    said = not_here(HubId("owner/gone", "v2"))
    assert said.startswith("This server has no copy of owner/gone@v2, and")
    assert "BERT_EXPLORER_HUB=on" in said


def test_downloads_are_offered_by_id_and_revision_once_they_are_complete(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "downloads"
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(root))
    assert list(offers()) == [BUNDLED_MODEL, TWIN]
    folder = make_copy(root, "owner--name")
    assert list(offers()) == [BUNDLED_MODEL, TWIN]  # no weights yet
    (folder / "model.safetensors").write_bytes(b"w")
    note(folder, "v1")
    later = make_model(root / "models--owner--name" / "snapshots" / ("b" * 40))
    (later / "model.safetensors").write_bytes(b"w")
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "owner/name"]  # nothing says that it is complete
    note(later, "refs/pr/2")
    note(later, later.name)
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "owner/name", f"owner/name@{later.name}"]
    assert [(str(copy.model), copy.folder.name) for copy in copies(root)] == [
        ("owner/name", COMMIT),
        (f"owner/name@{later.name}", later.name),
        ("owner/name@refs/pr/2", later.name),
        ("owner/name@v1", COMMIT),
    ]
    for revision, expected in (("v1", "owner/name"), ("refs/pr/2", f"owner/name@{later.name}")):
        found = copy_here(HubId("owner/name", revision))
        assert found is not None and found.name == expected


def test_a_public_site_offers_no_folder_and_only_pinned_copies(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path / "downloads"))
    make_model(shelf / "mine")
    name, pin = next(iter(PINNED))
    for folder in (
        make_copy(tmp_path / "downloads", name.replace("/", "--"), commit=pin),
        make_copy(tmp_path / "downloads", "owner--name"),
    ):
        (folder / "model.safetensors").write_bytes(b"w")
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "mine", name, "owner/name"]
    monkeypatch.setenv("BERT_EXPLORER_PUBLIC", "1")
    assert list(offers()) == [BUNDLED_MODEL, TWIN, name]
    head = tmp_path / "downloads" / f"models--{name.replace('/', '--')}" / "refs" / "main"
    make_model(head.parents[1] / "snapshots" / COMMIT)
    (head.parents[1] / "snapshots" / COMMIT / "model.safetensors").write_bytes(b"w")
    head.write_text(COMMIT, encoding="utf-8")
    assert list(offers()) == [BUNDLED_MODEL, TWIN]  # another commit is another model


def test_a_copy_of_the_operator_and_a_download_are_told_apart(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERT_EXPLORER_CACHE", str(tmp_path / "downloads"))
    make_copy(shelf, "owner--name")
    mine = make_copy(tmp_path / "downloads", "owner--name", commit="b" * 40)
    (mine / "model.safetensors").write_bytes(b"w")
    assert list(offers()) == [BUNDLED_MODEL, TWIN, "owner/name", f"owner/name ({'b' * 12})"]


@pytest.mark.parametrize(
    ("typed", "name", "revision"),
    [
        ("bert-base-uncased", "google-bert/bert-base-uncased", "main"),
        ("  google-bert/bert-base-uncased \n", "google-bert/bert-base-uncased", "main"),
        ("https://huggingface.co/dslim/bert-base-NER", "dslim/bert-base-NER", "main"),
        ("hf.co/dslim/bert-base-NER/", "dslim/bert-base-NER", "main"),
        ("a/b_c.d-e@v1.0", "a/b_c.d-e", "v1.0"),
        ("a/b@refs/pr/2", "a/b", "refs/pr/2"),
        (f"{'x' * 96}/y", f"{'x' * 96}/y", "main"),
    ],
)
def test_ids_are_read_as_people_write_them(typed: str, name: str, revision: str) -> None:
    found = parse_hub_id(typed)
    assert found == HubId(name, revision) == parse_hub_id(str(found))


@pytest.mark.parametrize(
    "typed",
    [
        *("", " ", "a/b/c", "../x", "a/..", "a//b", "/a", "a b", "a/-b", "ä/b", "a--b/c", "x" * 97),
        *("a/b?x=1", "a/b#c", "a\\b", "~/x", "a/b\0", "http://elsewhere.example/a/b", "<b>/x"),
        *("old-model", "@main", "a/b.git", "x y" * 1_000),
    ],
)
def test_what_is_no_id_is_refused_with_an_example(typed: str) -> None:
    with pytest.raises(InputError, match="such as google-bert/bert-base-uncased") as caught:
        parse_hub_id(typed)
    assert len(str(caught.value)) < 300


def test_a_revision_is_a_branch_a_tag_or_a_commit() -> None:
    for revision in ("main", "v1.0", "refs/pr/2", COMMIT):
        assert parse_hub_id("a/b", f" {revision} ") == HubId("a/b", revision)
    for revision in ("../main", "a..b", "a b", "/x", "x/", "-x", "x" * 129):
        with pytest.raises(InputError, match="not a revision"):
            parse_hub_id("a/b", revision)


@pytest.mark.parametrize("model", ["bert-base-uncased", "someone/tiny", "http://a.example/x.zip"])
def test_what_is_not_on_this_machine_is_never_fetched_for_a_page(model: str) -> None:
    with pytest.raises(MissingFileError, match="no folder or bundled model"):
        local_folder(model)


# -- errors and settings ---------------------------------------------------------------------------


def test_errors_keep_their_kind_and_lose_the_path(tmp_path: Path) -> None:
    offer = Offer("shown", str(tmp_path), Kind.FOLDER)
    with pytest.raises(MissingFileError) as missing, called_by_name(offer):
        raise MissingFileError(f"The folder {tmp_path} has no weights; {tmp_path}/x is none.")
    assert str(missing.value) == "The folder shown has no weights; shown/x is none."
    with pytest.raises(CheckpointError, match="cut"), called_by_name(offer):
        raise CheckpointError("The file is cut.")
