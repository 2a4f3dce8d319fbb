"""What is made of the other files: held-out documents, sentence pairs, facts, choices."""

import random
from itertools import pairwise
from pathlib import Path

from bert_core.errors import MissingFileError
from bert_core.pretraining import split_sentences
from training.corpus import read_documents
from training.fetching.rows import json_lines, part_of, split
from training.fetching.texts import text
from training.fetching.transfer import Files
from training.rows import is_there, json_rows
from training.sources import Piece

# Texts of which every fiftieth document is taken out, to measure on.
HELD = (
    *("wikipedia-articles-a", "wikipedia-articles-b", "wikipedia-people", "simple-wikipedia"),
    *("openstax-us-history", "openstax-astronomy", "openstax-microbiology", "openstax-psychology"),
    "novels-public-domain",
)
_EVERY = 50
# Textbooks whose review questions are used.
_ASKED = (
    *("anatomy-physiology", "microbiology", "introduction-sociology", "psychology"),
    *("us-history", "american-government"),
)
_ORDERS = {
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "month": "January February March April May June July August September October November "
    "December",
    "number": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty",
    "season": "spring summer autumn winter",
    "ordinal": "first second third fourth fifth sixth seventh eighth ninth tenth",
    "planet": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune",
}
_PAIRS = (
    *(("random", 0, 400), ("random", 1, 400), ("same", 0, 400), ("same", 1, 400)),
    ("swapped", 1, 300),
)
_CHOICES = {"train": 12_968, "test": 856}


def hold_out(made: dict[str, str]) -> dict[str, str]:
    """Move every fiftieth document of some texts into files of their own."""
    kept = dict(made)
    for name, body in made.items():
        stem = Path(name).stem
        if name.startswith("text/") and stem in HELD:
            documents = body.rstrip("\n").split("\n\n")
            held = documents[_EVERY - 1 :: _EVERY]
            del documents[_EVERY - 1 :: _EVERY]
            kept[name] = "\n\n".join(documents) + "\n"
            kept[f"parts/held-{stem}.txt"] = "\n\n".join(held) + "\n"
    return kept


def facts(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Put the facts of all sources together."""
    parts = sorted((data / "parts").glob("facts-*.jsonl.xz"))
    rows = [row for part in parts for row in json_rows(part.with_suffix(""))]
    for name, words in _ORDERS.items():
        for before, after in pairwise(words.split()):
            row = {"relation": f"followed_by:{name}", "subject": before, "object": after}
            rows.append({**row, "source": "common knowledge"})
    return {next(iter(piece.files)): json_lines(rows)}


def sentence_pairs(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the held-out documents and the pairs of their sentences that are measured on."""
    held = _documents(sorted((data / "parts").glob("held-*.txt.xz")))
    long = [each for each in held if len(each[2]) >= 10]
    documents, pairs = piece.files
    source, rows = random.Random(0), list[dict[str, object]]()
    most = sum(len(sentences) for _, _, sentences in long) if len(long) > 1 else 0
    for kind, label, count in _PAIRS:
        for number in range(min(count, most)):
            name, _, sentences = one = source.choice(long)
            at = source.randrange(len(sentences) - 1)
            first, second = sentences[at], sentences[at + 1]
            if label and kind == "random":
                second = source.choice(source.choice([each for each in long if each is not one])[2])
            elif label and kind == "same":
                second = source.choice([s for i, s in enumerate(sentences) if abs(i - at) >= 4])
            elif label:
                first, second = second, first
            made = {"id": f"{kind}-{label}-{number:04d}", "source": name, "kind": kind}
            rows.append({**made, "sentence_a": first, "sentence_b": second, "label": label})
    return {documents: text(document for _, document, _ in held), pairs: json_lines(rows)}


def review_questions(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Put the review questions of the textbooks together; a tenth is for measuring."""
    parts = [data / "parts" / f"questions-openstax-{name}.jsonl" for name in _ASKED]
    rows = [row for part in parts if is_there(part) for row in json_rows(part)]
    if not rows:
        raise MissingFileError("no textbook with review questions is there.")
    rows = [{"id": f"openstax-{number:04d}", **row} for number, row in enumerate(rows)]
    return split("openstax", rows, lambda row: part_of(row["id"], 0.1))


def next_sentences(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make rows in which one of four sentences of a document comes next."""
    made = {}
    texts = [data / "text" / f"{name}.txt.xz" for name in HELD]
    held = sorted((data / "parts").glob("held-*.txt.xz"))
    for part, paths in (("train", [one for one in texts if one.is_file()]), ("test", held)):
        documents = [each for each in _documents(paths) if len(each[2]) >= 10]
        source, rows = random.Random(part), list[dict[str, object]]()
        for number in range(min(_CHOICES[part], sum(len(each[2]) for each in documents))):
            name, _, sentences = source.choice(documents)
            at = source.randrange(len(sentences) - 1)
            others = [s for i, s in enumerate(sentences) if i not in (at, at + 1)]
            choices = [sentences[at + 1], *source.sample(others, 3)]
            order = source.sample(range(4), 4)
            row = {"id": f"nextsentence_{part}-{number:05d}", "source": name}
            row |= {"context": sentences[at], "question": ""}
            rows.append({**row, "choices": [choices[i] for i in order], "label": order.index(0)})
        made[f"mc/nextsentence_{part}.jsonl"] = json_lines(rows)
    if not any(made.values()):
        raise MissingFileError("no text to make them of is there.")
    return made


def _documents(paths: list[Path]) -> list[tuple[str, list[str], list[str]]]:
    """Return name, paragraphs and sentences of the documents of some texts."""
    return [
        (
            path.name.split(".")[0].removeprefix("held-"),
            document,
            [
                one
                for paragraph in document
                for one in split_sentences(paragraph)
                if 4 <= len(one.split()) <= 60
            ],
        )
        for path in paths
        for document in read_documents(path)
    ]
