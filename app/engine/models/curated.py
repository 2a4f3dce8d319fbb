"""Published models that visitors can download with one click, where downloads are allowed.

Public sites offer only those that are pinned to a commit, if the server has a copy of it.
"""

from dataclasses import dataclass

from app.engine.models.copies import HubId


@dataclass(frozen=True, slots=True)
class Curated:
    """A published model of the BERT family.

    Attributes:
        wanted: its id on the Hub.
        can: what it is for.
        megabytes: size of its weights in units of 10^6 bytes, as listed on the Hub in 2025; the
            exact size is asked for before the download starts.
        licence: as stated by its authors; "" if they state none.
        commit: the version that public sites offer; "" if none is pinned, then they do not.
    """

    wanted: HubId
    can: str
    megabytes: int
    licence: str
    commit: str = ""


CURATED = (
    Curated(
        HubId("google-bert/bert-base-uncased"),
        "masked words, next sentence",
        440,
        "Apache 2.0",
        "86b5e0934494bd15c9632b12f734a8a67f723594",
    ),
    Curated(
        HubId("google-bert/bert-base-cased"),
        "the same, with capitals",
        436,
        "Apache 2.0",
        "cd5ef92a9fb2f889e972770a36d4ed042daf221e",
    ),
    Curated(
        HubId("dslim/bert-base-NER"),
        "named entities",
        433,
        "MIT",
        "d1a3e8f13f8c3566299d95fcfc9a8d2382a9affc",
    ),
    Curated(HubId("deepset/bert-base-cased-squad2"), "question answering", 433, "CC BY 4.0"),
    Curated(
        HubId("textattack/bert-base-uncased-SST-2", "refs/pr/2"),  # main has no safetensors
        "sentiment of a review",
        438,
        "",
    ),
)
"""Sizes and revisions: the file listings of the repositories."""

PINNED = frozenset((each.wanted.name, each.commit) for each in CURATED if each.commit)
"""The id and the commit of each model that public sites may offer."""
