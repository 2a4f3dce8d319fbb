"""Thousands of damaged files, read in a process of its own whose memory is bounded.

    python -m tests.bert_core.checkpoints.fuzz SEED COUNT FOLDER

FOLDER holds a folder for each kind (`KINDS`) with a sound checkpoint, one file of which is damaged
COUNT times. The last line printed is JSON: how many were refused, how many were read, and
everything that was neither: an exception that is not this package's, such as one about memory.
What happens is a function of the kind and SEED.
"""

import copy
import io
import json
import random
import resource
import sys
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bert_core import BertModel, BertTokenizer
from bert_core.errors import BertError

ROOM = 256 * 2**20  # bytes beyond what Python and PyTorch have taken
NASTY: list[Any] = [
    *(0, -1, 1, 2, 7, 2**31, 2**32 - 1, 2**53, 2**62, 2**63, 2**64, 10**9, 10**40),
    *(None, True, False, 0.5, -0.0, 1e308, float("inf"), float("nan")),
    *("", "a", "F32", "I64", "\0", "\ud800", "9" * 400),
    *([], {}, [0], [[]], [0, 24], {"a": 1}, {"0": "a"}, ["x" * 5000], [1] * 3000),
    json.loads("[" * 30 + "]" * 30),
    json.loads('{"a":' * 200 + "1" + "}" * 200),
]


def damaged_bytes(chance: random.Random, raw: bytes, reach: int = 10**9) -> bytes:
    """Flip, overwrite, delete, insert or repeat bytes, most of them among the first `reach`."""
    found = bytearray(raw)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 9))):
        if not found:
            break
        place = chance.randrange(min(len(found), reach if chance.random() < 0.9 else len(found)))
        size, kind = chance.choice((1, 1, 2, 4, 8, 100)), chance.randrange(6)
        if kind <= 1:
            found[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            number = chance.choice((0, 1, 0x7F, 0xFF, 2**31 - 1, 2**32 - 1, 2**40, 2**64 - 1))
            found[place : place + size] = number.to_bytes(100, "little")[:size]
        elif kind == 3:
            del found[place : place + size]
        elif kind == 4:
            found[place:place] = chance.randbytes(size)
        else:
            other = chance.randrange(len(found))
            found[place : place + size] = found[other : other + size]
    return bytes(found) if chance.random() < 0.9 else bytes(found[: chance.randrange(len(raw))])


def damaged_values(chance: random.Random, values: Any) -> Any:
    """Replace, delete, exchange or rename what JSON says, somewhere inside."""
    values = copy.deepcopy(values)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = [(values, key) for key in _keys(values)]
        for holder, key in places:
            places += [(holder[key], below) for below in _keys(holder[key])]
        if not places:
            break
        holder, key = chance.choice(places)
        kind = chance.randrange(6)
        if kind <= 2:
            holder[key] = copy.deepcopy(chance.choice(NASTY))
        elif kind == 3:
            del holder[key]
        elif kind == 4 or not isinstance(holder, dict):
            other, place = chance.choice(places)
            if place in _keys(other):
                holder[key] = copy.deepcopy(other[place])
        else:
            holder[str(chance.choice(NASTY))[:60]] = copy.deepcopy(holder[key])
    return values


def _keys(values: Any) -> list[Any]:
    if isinstance(values, dict):
        return list(values)
    return list(range(len(values))) if isinstance(values, list) else []


def safetensors(chance: random.Random, raw: bytes) -> bytes:
    """Damage a safetensors file: its bytes, or what its header says."""
    size = int.from_bytes(raw[:8], "little")
    if chance.random() < 0.4:
        return damaged_bytes(chance, raw, 8 + size)
    header = json.dumps(damaged_values(chance, json.loads(raw[8 : 8 + size]))).encode()
    return len(header).to_bytes(8, "little") + header + raw[8 + size :]


def config(chance: random.Random, raw: bytes) -> bytes:
    """Damage a configuration: its bytes, or what it says."""
    if chance.random() < 0.3:
        return damaged_bytes(chance, raw)
    return json.dumps(damaged_values(chance, json.loads(raw))).encode()


def pickled(chance: random.Random, raw: bytes) -> bytes:
    """Damage a pickle, or the container around it, or the pickle in a sound container."""
    if not raw.startswith(b"PK") or chance.random() < 0.3:
        return damaged_bytes(chance, raw, 6_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as source, zipfile.ZipFile(packed, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith("/data.pkl") or chance.random() < 0.01:
                content = damaged_bytes(chance, content)
            target.writestr(entry, content)
    return packed.getvalue()


KINDS: dict[str, tuple[str, Callable[[random.Random, bytes], bytes], Callable[[Path], object]]] = {
    "safetensors": ("model.safetensors", safetensors, BertModel.from_pretrained),
    "index": ("model.safetensors.index.json", config, BertModel.from_pretrained),
    "zip": ("pytorch_model.bin", pickled, BertModel.from_pretrained),
    "stream": ("pytorch_model.bin", pickled, BertModel.from_pretrained),
    "config": ("config.json", config, BertModel.from_pretrained),
    "tokenizer": ("tokenizer_config.json", config, BertTokenizer.from_pretrained),
    "vocabulary": ("vocab.txt", damaged_bytes, BertTokenizer.from_pretrained),
}


def damage_and_read(kind: str, seed: int, count: int, folder: Path) -> dict[str, Any]:
    """Damage the file of one kind many times; return what happened."""
    name, damage, read = KINDS[kind]
    path, chance = folder / name, random.Random(f"{kind} {seed}")
    raw = path.read_bytes()
    found: dict[str, Any] = {"refused": 0, "read": 0, "strange": [], "longest": 0}
    for number in range(count):
        path.write_bytes(damage(chance, raw))
        try:
            read(folder)
            found["read"] += 1
        except BertError as error:
            found["refused"] += 1
            found["longest"] = max(found["longest"], len(str(error)))
        except BaseException as error:  # noqa: BLE001  whatever it is, it is reported
            where = traceback.extract_tb(error.__traceback__)[-1]
            found["strange"].append(
                f"{number}: {type(error).__name__}: {error} in {where.name}, line {where.lineno}"
            )
    return found


def main(seed: int, count: int, folder: Path) -> dict[str, dict[str, Any]]:
    """Do this for every kind, with only some room beyond the memory that is taken already."""
    torch.set_num_threads(1)
    warnings.simplefilter("error")
    for kind, (_, _, read) in KINDS.items():
        read(folder / kind)  # sound, and everything lazy is there
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = taken * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return {kind: damage_and_read(kind, seed, count, folder / kind) for kind in KINDS}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))  # noqa: T201
