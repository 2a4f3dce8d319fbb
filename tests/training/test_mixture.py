"""What a step of the pretraining sees: blocks, pairs, short sentences; seeded, resumable."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bert_core.errors import InputError
from bert_core.text.tokenizer import BertTokenizer
from tests.training.conftest import SMALL
from training.blocks import TextSettings
from training.corpus import EVERYDAY, EncodedText, load_corpus
from training.hiding import WordTables, asked_places, everywhere_places
from training.mixture import Part, TextMixture
from training.rows import is_held_out, json_rows


@pytest.fixture
def texts(data: Path, tokenizer: BertTokenizer) -> list[EncodedText]:
    return load_corpus(data, data / "cache", tokenizer)


def seen(parts: list[Part]) -> list[object]:
    return [(part.name, part.batch.input_ids.tolist(), part.word_weight) for part in parts]


def test_a_step_depends_on_its_number_alone(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    first, again = (TextMixture(texts, tokenizer.vocab, SMALL) for _ in range(2))
    before = [seen(first(step, 0.1)) for step in range(6)]
    assert seen(again(5, 0.1)) == before[5]  # straight there, as after a resume
    assert seen(again(2, 0.1)) == before[2]
    assert before[0] != before[1]


def test_every_hidden_word_of_a_step_weighs_the_same(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    parts = TextMixture(texts, tokenizer.vocab, SMALL)(0, 0.0)
    assert {part.name for part in parts} == {"blocks", "sentences", "pairs"}
    hidden = [part for part in parts if part.hidden]
    assert sum(part.word_weight for part in hidden) == pytest.approx(1.0)
    ratios = [part.word_weight / part.hidden for part in hidden]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))
    for name in ("blocks", "sentences"):
        assert sum(part.share for part in parts if part.name == name) == pytest.approx(1.0)
    assert sum(part.pair_weight for part in parts) == pytest.approx(SMALL.pair_weight)


def test_sentences_have_the_place_and_label_of_what_is_hidden(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    settings = replace(SMALL, asked=1.0, pairs=0, without_stop=0.0)
    known = {tuple(text.sentence(n)) for text in texts for n in range(len(text.sentences) - 1)}
    for part in TextMixture(texts, tokenizer.vocab, settings)(1, 0.0):
        batch = part.batch
        if part.name != "sentences":
            continue
        assert batch.positions is not None and batch.position_labels is not None
        for ids, places, labels in zip(
            batch.input_ids.tolist(),
            batch.positions.tolist(),
            batch.position_labels.tolist(),
            strict=True,
        ):
            for place, label in zip(places, labels, strict=True):
                if label >= 0:
                    assert ids[place] == tokenizer.mask_token_id
                    ids[place] = label
            assert tuple(ids[1 : ids.index(tokenizer.sep_token_id)]) in known


def test_pairs_are_masked_every_so_many_steps_and_have_two_segments(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    mixture = TextMixture(texts, tokenizer.vocab, replace(SMALL, part_tokens=4_000))
    for step in range(4):
        [pairs] = [part for part in mixture(step, 0.0) if part.name == "pairs"]
        assert (pairs.batch.positions is not None) == (step % 2 == 0)
        assert pairs.pairs == 4 and int(pairs.batch.token_type_ids.max()) == 1  # type: ignore[union-attr]


def test_the_masking_rate_falls_at_the_end(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    mixture = TextMixture(texts, tokenizer.vocab, replace(SMALL, blocks=20, rate=0.4))
    masked = [
        sum(part.hidden for part in mixture(0, progress) if part.name == "blocks")
        for progress in (0.0, 0.7, 1.0)
    ]
    assert masked[0] == masked[1] > masked[2] / 0.6


def test_texts_are_seen_as_often_as_their_share_says(
    texts: list[EncodedText], tokenizer: BertTokenizer
) -> None:
    blocks = TextMixture(texts, tokenizer.vocab, replace(SMALL, long_every=3)).blocks
    shapes = [tuple(blocks(step).shape) for step in range(3)]
    assert shapes == [(4, 32), (4, 32), (1, 4 * 30 + 2)]  # four joined to one long row
    names = [texts[int(blocks.text[block])].name for block in blocks._order(0)]
    assert names.count("simple-wikipedia") > 4 * names.count("novels-public-domain") > 0
    assert "tatoeba-sentences" not in names  # isolated sentences form no blocks


def test_too_little_text_is_refused(tokenizer: BertTokenizer, data: Path, tmp_path: Path) -> None:
    for path in (data / "text").glob("*.txt"):
        path.write_text("A dog.\n")
    with pytest.raises(InputError, match="a block takes 128"):
        TextMixture(load_corpus(data, tmp_path, tokenizer), tokenizer.vocab, TextSettings())


def test_everyday_situations_are_a_text_of_single_sentences(
    task_data: Path, tokenizer: BertTokenizer, tmp_path: Path
) -> None:
    text = load_corpus(task_data, tmp_path / "everyday", tokenizer)[-1]
    rows = [row for name in ("codah", "copa")
            for row in json_rows(task_data / "mc" / f"{name}_train.jsonl")
            if not is_held_out(row["id"])]  # fmt: skip
    assert text.name == EVERYDAY
    assert len(text.sentences) - 1 == len(text.documents) - 1 == len(rows)


def tables(words: list[str]) -> tuple[list[int], WordTables]:
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    vocab |= {word: 5 + n for n, word in enumerate(["the", "dog", "bit", "##es", "man", "."])}
    return [vocab[word] for word in words], WordTables.from_vocab(vocab)


def test_a_visitors_word_is_one_that_stands_nowhere_else() -> None:
    row, of = tables(["[CLS]", "the", "dog", "bit", "##es", "the", "dog", "[SEP]"])
    for seed in range(20):
        assert asked_places(row, of, np.random.default_rng(seed), any_word=0.0) == [3, 4]
    others = {
        tuple(asked_places(row, of, np.random.default_rng(seed), any_word=1.0))
        for seed in range(40)
    }
    assert others == {(1,), (2,), (3, 4), (5,), (6,)}


def test_a_word_with_meaning_is_hidden_wherever_it_stands() -> None:
    words = ["[CLS]", "the", "dog", "bit", "##es", "the", "dog", ".", "the", "dog", "[SEP]"]
    row, of = tables(words)
    found = [
        set(everywhere_places(row, of, np.random.default_rng(seed), rate=0.4)) for seed in range(40)
    ]
    dogs = {2, 6, 9}
    assert all(places & dogs in (set(), dogs) for places in found)
    assert any(dogs <= places for places in found)
    assert any(len(places & {1, 5, 8}) == 1 for places in found)  # small words one by one
    assert all({3, 4} <= places or not places & {3, 4} for places in found)  # whole words
