"""Readers over models in bfloat16 and float16 find what they find in float32, or as good."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bert_core import (
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForTokenClassification,
    BertTokenizer,
)
from bert_core.reading.entities import read_texts
from bert_core.reading.gaps import fill_together, score_pieces, scorer_of
from bert_core.reading.passage import read_passages
from bert_core.reading.running import Runner
from tests.conftest import save_tiny

PASSAGE = " ".join(["the cat sat on the mat, the dog played on the river bank."] * 6)


def figures(folders: dict[str, Path], tokenizer: BertTokenizer, dtype: torch.dtype) -> list[Any]:
    """Return a margin, probabilities of labels, and log-probabilities of gaps and pieces."""
    reader, tagger, words = (
        cls.from_pretrained(folders[cls.__name__], dtype=dtype)
        for cls in (BertForQuestionAnswering, BertForTokenClassification, BertForMaskedLM)
    )
    [reading] = read_passages(Runner.of(reader, tokenizer), [(PASSAGE, "the dog")])
    [labelled] = read_texts(Runner.of(tagger, tokenizer), [PASSAGE])
    np.testing.assert_allclose(labelled.probabilities.sum(axis=1), 1, atol=1e-9)
    assert isinstance(words, BertForMaskedLM)
    ids = tokenizer.encode("the [MASK] sat on the [MASK].").input_ids
    gaps = [at for at, each in enumerate(ids) if each == tokenizer.mask_token_id]
    filled = fill_together(scorer_of(words), ids, gaps)[0].log_probability
    scored = score_pieces(scorer_of(words), tokenizer, ids, [1, 3, 4])
    return [
        reading.answers().spans.margin,
        labelled.probabilities,
        filled,
        [each.log_probability for each in scored],
    ]


# How far scores, whose spread is about 4, may be off.
@pytest.mark.parametrize(("dtype", "apart"), [(torch.bfloat16, 0.1), (torch.float16, 0.02)])
def test_narrow_types_find_what_float32_finds(
    dtype: torch.dtype, apart: float, reader_folder: Path, tagger_folder: Path, tmp_path: Path
) -> None:
    folders = {
        "BertForQuestionAnswering": reader_folder,
        "BertForTokenClassification": tagger_folder,
        "BertForMaskedLM": save_tiny(tmp_path, BertForMaskedLM),
    }
    tokenizer = BertTokenizer.from_pretrained(reader_folder)
    exact, found = (figures(folders, tokenizer, kind) for kind in (torch.float32, dtype))
    for one, other in zip(exact, found, strict=True):
        np.testing.assert_allclose(one, other, atol=apart)
