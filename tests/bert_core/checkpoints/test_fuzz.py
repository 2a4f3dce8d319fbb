"""Seeded damage to every file of a checkpoint: our errors or a model, and never much memory."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from bert_core import BertConfig, BertModel, BertTokenizer
from tests.bert_core.checkpoints.fuzz import KINDS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", params=[100, pytest.param(500, marks=pytest.mark.slow)])
def outcome(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Mapping[str, Any]:
    """What a process with little memory made of so many damaged files of each kind."""
    if sys.platform != "linux":
        pytest.skip("bounds on memory need Linux")
    folder = tmp_path_factory.mktemp("fuzz")
    torch.manual_seed(3)
    labels = {0: "O", 1: "B-X", 2: "I-X"}
    config = BertConfig(
        99, 32, 2, 4, 37, max_position_embeddings=19, id2label=labels, pruned_heads={"0": [1]}
    )
    model = BertModel(config).eval()
    for kind in KINDS:
        write_sound(folder / kind, kind, model)
    command = (sys.executable, "-m", "tests.bert_core.checkpoints.fuzz", "1", str(request.param))
    done = subprocess.run(
        [*command, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "count": request.param}


def write_sound(folder: Path, kind: str, model: BertModel) -> None:
    """Write the checkpoint whose file of a kind will be damaged."""
    model.save_pretrained(folder)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(97, 123)), "##é"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(folder / "vocab.txt").save_pretrained(folder)
    state, name = model.state_dict(), KINDS[kind][0]
    if kind == "index":
        (folder / "model.safetensors").unlink()
        places = {each: f"part-{index % 2}.safetensors" for index, each in enumerate(state)}
        for part in set(places.values()):
            save_file({each: state[each] for each in places if places[each] == part}, folder / part)
        (folder / name).write_text(json.dumps({"weight_map": places}), encoding="utf-8")
    if name == "pytorch_model.bin":
        (folder / "model.safetensors").unlink()
        torch.save(state, folder / name, _use_new_zipfile_serialization=kind != "stream")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_end_in_our_errors_or_are_read(outcome: Mapping[str, Any], kind: str) -> None:
    found = outcome[kind]
    assert found["strange"] == []
    assert found["refused"] + found["read"] == outcome["count"]
    assert found["refused"] > outcome["count"] / 4  # the damage is not too mild to mean anything
    assert found["longest"] < 1500  # a message is a few sentences, whatever the file holds
