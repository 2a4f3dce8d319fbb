"""Masking: proportions, whole words, bounds, and that special tokens stay."""

import pytest
import torch

from bert_core.errors import InputError
from bert_core.pretraining import MaskingVocabulary, mask_tokens

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
# Five special tokens, ten unused entries, 60 words, 25 continuations.
KINDS = (("[unused{}]", 10), ("w{}", 60), ("##c{}", 25))
PIECES = [*SPECIAL, *(form.format(i) for form, count in KINDS for i in range(count))]
VOCAB = {token: index for index, token in enumerate(PIECES)}
FIRST_WORD, FIRST_PIECE, SIZE = 15, 75, 100


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(count: int, length: int, seed: int = 1) -> torch.Tensor:
    """Rows of words between [CLS] and [SEP], the second half padded at the end."""
    ids = torch.randint(FIRST_WORD, SIZE, (count, length), generator=seeded(seed))
    ids[:, 0], ids[:, -1] = CLS, SEP
    ids[count // 2 :, -3:] = torch.tensor([SEP, PAD, PAD])
    return ids


def test_fifteen_percent_are_chosen_and_split_eighty_ten_ten() -> None:
    ids = rows(400, 102)
    masked = mask_tokens(ids, VOCAB, generator=seeded())
    chosen = masked.labels != -100
    ordinary = ids >= FIRST_WORD
    assert float(chosen.sum() / ordinary.sum()) == pytest.approx(0.15, abs=0.002)
    now = masked.input_ids[chosen]
    before = ids[chosen]
    assert torch.equal(masked.labels[chosen], before)
    assert torch.equal(masked.input_ids[~chosen], ids[~chosen])
    assert torch.equal(ids, rows(400, 102))
    assert float((now == MASK).float().mean()) == pytest.approx(0.8, abs=0.02)
    # A random replacement is the same token once in 85 times, so "kept" is a little above 10 %.
    assert float((now == before).float().mean()) == pytest.approx(0.1, abs=0.02)
    replaced = (now != MASK) & (now != before)
    assert float(replaced.float().mean()) == pytest.approx(0.1, abs=0.02)


def test_special_tokens_are_never_chosen_and_never_drawn() -> None:
    ids = rows(200, 50)
    ids[:, 10] = UNK
    ids[:, 11] = MASK
    masked = mask_tokens(ids, VOCAB, rate=0.9, generator=seeded())
    special = ids < FIRST_WORD
    assert torch.equal(masked.input_ids[special], ids[special])
    assert (masked.labels[special] == -100).all()
    new = masked.input_ids[(masked.input_ids != ids) & (masked.input_ids != MASK)]
    assert len(new) > 100
    assert (new >= FIRST_WORD).all()  # no special token and no unused entry


def test_positions_say_the_same_as_the_label_tensor() -> None:
    ids = rows(30, 40)
    masked = mask_tokens(ids, VOCAB, rate=0.3, generator=seeded())
    rebuilt = torch.full_like(ids, -100)
    for row in range(len(ids)):
        kept = masked.weights[row] == 1
        positions = masked.positions[row][kept]
        assert positions.tolist() == sorted(positions.tolist())
        rebuilt[row, positions] = masked.position_labels[row][kept]
        assert (masked.position_labels[row][~kept] == -100).all()
    assert torch.equal(rebuilt, masked.labels)
    assert set(masked.weights.unique().tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("whole_words", [False, True])
def test_at_least_one_token_is_chosen_and_a_row_of_special_tokens_stays(whole_words: bool) -> None:
    ids = torch.tensor([[CLS, SEP, PAD], [CLS, FIRST_WORD, SEP], [CLS, FIRST_WORD, FIRST_WORD + 1]])
    masked = mask_tokens(ids, VOCAB, rate=0.01, whole_words=whole_words, generator=seeded())
    assert masked.input_ids[0].tolist() == [CLS, SEP, PAD]
    assert masked.weights.tolist() == [[0.0], [1.0], [1.0]]


@pytest.mark.parametrize("whole_words", [False, True])
def test_max_predictions_is_a_hard_bound(whole_words: bool) -> None:
    limits = {"rate": 0.5, "max_predictions": 7, "whole_words": whole_words}
    masked = mask_tokens(rows(50, 60), VOCAB, generator=seeded(), **limits)  # type: ignore[arg-type]
    counts = (masked.labels != -100).sum(1)
    assert int(counts.max()) == 7
    assert int(counts.min()) >= 1
    assert masked.positions.shape == (50, 7)


def test_whole_words_are_chosen_with_all_their_pieces_or_not_at_all() -> None:
    ids = rows(100, 60)
    ids[:, 1] = FIRST_WORD  # a row does not begin inside a word
    masked = mask_tokens(ids, VOCAB, rate=0.2, whole_words=True, generator=seeded())
    chosen = masked.labels != -100
    continues = ids >= FIRST_PIECE
    assert bool(continues.any())
    inside = continues[:, 1:]
    assert torch.equal(chosen[:, 1:][inside], chosen[:, :-1][inside])
    share = float(chosen.sum() / (ids >= FIRST_WORD).sum())
    assert share == pytest.approx(0.2, abs=0.01)


def test_the_same_generator_state_gives_the_same_corruption() -> None:
    ids = rows(10, 30)
    first, second = (mask_tokens(ids, VOCAB, generator=seeded(5)) for _ in range(2))
    other = mask_tokens(ids, VOCAB, generator=seeded(6))
    assert torch.equal(first.input_ids, second.input_ids)
    assert torch.equal(first.labels, second.labels)
    assert not torch.equal(first.labels, other.labels)


@pytest.mark.parametrize(
    ("ids", "options", "says"),
    [
        (torch.zeros(3, dtype=torch.long), {}, r"\(3,\)"),
        (torch.zeros(2, 3), {}, "float32"),
        (torch.zeros(0, 3, dtype=torch.long), {}, r"\(0, 3\)"),
        (torch.tensor([[SIZE]]), {}, "0 to 99"),
        (torch.tensor([[-1]]), {}, "from -1"),
        (torch.tensor([[20]]), {"rate": 0.0}, "0.0"),
        (torch.tensor([[20]]), {"rate": 1.5}, "1.5"),
        (torch.tensor([[20]]), {"max_predictions": 0}, "is 0"),
    ],
)
def test_what_cannot_be_masked_is_refused_with_numbers(
    ids: torch.Tensor, options: dict[str, float], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        mask_tokens(ids, VOCAB, **options)  # type: ignore[arg-type]


def test_a_vocabulary_without_mask_or_words_is_refused() -> None:
    with pytest.raises(InputError, match=r"no \[MASK\]"):
        MaskingVocabulary.from_vocab({"[PAD]": 0, "a": 1})
    with pytest.raises(InputError, match="only special tokens"):
        MaskingVocabulary.from_vocab({"[PAD]": 0, "[MASK]": 1})
