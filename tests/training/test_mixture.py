"""What a step sees: seeded, resumable, with all its parts."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from bert_core.errors import InputError
from bert_core.text.tokenizer import BertTokenizer
from training.corpus import EVERYDAY, EncodedText, load_corpus
from training.mixture import Mixture, MixtureSettings, Part
from training.rows import is_held_out, json_rows

SMALL = MixtureSettings(
    blocks=4, block_length=16, long_every=3, sentences=3, pairs=2, splits=2, masked_pairs_every=4
)


@pytest.fixture
def texts(data: Path, tmp_path: Path, tokenizer: BertTokenizer) -> list[EncodedText]:
    return load_corpus(data, tmp_path / "work", tokenizer)


@pytest.fixture
def mixture(texts: list[EncodedText], tokenizer: BertTokenizer) -> Mixture:
    return Mixture(texts, tokenizer.vocab, SMALL)


def ids_of(parts: list[Part]) -> list[list[list[int]]]:
    return [part.batch.input_ids.tolist() for part in parts]


def test_a_step_depends_on_its_number_alone(
    mixture: Mixture, texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    seen = [ids_of(mixture(step, 0.1)) for step in range(5)]
    again = Mixture(texts, tokenizer.vocab, SMALL)
    assert ids_of(again(3, 0.1)) == seen[3]  # straight to step 3, as after a resume
    assert ids_of(again(1, 0.1)) == seen[1]
    assert seen[0] != seen[1]


def test_a_step_has_blocks_sentences_and_pairs(mixture: Mixture) -> None:
    parts = mixture(0, 0.0)
    assert [part.name for part in parts] == ["pairs", "blocks", "blocks", "sentences"]
    blocks = [part for part in parts if part.name == "blocks"]
    assert [tuple(part.batch.input_ids.shape) for part in blocks] == [(2, 16), (2, 16)]
    assert sum(part.word_weight for part in blocks) == pytest.approx(1.0)
    pairs = parts[0].batch
    assert pairs.next_sentence_label is not None
    assert pairs.token_type_ids is not None
    assert int(pairs.token_type_ids.max()) == 1


def test_pairs_are_masked_in_every_fourth_step(mixture: Mixture) -> None:
    masked = [mixture(step, 0.0)[0].batch.positions is not None for step in range(5)]
    assert masked == [True, False, False, False, True]


def test_every_few_steps_blocks_are_joined_into_long_rows(
    mixture: Mixture, tokenizer: BertTokenizer
) -> None:
    (long,) = (part for part in mixture(2, 0.0) if part.name == "blocks")
    assert long.batch.input_ids.shape == (1, 4 * 14 + 2)
    assert int(long.batch.input_ids[0, 0]) == tokenizer.vocab["[CLS]"]


def test_the_masking_rate_falls_at_the_end(mixture: Mixture) -> None:
    def masked(progress: float) -> int:
        labels = [p.batch.position_labels for p in mixture(0, progress) if p.name == "blocks"]
        return sum(int((found != -100).sum()) for found in labels if found is not None)

    assert masked(0.0) == masked(0.7)
    assert masked(1.0) < 0.6 * masked(0.0)


def test_texts_are_seen_as_often_as_their_share_says(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    mixture = Mixture(texts, tokenizer.vocab, SMALL)
    drawn = torch.cat([torch.from_numpy(mixture._block_indices(step)) for step in range(40)])
    names = [texts[int(origin)].name for origin in mixture.block_text[drawn.numpy()]]
    assert names.count("simple-wikipedia") > 2 * names.count("novels-public-domain") > 0


def test_too_little_text_is_refused(tokenizer: BertTokenizer, data: Path, tmp_path: Path) -> None:
    for path in (data / "text").glob("*.txt"):
        path.write_text("A dog.\n")
    texts = load_corpus(data, tmp_path / "other", tokenizer)
    with pytest.raises(InputError, match="a block takes 128"):
        Mixture(texts, tokenizer.vocab, MixtureSettings())


def test_everyday_situations_get_their_share_of_the_single_sentences(
    task_data: Path, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    texts = load_corpus(task_data, tmp_path / "everyday", tokenizer)
    assert texts[-1].name == EVERYDAY
    rows = [row for name in ("codah", "copa")
            for row in json_rows(task_data / "mc" / f"{name}_train.jsonl")
            if not is_held_out(row["id"])]  # fmt: skip
    assert len(texts[-1].sentences) - 1 == len(texts[-1].documents) - 1 == len(rows)
    mixture = Mixture(texts, tokenizer.vocab, replace(SMALL, everyday=0.25))
    named = zip(mixture.texts, mixture.weights, strict=True)
    shares = {text.name: weight for text, weight in named}
    assert shares[EVERYDAY] == pytest.approx(0.25)
    assert sum(shares.values()) == pytest.approx(1.0)


def test_full_stops_are_left_out_as_often_as_asked(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    stop = tokenizer.vocab["."]

    def ending_in_a_stop(share: float) -> int:
        settings = replace(SMALL, sentences=60, without_stop=share)
        part = Mixture(texts, tokenizer.vocab, settings)._sentence_part(0, torch.Generator())
        positions, labels = part.batch.positions, part.batch.position_labels
        assert positions is not None and labels is not None
        whole = part.batch.input_ids.clone()
        for row, places, ids in zip(whole, positions, labels, strict=True):
            row[places[ids >= 0]] = ids[ids >= 0]
        rows = [row[row != tokenizer.pad_token_id].tolist() for row in whole]
        assert len(rows) == 60
        return sum(row[-2] == stop for row in rows)

    assert ending_in_a_stop(0.0) == 60
    assert ending_in_a_stop(1.0) == 0
    assert 15 < ending_in_a_stop(0.5) < 45


def test_pairs_are_masked_every_so_many_steps(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    settings = replace(SMALL, masked_pairs_every=2, word_weight=0.2, pair_word_weight=0.7)
    mixture = Mixture(texts, tokenizer.vocab, settings)
    parts = [mixture(step, 0.0)[0] for step in range(4)]
    assert [part.name for part in parts] == ["pairs"] * 4
    assert [part.batch.positions is not None for part in parts] == [True, False, True, False]
    assert {part.word_weight for part in parts} == {0.7}
