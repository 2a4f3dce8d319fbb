"""What a step of the long pretraining sees: facts, short sentences, words hidden everywhere."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from bert_core.text.tokenizer import BertTokenizer
from tests.training.conftest import write_text
from training.corpus import EncodedText, load_corpus, plain_ids
from training.famous import FAMOUS
from training.gaps import GAPS
from training.hiding import WordTables, asked_places, everywhere_places
from training.long_mixture import LongMixture, LongSettings, Made, long_part_loss
from training.mixture import Part
from training.relations import Relations, is_kept_back, kept_back_gaps, read_facts, templates_of
from training.start import start_model
from training.unseen import evaluation_lines, kept_back, without_known, written_lines

SMALL = LongSettings(
    blocks=4, block_length=32, long_every=0, sentences=12, relations=6, pairs=4, part_tokens=64
)


@pytest.fixture
def facts(long_data: Path, tokenizer: BertTokenizer) -> Relations:
    return Relations(long_data, tokenizer, [], evaluation_lines(tokenizer))


def mixture(data: Path, tokenizer: BertTokenizer, settings: LongSettings = SMALL) -> LongMixture:
    texts = load_corpus(data, data / "cache", tokenizer)
    return LongMixture(texts, tokenizer.vocab, Relations(data, tokenizer, texts, set()), settings)


def seen(parts: list[Part]) -> list[object]:
    return [(part.name, part.batch.input_ids.tolist(), part.word_weight) for part in parts]


def test_a_long_step_depends_on_its_number_alone(long_data: Path, tokenizer: BertTokenizer) -> None:
    first, again = mixture(long_data, tokenizer), mixture(long_data, tokenizer)
    before = [seen(first(step, 0.1)) for step in range(6)]
    assert seen(again(5, 0.1)) == before[5]  # straight there, as after a resume
    assert seen(again(2, 0.1)) == before[2]
    assert before[0] != before[1]


def test_every_hidden_word_of_a_step_weighs_the_same(
    long_data: Path, tokenizer: BertTokenizer
) -> None:
    parts = mixture(long_data, tokenizer)(0, 0.0)
    assert {part.name for part in parts} == {"blocks", "sentences", "relations", "pairs"}
    hidden = [part for part in parts if part.batch.position_labels is not None]
    counts = [int((part.batch.position_labels >= 0).sum()) for part in hidden]  # type: ignore[operator]
    weights = [part.word_weight for part in hidden]
    assert sum(weights) == pytest.approx(1.0)
    ratios = [weight / count for weight, count in zip(weights, counts, strict=True) if count]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))
    for name in ("blocks", "sentences"):
        assert sum(part.share for part in parts if part.name == name) == pytest.approx(1.0)


def test_sentences_have_the_place_and_label_of_what_is_hidden(
    long_data: Path, tokenizer: BertTokenizer
) -> None:
    settings = replace(SMALL, asked=1.0, blocks=0, pairs=0, relations=0, without_stop=0.0)
    texts = load_corpus(long_data, long_data / "cache", tokenizer)
    known = {tuple(text.sentence(n)) for text in texts for n in range(len(text.sentences) - 1)}
    for part in mixture(long_data, tokenizer, settings)(1, 0.0):
        batch = part.batch
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
            assert tokenizer.mask_token_id not in ids
            assert tuple(ids[1 : ids.index(tokenizer.sep_token_id)]) in known


def test_a_visitors_word_is_one_that_stands_nowhere_else() -> None:
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    vocab |= {word: 5 + n for n, word in enumerate(["the", "dog", "bit", "##es", "man", "."])}
    tables = WordTables.from_vocab(vocab)
    row = [vocab[word] for word in ["[CLS]", "the", "dog", "bit", "##es", "the", "dog", "[SEP]"]]
    for seed in range(20):
        assert asked_places(row, tables, np.random.default_rng(seed), any_word=0.0) == [3, 4]
    others = {
        tuple(asked_places(row, tables, np.random.default_rng(seed), any_word=1.0))
        for seed in range(40)
    }
    assert others == {(1,), (2,), (3, 4), (5,), (6,)}


def test_a_word_with_meaning_is_hidden_wherever_it_stands() -> None:
    vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    vocab |= {word: 5 + n for n, word in enumerate(["the", "dog", "bit", "##es", "man", "."])}
    tables = WordTables.from_vocab(vocab)
    words = ["[CLS]", "the", "dog", "bit", "##es", "the", "dog", ".", "the", "dog", "[SEP]"]
    row = [vocab[word] for word in words]
    dogs = {2, 6, 9}
    found = [
        set(everywhere_places(row, tables, np.random.default_rng(seed), rate=0.4))
        for seed in range(40)
    ]
    assert all(places & dogs in (set(), dogs) for places in found)
    assert any(dogs <= places for places in found)
    assert any(len(places & {1, 5, 8}) == 1 for places in found)  # small words one by one
    assert all({3, 4} <= places or not places & {3, 4} for places in found)  # whole words


def test_no_template_names_a_subject_that_is_kept_back(long_data: Path, facts: Relations) -> None:
    kept = {(fact.relation, fact.subject) for fact in read_facts(long_data) if is_kept_back(fact)}
    assert kept == {
        ("capital_of", "Libya"),
        ("opposite_of", "clean"),
        ("opposite_of", "dirty"),
    }
    said = [fact for each in facts.facts.values() for fact in each]
    ends = {end for fact in said for end in (fact.subject, fact.object)}
    assert {"France", "hot"} <= ends and not {"Libya", "clean", "dirty"} & ends
    source = np.random.default_rng(0)
    for _ in range(300):
        ids, hidden = facts.draw(source)
        assert hidden and max(hidden) < len(ids)
        assert list(pairwise(hidden)) == [(place, place + 1) for place in hidden[:-1]]
    asked = kept_back_gaps(long_data)
    assert ("The capital of Libya is [MASK].", frozenset({"tripoli"})) in asked["capital_of"]
    assert ("The capital city of Libya is called [MASK].", frozenset({"tripoli"})) in asked[
        "capital_of"
    ]


def test_the_last_way_of_saying_a_fact_is_for_measuring(
    long_data: Path, tokenizer: BertTokenizer, facts: Relations
) -> None:
    last = [templates_of(fact)[-1].split("{")[0] for fact in read_facts(long_data)]
    starts = [ids for ids in plain_ids(tokenizer, [start for start in last if start]) if ids]
    source = np.random.default_rng(1)
    made = [facts.draw(source)[0] for _ in range(300)]
    assert starts
    assert not [ids for ids in made for start in starts if ids[: len(start)] == start]


def test_men_and_women_work_equally_often(facts: Relations, tokenizer: BertTokenizer) -> None:
    facts.weights = np.array([float(name == "occupation") for name in facts.names])
    source = np.random.default_rng(2)
    made = [facts.draw(source)[0] for _ in range(1_500)]
    pairs = [plain_ids(tokenizer, list(pair)) for pair in (("his", "her"), ("he", "she"))]
    for his, hers in pairs:
        counts = [
            sum(any(ids[n : n + len(word)] == word for n in range(len(ids))) for ids in made)
            for word in (his, hers)
        ]
        assert min(counts) > 20
        assert counts[0] == pytest.approx(counts[1], rel=0.5)


def test_what_is_measured_on_is_left_out(long_data: Path, tokenizer: BertTokenizer) -> None:
    line = FAMOUS[0].sentence.replace("[MASK]", "Paris")
    gap = GAPS[0].sentence.replace("[MASK]", sorted(GAPS[0].good)[0])
    write_text(long_data / "text" / "masc-written.txt", [[line, gap, "The cat is here."]])
    texts = load_corpus(long_data, long_data / "cache", tokenizer)
    kept = kept_back(texts)
    every = {sentence for some in kept.values() for sentence in some}
    assert set(kept) == {"tatoeba-sentences", "wordnet-examples"}
    assert kept == kept_back(texts) and len(every) > 4
    left = without_known(texts, every, evaluation_lines(tokenizer))
    for text in left:
        for number in range(len(text.sentences) - 1):
            sentence = tuple(text.sentence(number))
            for other in every:
                apart = sum(a != b for a, b in zip(sentence, other, strict=False))
                assert len(sentence) != len(other) or apart > 1
    [masc] = [text for text in left if text.name == "masc-written"]
    assert [masc.sentence(n) for n in range(len(masc.sentences) - 1)] == plain_ids(
        tokenizer, ["The cat is here."]
    )


class Twos:
    """States that two is two, the third word hidden."""

    def __init__(self, tokenizer: BertTokenizer) -> None:
        [self.ids] = plain_ids(tokenizer, ["the moon the moon ."])

    def draw(self, source: np.random.Generator) -> tuple[list[int], list[int]]:
        return self.ids, [3]


def test_what_is_made_from_frames_comes_beside_facts_and_among_the_pairs(
    long_data: Path, tokenizer: BertTokenizer
) -> None:
    settings = replace(SMALL, relations=3, made_facts=5, pairs=40, made_pairs=0.5)
    texts = load_corpus(long_data, long_data / "cache", tokenizer)
    relations = Relations(long_data, tokenizer, texts, set())
    first, second = plain_ids(tokenizer, ["the moon hears the moon", "a red dog"])
    made = Made(Twos(tokenizer), [(first, second, 0), (second, first, 1)])
    built = LongMixture(texts, tokenizer.vocab, relations, settings, made)
    plain = LongMixture(texts, tokenizer.vocab, relations, replace(settings, made_facts=0))
    facts, pairs, of_frames = 0, 0, 0
    for step in range(8):
        parts = built(step, 0.0)
        blocks = [part.batch.input_ids.tolist() for part in parts if part.name == "blocks"]
        others = [part for part in plain(step, 0.0) if part.name == "blocks"]
        assert blocks == [part.batch.input_ids.tolist() for part in others]  # no pair is in them
        [rows] = [part.batch.input_ids for part in parts if part.name == "relations"]
        assert len(rows) == 8
        facts += sum(row[1:6].tolist() == [*made.everyday.ids[:3], 4, *made.everyday.ids[4:]]  # type: ignore[attr-defined]
                     for row in rows)  # fmt: skip
        if step % settings.masked_pairs_every == 0:
            continue  # words are hidden
        batches = [part.batch for part in parts if part.name == "pairs"]
        labels = [n for each in batches for n in each.next_sentence_label.tolist()]  # type: ignore[union-attr]
        ids = [row for each in batches for row in each.input_ids.tolist()]
        for row, label in zip(ids, labels, strict=True):
            pairs += 1
            for one, other, wanted in made.pairs:
                if row[1 : len(one) + len(other) + 2] == [*one, tokenizer.sep_token_id, *other]:
                    of_frames += 1
                    assert label == wanted
    assert facts == 8 * 5
    assert 0.35 < of_frames / pairs < 0.65


def test_sentences_near_an_evaluation_of_our_own_are_left_out(
    long_data: Path, tokenizer: BertTokenizer
) -> None:
    written = written_lines(tokenizer)
    assert len(written) > 300
    near = list(written[40])
    near[1] = tokenizer.vocab["."]
    text = EncodedText(
        "other",
        np.array([*near, *near, 7, 7], dtype=np.uint16),
        np.array([0, len(near), 2 * len(near) + 2]),
        np.array([0, 1, 2]),
    )
    [left] = without_known([text], written, set(written))
    assert left.ids.tolist() == [*near, 7, 7]


def test_pairs_in_several_parts_count_as_in_one(
    long_data: Path, tokenizer: BertTokenizer, encoder: Path
) -> None:
    torch.manual_seed(0)
    model = start_model(encoder).eval()
    settings = replace(SMALL, pairs=11, blocks=0, sentences=0, relations=0)
    found = []
    for tokens in (40, 4_000):
        parts = mixture(long_data, tokenizer, replace(settings, part_tokens=tokens))(0, 0.0)
        with torch.no_grad():
            losses = [long_part_loss(model, part) for part in parts]
        assert sum(part.pair_share for part in parts) == pytest.approx(1.0)
        logged = [sum(float(loss.parts[name]) for loss in losses)
                  for name in ("next_sentence", "masked_lm_pairs")]  # fmt: skip
        found.append((len(parts), float(sum(loss.total for loss in losses)), *logged))
    assert found[0][0] > 1 == found[1][0]
    assert found[0][1:] == pytest.approx(found[1][1:], rel=1e-5)
