"""Published models that visitors can download with one click, where downloads are allowed."""

from dataclasses import dataclass

from app.models.hub import HubId


@dataclass(frozen=True, slots=True)
class Curated:
    """A published model of the BERT family.

    Attributes:
        wanted: its id on the Hub.
        can: what it is for.
        megabytes: size of its weights in units of 10^6 bytes, as listed on the Hub in 2025; the
            exact size is asked for before the download starts.
        licence: as stated by its authors; "" if they state none.
    """

    wanted: HubId
    can: str
    megabytes: int
    licence: str


CURATED = (
    Curated(
        HubId("google-bert/bert-base-uncased"), "masked words, next sentence", 440, "Apache 2.0"
    ),
    Curated(HubId("google-bert/bert-base-cased"), "the same, with capitals", 436, "Apache 2.0"),
    Curated(HubId("dslim/bert-base-NER"), "named entities", 433, "MIT"),
    Curated(HubId("deepset/bert-base-cased-squad2"), "question answering", 433, "CC BY 4.0"),
    Curated(
        HubId("textattack/bert-base-uncased-SST-2", "refs/pr/2"),  # main has no safetensors
        "sentiment of a review",
        438,
        "",
    ),
)
"""Sizes and revisions: the file listings of the repositories."""
