"""Readers over models in bfloat16 and float16 find what they find in float32, or as good."""

from pathlib import Path

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

NARROW = {torch.bfloat16: 0.1, torch.float16: 0.02}  # of scores, whose spread is about 4
PASSAGE = " ".join(["the cat sat on the mat, the dog played on the river bank."] * 6)


@pytest.mark.parametrize("dtype", NARROW)
def test_answers_to_questions(
    reader_folder: Path, tokenizer: BertTokenizer, dtype: torch.dtype
) -> None:
    exact, found = (
        read_passages(
            Runner.of(
                BertForQuestionAnswering.from_pretrained(reader_folder, dtype=kind), tokenizer
            ),
            [(PASSAGE, "the dog")],
        )[0].answers()
        for kind in (torch.float32, dtype)
    )
    assert found.text in PASSAGE
    best = exact.spans.score[found.spans.best[0], found.spans.best[1] - found.spans.best[0]]
    assert exact.spans.best_score - best < NARROW[dtype]  # another answer only among equals
    assert found.spans.margin == pytest.approx(exact.spans.margin, abs=NARROW[dtype])
    assert found.probability.sum() <= 1 + 1e-9


@pytest.mark.parametrize("dtype", NARROW)
def test_labels_of_words(tagger_folder: Path, tokenizer: BertTokenizer, dtype: torch.dtype) -> None:
    exact, found = (
        read_texts(
            Runner.of(
                BertForTokenClassification.from_pretrained(tagger_folder, dtype=kind), tokenizer
            ),
            [PASSAGE],
        )[0].probabilities
        for kind in (torch.float32, dtype)
    )
    assert np.abs(found - exact).max() < NARROW[dtype]
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("dtype", NARROW)
def test_gaps_and_scores_of_pieces(tmp_path: Path, dtype: torch.dtype) -> None:
    folder = save_tiny(tmp_path, BertForMaskedLM)
    tokenizer = BertTokenizer.from_pretrained(folder)
    ids = tokenizer.encode("the [MASK] sat on the [MASK].").input_ids
    gaps = [place for place, each in enumerate(ids) if each == tokenizer.vocab["[MASK]"]]
    scorers = [
        scorer_of(BertForMaskedLM.from_pretrained(folder, dtype=kind))
        for kind in (torch.float32, dtype)
    ]
    exact, found = (fill_together(scorer, ids, gaps) for scorer in scorers)
    assert found[0].log_probability == pytest.approx(exact[0].log_probability, abs=NARROW[dtype])
    text = tokenizer.encode("the cat sat on the mat.").input_ids
    mine, theirs = (
        [each.log_probability for each in score_pieces(scorer, tokenizer, text, [1, 2, 3])]
        for scorer in scorers
    )
    assert mine == pytest.approx(theirs, abs=NARROW[dtype])
