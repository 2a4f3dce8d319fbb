"""Encode running text as token ids, once, and cache it in the work folder.

Text files have one paragraph per line and a blank line between documents. Evaluation files are
never used for training, and sentences that share a long run of tokens with them are dropped.
"""

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bert_core.errors import InputError, MissingFileError
from bert_core.pretraining import RowTokens, pack_blocks, split_sentences
from bert_core.text.tokenizer import BertTokenizer
from training.rows import is_held_out, json_rows, open_text

# Only ever evaluated on. Everything outside the folder text/ is not read for pretraining anyway.
EVALUATION_TEXTS = ("wikitext2-valid-test",)
EVERYDAY = "everyday-sentences"
# A run of this many equal word pieces is no coincidence; quotations and names are shorter.
SHARED_RUN = 12

Ids = NDArray[np.uint16]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text file as token ids, without special tokens."""

    name: Annotated[str, "the file's name without endings"]
    ids: Annotated[Ids, "(N,)"]
    sentences: Annotated[Index, "(S + 1,) where each sentence starts in `ids`, and the end"]
    documents: Annotated[Index, "(D + 1,) where each starts in `sentences`, and the end"]

    def sentence(self, index: int) -> list[int]:
        """Return the token ids of one sentence."""
        found: list[int] = self.ids[self.sentences[index] : self.sentences[index + 1]].tolist()
        return found

    def document_ids(self) -> Iterator[list[int]]:
        """Yield every document as one run of token ids."""
        ends = self.sentences[self.documents]
        for start, end in itertools.pairwise(ends):
            yield self.ids[start:end].tolist()


def read_documents(path: Path) -> Iterator[list[str]]:
    """Yield the documents of a text file, plain or xz-compressed, as lists of paragraphs."""
    lines = (line.strip() for line in open_text(path))
    for paragraphs, group in itertools.groupby(lines, key=bool):
        if paragraphs:
            yield list(group)


def text_files(data: Path) -> dict[str, Path]:
    """Return the training texts of a data folder by name, without evaluation texts."""
    found = {name: path for name, path in _texts(data).items() if name not in EVALUATION_TEXTS}
    if not found:
        raise MissingFileError(
            f"There are no training texts (text/*.txt or *.txt.xz) in {data}. Check --data."
        )
    return found


def load_corpus(
    data: Path, work: Path, tokenizer: BertTokenizer, processes: int = 0
) -> list[EncodedText]:
    """Encode all training texts, or read them from the cache in the work folder.

    The cache is `work/corpus/`; remove it when the data change. If the data folder has choices
    between everyday situations, these are the last text. With `processes`, so many encode.
    """
    if len(tokenizer.vocab) > np.iinfo(np.uint16).max:
        raise InputError(
            f"The vocabulary has {len(tokenizer.vocab):,} entries; this recipe stores ids in 16 "
            "bits and takes at most 65,535."
        )
    cache = work / "corpus"
    cache.mkdir(parents=True, exist_ok=True)
    files = {cache / f"{name}.npz": path for name, path in text_files(data).items()}
    if missing := {stored: path for stored, path in files.items() if not stored.is_file()}:
        forbidden = _window_hashes(held_out_files(data), tokenizer)
        encode = partial(_encode_into, tokenizer=tokenizer, forbidden=forbidden)
        if processes:
            with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
                list(pool.map(encode, missing.items()))
        else:
            list(map(encode, missing.items()))
    texts = []
    for stored in files:
        with np.load(stored) as arrays:
            values = (arrays[name] for name in ("ids", "sentences", "documents"))
            texts.append(EncodedText(stored.stem, *values))
    if (data / "mc").is_dir():
        texts.append(everyday_text(data, tokenizer))
    return texts


def _encode_into(
    places: tuple[Path, Path], tokenizer: BertTokenizer, forbidden: NDArray[np.uint64]
) -> None:
    stored, path = places
    text, beside = (
        _without(encode_text(path, tokenizer), forbidden),
        stored.with_name(stored.name + ".part.npz"),
    )
    np.savez(beside, ids=text.ids, sentences=text.sentences, documents=text.documents)
    beside.replace(stored)


def encoded_texts(data: Path, names: Sequence[str], tokenizer: BertTokenizer) -> list[EncodedText]:
    """Encode some of the training texts as `load_corpus` does, without a cache."""
    files = text_files(data)
    forbidden = _window_hashes(held_out_files(data), tokenizer)
    return [
        _without(encode_text(files[name], tokenizer), forbidden) for name in names if name in files
    ]


def everyday_text(data: Path, tokenizer: BertTokenizer) -> EncodedText:
    """Encode the right answers of the two everyday-situation sets, one sentence per document.

    CODAH's choices end a sentence; COPA's name a cause or an effect, which "because" or "so" joins
    to the premise. Only training rows are used, without those held out for fitting a temperature.
    """
    sentences = []
    for name in ("codah_train", "copa_train"):
        for row in json_rows(data / "mc" / f"{name}.jsonl"):
            if not is_held_out(row["id"]):
                right = row["choices"][row["label"]]
                sentences.append(situation(row["context"], row["question"], right))
    return _text(EVERYDAY, plain_ids(tokenizer, sentences), range(len(sentences) + 1))


def situation(premise: str, question: str, answer: str) -> str:
    """Write premise and answer as one sentence.

    >>> situation("The glass broke.", "What was the cause?", "It fell from the table.")
    'The glass broke because it fell from the table.'
    >>> situation("", "The tea is too hot. I", "wait a little.")
    'The tea is too hot. I wait a little.'
    """
    if not premise:
        return f"{question} {answer}"
    joint = "because" if "cause" in question else "so"
    first = answer if answer.startswith("I ") else answer[:1].lower() + answer[1:]
    return f"{premise.rstrip('.')} {joint} {first}"


def held_out_files(data: Path) -> list[Path]:
    """Return the texts of a data folder that are for evaluation only."""
    found = [path for name, path in _texts(data).items() if name in EVALUATION_TEXTS]
    return found + sorted((data / "nsp").glob("eval-documents.txt*"))


def _texts(data: Path) -> dict[str, Path]:
    return {path.name.split(".")[0]: path for path in sorted((data / "text").glob("*.txt*"))}


def encode_text(path: Path, tokenizer: BertTokenizer) -> EncodedText:
    """Encode a text file sentence by sentence."""
    sentences: list[str] = []
    documents = [0]
    for document in read_documents(path):
        for paragraph in document:
            sentences.extend(split_sentences(paragraph))
        documents.append(len(sentences))
    rows: list[list[int]] = []
    for first in range(0, len(sentences), 1000):
        rows += plain_ids(tokenizer, sentences[first : first + 1000])
    return _text(path.name.split(".")[0], rows, documents)


def _text(name: str, rows: Sequence[Sequence[int]], documents: Sequence[int]) -> EncodedText:
    """Join encoded sentences to a text."""
    ids = np.fromiter(itertools.chain.from_iterable(rows), np.uint16)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return EncodedText(name, ids, starts, np.asarray(documents, np.int64))


def plain_ids(tokenizer: BertTokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Encode texts without the special tokens around them."""
    return tokenizer.encode_ids(texts, add_special_tokens=False)


