"""The World Factbook: its fields as text, facts as triples, and sentences that state them."""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bert_core.small_files import parse_json
from training.fetching.rows import json_lines
from training.fetching.texts import text
from training.fetching.transfer import Files
from training.sources import Piece

_LONG = 250  # characters of a value that is a paragraph of its own
_CONTINENTS = {
    "Africa": ["africa"],
    "Asia": ["central-asia", "east-n-southeast-asia", "middle-east", "south-asia"],
    "Europe": ["europe"],
    "North America": ["central-america-n-caribbean", "north-america"],
    "Oceania": ["australia-oceania"],
    "South America": ["south-america"],
}
# Of each relation: section, field and key, what of the value counts, and sentences that state it.
_FACTS = {
    "capital_of": (
        "Government/Capital/name",
        r"[^;(,\d]+",
        "The capital of {s} is {o}.|{o} is the capital of {s}.",
    ),
    "continent_of": ("", "", "{s} is located in {o}."),
    "borders": (
        "Geography/Land boundaries/border countries",
        r"([A-Z][^\d,;()]+?) [\d,.]+ km",
        "{s} borders {o}.",
    ),
    "language_of": (
        "People and Society/Languages/Languages",
        r"([A-Z][\w'-]+) \(official",
        "The official language of {s} is {o}.",
    ),
    "adjective_of": (
        "People and Society/Nationality/adjective",
        r"[^;(,]+",
        "Something from {s} is described as {o}.",
    ),
    "currency_of": (
        "Economy/Exchange rates/currency",
        r"[^;(,]+",
        "The currency of {s} is the {o}.",
    ),
    "highest_point_of": (
        "Geography/Elevation/highest point",
        r"(\D+?) [\d,]+ m\b",
        "The highest point in {s} is {o}.",
    ),
}


def factbook(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make all three; a document a country."""
    fields, sentences, facts = list[list[str]](), list[list[str]](), list[dict[str, str]]()
    for name in sorted(files):
        country = parse_json(files[name], name)
        region = name.split("/")[-2]
        names = (country.get("Government") or {}).get("Country name") or {}
        called = [*_parts("", names.get("conventional short form")), ""][0]
        if called.lower() in ("", "none"):
            called = [*_parts("", names.get("conventional long form")), ""][0]
        fields.append(list(_lines(country, called)))
        continents = [one for one, regions in _CONTINENTS.items() if region in regions]
        rows = [
            {"relation": relation, "subject": called, "object": end, "source": "factbook"}
            for relation in _FACTS
            for end in (_ends(country, relation) if relation != "continent_of" else continents)
            if called and continents
        ]
        facts += rows
        sentences.append(
            [
                frame.format(s=row["subject"], o=row["object"])
                for row in rows
                for frame in _FACTS[row["relation"]][2].split("|")
            ]
        )
    texts = zip(piece.files, (text(fields), text(sentences)), strict=True)
    return {**dict(texts), "parts/facts-factbook.jsonl": json_lines(facts)}


def _ends(country: Mapping[str, Any], relation: str) -> list[str]:
    """Return what a fact says of a country; nothing if several languages are official."""
    path, pattern, _ = _FACTS[relation]
    found: Any = country
    for key in path.split("/"):
        found = found.get(key, {}) if isinstance(found, Mapping) else {}
    said = [match.strip() for part in _parts("", found) for match in re.findall(pattern, part)]
    single = relation == "language_of" and len(said) != 1
    return [] if single else said if relation == "borders" else said[:1]


def _parts(key: str, found: Any) -> Iterator[str]:
    """Yield the parts of a field as "key: value"."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            yield from _parts(key if name == "text" else str(name).strip(), inner)
    elif isinstance(found, str):
        for part in re.split(r"<br\s*/?>|</?p>", found):
            said = " ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split())
            if said:
                yield f"{key}: {said.removeprefix('note: ')}" if key else said


def _lines(country: Mapping[str, Any], called: str) -> Iterator[str]:
    """Yield each field as one line; long values as paragraphs."""
    for section in country.values():
        for field, found in section.items() if isinstance(section, Mapping) else ():
            parts = list(_parts("", found))
            yield from (part for part in parts if len(part) > _LONG)
            if short := "; ".join(part for part in parts if len(part) <= _LONG):
                yield f"{field} of {called}: {short}"
