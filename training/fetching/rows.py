"""Labelled rows: questions, sentiment, family names, choices."""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bert_core.small_files import parse_json
from training.fetching.books import tree
from training.fetching.texts import joined
from training.fetching.transfer import Files
from training.rows import is_there, json_rows, open_text
from training.sources import Piece

_SHARED = 60  # letters and digits in a row that no passage may share with an evaluation passage


def json_lines(rows: Iterable[Mapping[str, object]]) -> str:
    """Return one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def part_of(key: str, share: float) -> bool:
    """Return whether the checksum of a key lies in the first share of all.

    >>> sum(part_of(f"row-{number}", 0.1) for number in range(1000))
    114
    """
    return zlib.crc32(key.encode()) < share * 2**32


# -- questions ---------------------------------------------------------------------------------


def xquad(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the evaluation questions of XQuAD's English part."""
    [(name, raw)] = files.items()
    rows = [{**row, "source": "xquad-en"} for row in _asked(parse_json(raw, name))]
    return {next(iter(piece.files)): json_lines(rows)}


def squad(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make two files of passages of SQuAD's training set, the second in lower case.

    As many questions are taken as the files of the bundled model have, whole passages evenly from
    all articles; the first file from one part of the split, the second from the other.
    """
    far, made = _Far(data), {}
    for (target, (count,)), name in zip(piece.files.items(), ("train", "test"), strict=True):
        raw = next(body for path, body in files.items() if path.endswith(f"/{name}.json"))
        kept = [
            row for row in _asked(parse_json(raw, name)) if far(row["context"], row["question"])
        ]
        contexts = list(dict.fromkeys(row["context"] for row in kept))
        share = min(1.0, count / max(1, len(kept)))
        chosen = {one for i, one in enumerate(contexts) if int((i + 1) * share) > int(i * share)}
        rows = [row for row in kept if row["context"] in chosen]
        if name == "test":
            rows = [_lower(row) for row in rows]
        made[target] = json_lines(_numbered(target, "squad-train", rows))
    return made


def qamr(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the questions about single sentences of QAMR."""
    bodies = {name.rpartition("/")[2]: body.decode() for name, body in files.items()}
    sentences = (line.partition("\t") for line in bodies.pop("wiki-sentences.tsv").splitlines())
    words = {key: sentence.split() for key, _, sentence in sentences}
    far, rows, seen = _Far(data), list[dict[str, Any]](), set[tuple[str, str]]()
    for _, body in sorted(bodies.items()):
        for line in body.splitlines():
            columns = line.split("\t")
            key, question = columns[0], " ".join(columns[5].split())
            places, *others = (
                [int(one) for one in each.rpartition(":")[2].split()] for each in columns[6:]
            )
            run = places and places == list(range(places[0], places[-1] + 1))
            agreed = all(set(places) & set(other) for other in others)
            if not (run and agreed) or (key, question) in seen or key not in words:
                continue
            before, inside = words[key][: places[0]], words[key][places[0] : places[-1] + 1]
            context, answer = joined(words[key]), joined(inside)
            start = _nearest(context, answer, len(joined(before)))
            if start >= 0 and far(context, question):
                seen.add((key, question))
                answers = [{"text": answer, "answer_start": start}]
                rows.append({"context": context, "question": question, "answers": answers})
    return {next(iter(piece.files)): json_lines(_numbered(next(iter(piece.files)), "qamr", rows))}


def _nearest(context: str, answer: str, about: int) -> int:
    """Return where an answer begins, nearest to a place; -1 if nowhere."""
    starts = [each.start() for each in re.finditer(re.escape(answer), context)]
    return min(starts, key=lambda start: abs(start - about), default=-1)


def _asked(found: Any) -> Iterator[dict[str, Any]]:
    """Yield the questions of a file like SQuAD's whose answer is at its offset."""
    articles = found["data"] if isinstance(found, dict) else found
    for article in articles:
        for passage in article["paragraphs"]:
            for asked in passage["qas"]:
                for answer in asked.get("answers", [])[:1]:
                    text, start, context = (
                        answer["text"],
                        answer["answer_start"],
                        passage["context"],
                    )
                    if context[start : start + len(text)] == text and text:
                        yield {
                            "id": str(asked.get("id", "")),
                            "context": context,
                            "question": asked["question"].strip(),
                            "answers": [{"text": text, "answer_start": start}],
                        }


def _lower(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in lower case; letters whose lower case has another length stay."""
    low = "".join(one.lower() if len(one.lower()) == 1 else one for one in row["context"])
    [answer] = row["answers"]
    start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
    answers = [{"text": low[start:end], "answer_start": start}]
    return {**row, "context": low, "question": row["question"].lower(), "answers": answers}


def _numbered(
    target: str, source: str, rows: Iterable[dict[str, Any]]
) -> Iterator[dict[str, object]]:
    name = Path(target).stem
    for number, row in enumerate(rows, start=1):
        yield {**row, "id": f"{name}-{number:06d}", "source": source}


class _Far:
    """Tells rows apart that share a long run or their question with the evaluation."""

    def __init__(self, data: Path) -> None:
        path = data / "qa" / "eval_xquad_en.jsonl"
        rows = json_rows(path) if is_there(path) else []
        self._questions = {_letters(row["question"]) for row in rows}
        self._runs = {
            letters[at : at + _SHARED]
            for letters in {_letters(row["context"]) for row in rows}
            for at in range(len(letters) - _SHARED + 1)
        }

    def __call__(self, context: str, question: str) -> bool:
        letters = _letters(context)
        runs = (letters[at : at + _SHARED] for at in range(len(letters) - _SHARED + 1))
        return _letters(question) not in self._questions and not any(
            run in self._runs for run in (runs if self._runs else ())
        )


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


# -- tables ------------------------------------------------------------------------------------


def _table(head: str, rows: Iterable[str]) -> str:
    return "\n".join([head, *rows]) + "\n"


def _labelled(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield sentence and label of a file with a tab between them, with or without a header."""
    for line in raw.decode(errors="replace").splitlines():
        sentence, _, label = (part.strip() for part in line.rpartition("\t"))
        if label in ("0", "1") and sentence:
            yield sentence, label


def sst2(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the whole sentences of SST-2."""
    made = {}
    for name, raw in files.items():
        target = f"sst2/{name.rpartition('/')[2]}"
        if target in piece.files:
            made[target] = _table("sentence\tlabel", map("\t".join, _labelled(raw)))
    return made


def phrases(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the phrases of SST-2's training half, without what is measured on."""
    kept = dict(row for _, raw in sorted(files.items()) for row in _labelled(raw))
    for name in ("dev", "test"):
        path = data / "sst2" / f"{name}.tsv"
        for line in open_text(path) if is_there(path) else ():
            kept.pop(line.partition("\t")[0], None)
    return {next(iter(piece.files)): _table("sentence\tlabel", map("\t".join, kept.items()))}


def reviews(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the sentences about products, films and restaurants."""
    rows = (
        f"{sentence}\t{label}\t{name.rpartition('/')[2].removesuffix('_labelled.txt')}"
        for name, raw in sorted(files.items())
        for sentence, label in _labelled(raw)
    )
    return {next(iter(piece.files)): _table("sentence\tlabel\tsource", rows)}


def surnames(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the table of family names by language, the name of each file."""
    rows = (
        f"{Path(name).stem}\t{one}"
        for name, raw in sorted(files.items())
        for one in sorted({line.strip() for line in raw.decode(errors="replace").splitlines()})
        if one
    )
    return {next(iter(piece.files)): _table("language\tname", rows)}


# -- choices -----------------------------------------------------------------------------------


def split(name: str, rows: Iterable[dict[str, Any]], test: Any) -> dict[str, str]:
    """Return the files `mc/<name>_train` and `_test` of rows."""
    rows = list(rows)
    return {
        f"mc/{name}_{part}.jsonl": json_lines(row for row in rows if test(row) == (part == "test"))
        for part in ("train", "test")
    }


def codah(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make CODAH's rows; 15 in 100 are for measuring."""
    [raw] = files.values()
    columns = (line.split("\t") for line in raw.decode().splitlines())
    rows = (
        {
            "id": f"codah-{number:04d}",
            "source": "codah",
            "context": "",
            "question": row[-6],
            "choices": row[-5:-1],
            "label": int(row[-1]),
        }
        for number, row in enumerate(row for row in columns if len(row) >= 6 and row[-1].isdigit())
    )
    return split("codah", rows, lambda row: part_of(row["id"], 0.15))


def copa(files: Files, piece: Piece, data: Path) -> dict[str, str]:
    """Make the rows of Balanced COPA; every fifth item, with its mirror, is for measuring."""
    [raw] = files.values()
    rows = []
    for item in tree(raw).iter("item"):
        said = {each.tag: _words(each) for each in item}
        rows.append(
            {
                "id": f"copa-{item.get('id')}",
                "source": "balanced-copa",
                "context": said["p"],
                "question": f"What was the {item.get('asks-for')}?",
                "choices": [said["a1"], said["a2"]],
                "label": int(item.get("most-plausible-alternative", "1")) - 1,
            }
        )
    return split("copa", rows, lambda row: int(row["id"][5:]) % 5 == 0)


def _words(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())