def running_text(tokenizer: BertTokenizer, path: Path, most: int = 512) -> list[list[int]]:
    """Pack an evaluation text into blocks of one length, 128 tokens or `most`."""
    length = min(128, most)
    documents = (
        [index for row in plain_ids(tokenizer, document) for index in row]
        for document in read_documents(path)
    )
    blocks = pack_blocks(documents, length, RowTokens.from_vocab(tokenizer.vocab))
    return [block for block in blocks if len(block) == length] or blocks[:1]


def _window_hashes(paths: Sequence[Path], tokenizer: BertTokenizer) -> NDArray[np.uint64]:
    """Return the sorted hashes of every run of SHARED_RUN tokens in these files."""
    found = [_rolling(encode_text(path, tokenizer).ids) for path in paths]
    return np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint64)


def _rolling(ids: Ids) -> NDArray[np.uint64]:
    """Hash every run of SHARED_RUN ids; (N - SHARED_RUN + 1,)."""
    count = len(ids) - SHARED_RUN + 1
    if count < 1:
        return np.zeros(0, np.uint64)
    wide = ids.astype(np.uint64)
    hashes = np.zeros(count, np.uint64)
    for offset in range(SHARED_RUN):  # polynomial modulo 2^64, an odd factor (64-bit FNV's prime)
        hashes = hashes * np.uint64(1099511628211) + wide[offset : offset + count] + np.uint64(1)
    return hashes


def _without(text: EncodedText, forbidden: NDArray[np.uint64]) -> EncodedText:
    """Drop the sentences that share a run of tokens with held-out text."""
    hits = np.flatnonzero(np.isin(_rolling(text.ids), forbidden))
    if not len(hits):
        return text
    bad = np.zeros(len(text.sentences) - 1, dtype=bool)
    first = np.searchsorted(text.sentences, hits, side="right") - 1
    last = np.searchsorted(text.sentences, hits + SHARED_RUN - 1, side="right") - 1
    for start, end in zip(first, last, strict=True):
        bad[start : end + 1] = True
    return without_sentences(text, bad)


def without_sentences(text: EncodedText, bad: NDArray[np.bool_]) -> EncodedText:
    """Drop the sentences marked in `bad` (S,); documents may become empty."""
    lengths = np.diff(text.sentences)
    kept_tokens = np.repeat(~bad, lengths)
    starts = np.concatenate([[0], np.cumsum(lengths[~bad])])
    kept_before = np.concatenate([[0], np.cumsum(~bad)])
    return EncodedText(
        text.name, text.ids[kept_tokens], starts.astype(np.int64), kept_before[text.documents]
    )
