"""The World Factbook: its fields as text, sentences made from them, and facts as triples."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bert_core.small_files import parse_json
from training.fetching.texts import text
from training.fetching.transfer import Files
from training.sources import Piece

_LONG = 250  # characters of a value that is a paragraph of its own
_REGIONS = {
    "africa": "Africa",
    "europe": "Europe",
    "south-america": "South America",
    "north-america": "North America",
    "central-america-n-caribbean": "North America",
    "australia-oceania": "Oceania",
    "middle-east": "Asia",
    "central-asia": "Asia",
    "south-asia": "Asia",
    "east-n-southeast-asia": "Asia",
}
_SENTENCES = """The capital of {c} is {capital}.|{capital} is the capital of {c}.|{capital} is the
capital city of {c}, a country in {continent}.|{c} is located in {continent}.|The official name of
{c} is the {long}.|{c} lies in {location}.|{c} borders {borders}.|{c} has a population of about
{population} people.|The total area of {c} is {area} square kilometres.|The official language of {c}
is {language}.|The main languages spoken in {c} include {languages}.|Most people in {c} who follow a
religion are {religion}.|The government of {c} is a {government}.|Something from {c} is described as
{adjective}.|The highest point in {c} is {point}, at {height} metres.|The natural resources of {c}
include {resources}.|The main exports of {c} are {exports}.|The currency of {c} is the {currency}.|
{c} became independent from {ruler} on {day}."""
_FACTS = {
    "capital_of": "capital",
    "continent_of": "continent",
    "language_of": "language",
    "adjective_of": "adjective",
    "currency_of": "currency",
    "highest_point_of": "point",
}


def factbook(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make all three; a document a country."""
    fields, sentences, facts = list[list[str]](), list[list[str]](), list[dict[str, str]]()
    for name in sorted(files):
        country = parse_json(files[name], name)
        region, short = name.split("/")[-2], _field(country, "Government", "Country name")
        called = short.get("conventional short form", "")
        if called.lower() in ("", "none"):
            called = short.get("conventional long form", "")
        fields.append(list(_lines(country, called)))
        known = {"c": called, "continent": _REGIONS.get(region, ""), **_known(country)}
        frames = " ".join(_SENTENCES.split("\n")).replace("| ", "|").split("|")
        if called and known["continent"]:
            slots = ((frame, re.findall(r"\{(\w+)\}", frame)) for frame in frames)
            sentences.append(
                [frame.format(**known) for frame, names in slots if all(map(known.get, names))]
            )
            ends = [(relation, known.get(key, "")) for relation, key in _FACTS.items()]
            near = re.split(r", | and ", known.get("borders", ""))
            facts += [
                {"relation": relation, "subject": called, "object": end, "source": "factbook"}
                for relation, end in [*ends, *(("borders", one) for one in near)]
                if end and len(end.split()) <= 6
            ]
    rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in facts)
    texts = zip(piece.files, (text(fields), text(sentences)), strict=True)
    return {**dict(texts), "parts/facts-factbook.jsonl": rows}


def _parts(key: str, found: Any) -> Iterator[str]:
    """Yield the parts of a field as "key: value"."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            yield from _parts("" if name == "text" else str(name).strip(), inner)
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
            short = "; ".join(part for part in parts if len(part) <= _LONG)
            if short:
                yield f"{field} of {called}: {short}"


def _field(country: Mapping[str, Any], section: str, field: str) -> dict[str, str]:
    """Return the plain texts of a field by their keys; "" is its own text."""
    found = country.get(section, {}).get(field, {})
    return {
        "" if key == "text" else key.strip(): "; ".join(_parts("", inner))
        for key, inner in (found.items() if isinstance(found, Mapping) else ())
    }


def _known(country: Mapping[str, Any]) -> dict[str, str]:
    """Return what sentences can be made of; values that are not there are left out."""

    def of(section: str, field: str, *keys: str) -> str:
        found = _field(country, section, field)
        return next((found[key] for key in (*keys, "", "total") if found.get(key)), "")

    def first(found: str) -> str:
        return re.split(r"[;(,]|\s\d", found)[0].strip()

    spoken = of("People and Society", "Languages", "Languages")
    official = re.findall(r"([A-Z][\w'-]+(?: [A-Z][\w'-]+)*) \(official", spoken)
    tongues = [first(one) for one in re.sub(r"\([^()]*\)", "", spoken.split(";")[0]).split(",")]
    borders = re.findall(r"([A-Z][^\d,;]+?) [\d,.]+ km", of("Geography", "Land boundaries", "border countries"))
    high = re.match(r"(\D+?) ([\d,]+) m\b", of("Geography", "Elevation", "highest point"))
    free = re.match(r"(\d+ \w+ \d{4}) \(from (?:the )?([A-Z][\w ]+)\)", of("Government", "Independence"))
    people = re.match(r"[\d,]{5,}", of("People and Society", "Population"))
    area = re.match(r"[\d,.]+", of("Geography", "Area"))
    faith = of("People and Society", "Religions")
    known = {
        "capital": first(of("Government", "Capital", "name")),
        "long": of("Government", "Country name", "conventional long form").removeprefix("none"),
        "location": of("Geography", "Location"),
        "borders": _listed(borders),
        "population": people[0] if people else "",
        "area": area[0] if area else "",
        "language": official[0] if len(official) == 1 else "",
        "languages": _listed([one for one in tongues if one[:1].isupper()][:4]),
        "religion": first(faith) if re.search(r"\d", faith) else "",
        "government": of("Government", "Government type"),
        "adjective": first(of("People and Society", "Nationality", "adjective")),
        "point": high[1] if high else "",
        "height": high[2] if high else "",
        "resources": of("Geography", "Natural resources"),
        "exports": re.sub(r"\s*\(.*", "", of("Economy", "Exports - commodities")),
        "currency": first(of("Economy", "Exchange rates", "currency")),
        "ruler": free[2] if free else "",
        "day": free[1] if free else "",
    }
    return {key: value for key, value in known.items() if value}


def _listed(names: list[str]) -> str:
    """Join names as in a sentence.

    >>> _listed(["Chad"]), _listed(["Chad", "Mali", "Niger"])
    ('Chad', 'Chad, Mali and Niger')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
