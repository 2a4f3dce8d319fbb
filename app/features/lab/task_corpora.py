"""The three corpora of the lab: the generated grammar, facts, the visitor's own text."""

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from app.features.lab.result_corpus import MASK, Corpus, Phenomenon, Probe
from app.features.lab.result_settings import FACTS, GRAMMAR, OWN, LabSettings
from app.features.lab.task_grammar import documents, phenomena
from bert_core.errors import InputError, count
from bert_core.pretraining import split_sentences
from bert_core.text.tokenizer import BasicTokenizer

SHORTEST_TEXT = 20  # sentences of the visitor's own text
_MOST_SENTENCES = 20_000
_SENTENCES_TOGETHER = 4
_MEASURED = 40  # held-out sentences of each phenomenon for the loss
_WATCHED_WORDS = 40
_FREQUENT = 20  # words of the visitor's text that count as frequent

_GRAMMAR_WORDS = (
    *("dog", "dogs", "cat", "cats", "farmer", "farmers", "child", "children", "is", "are"),
    *("mary", "anna", "lucy", "john", "peter", "david", "she", "he", "eats", "drinks", "reads"),
    *("bread", "milk", "letter", "france", "italy", "paris", "rome", "hungry", "happy", "tired"),
    *("today", "now", "often", "near", "behind", "garden", "park"),
)


def corpus_of(settings: LabSettings, text: str = "") -> Corpus:
    """Return the corpus that the settings name, cut and shuffled as they say.

    Args:
        settings: of the run.
        text: the visitor's text, for the corpus "own".

    Raises:
        InputError: the visitor's text has too few sentences.
    """
    whole = own_text(text) if settings.corpus == OWN else _generated(settings.corpus)
    kept = whole.documents[: max(1, settings.sentences // _SENTENCES_TOGETHER)]
    if settings.shuffled:
        source = random.Random(0)
        kept = tuple(tuple(_shuffled(each, source) for each in document) for document in kept)
    return replace(whole, documents=kept)


@cache
def _generated(name: str) -> Corpus:
    return {GRAMMAR: grammar, FACTS: facts}[name]()


def grammar() -> Corpus:
    """Generate the corpus of named phenomena."""
    found = phenomena()
    texts = documents(_MOST_SENTENCES, found)
    learnable = [each for each in found if each.ceiling != each.floor]
    return Corpus(
        name=GRAMMAR,
        documents=texts,
        held_out=_held_out(found),
        phenomena=found,
        watched=tuple(each.probes[0] for each in learnable),
        words=_GRAMMAR_WORDS,
        vocabulary=2_000,
    )


def facts() -> Corpus:
    """Write sentences about countries; of every fact, one wording is held out."""
    read = tomllib.loads(Path(__file__).with_name("facts.toml").read_text(encoding="utf-8"))
    names = ("country", "capital", "continent", "language", "people")
    countries = [dict(zip(names, row.split(", "), strict=True)) for row in read["countries"]]
    source = random.Random(0)
    probes: dict[str, list[Probe]] = {relation: [] for relation in read["sentences"]}
    texts = []
    for country in countries:
        text: list[str] = []
        for relation, patterns in read["sentences"].items():
            held = source.randrange(len(patterns))
            text += [p.format(**country) for n, p in enumerate(patterns) if n != held]
            masked = patterns[held].format(**{**country, relation: MASK})
            probes[relation].append(Probe(masked, country[relation]))
        source.shuffle(text)
        texts += _in_documents(text)
    source.shuffle(texts)
    found = tuple(_measured(relation, each) for relation, each in probes.items())
    return Corpus(
        name=FACTS,
        documents=tuple(texts),
        held_out=_held_out(found),
        phenomena=found,
        watched=tuple(found[n % len(found)].probes[15 + n // len(found)] for n in range(5)),
        words=tuple(
            dict.fromkeys(
                country[each]
                for country in countries[:_WATCHED_WORDS:4]
                for each in ("country", "language", "people", "continent")
            )
        ),
        vocabulary=2_000,
    )


def own_text(text: str) -> Corpus:
    """Prepare a visitor's text; every tenth sentence is held out.

    Raises:
        InputError: it has too few sentences.
    """
    split = BasicTokenizer(do_lower_case=True).tokenize
    paragraphs = [split_sentences(each) for each in text.splitlines() if each.strip()]
    sentences = [each for paragraph in paragraphs for each in paragraph if len(split(each)) > 2]
    if len(sentences) < SHORTEST_TEXT:
        raise InputError(
            f"The text has {count(len(sentences), 'sentence')} of three words or more; expected "
            f"at least {SHORTEST_TEXT}, better several thousand. Paste a longer text."
        )
    kept = [each for number, each in enumerate(sentences) if number % 10 != 9]
    held = [each for number, each in enumerate(sentences) if number % 10 == 9]
    counts = Counter(word for each in kept for word in split(each) if word.isalpha())
    order = [word for word, _ in counts.most_common()]
    frequent = frozenset(order[:_FREQUENT])
    found = (
        _own("frequent words", held, split, lambda word: word in frequent),
        _own("other words", held, split, lambda word: counts[word] > 2 and word not in frequent),
    )
    return Corpus(
        name=OWN,
        documents=tuple(_in_documents(kept)),
        held_out=tuple(held),
        phenomena=tuple(each for each in found if each.probes),
        watched=tuple(probe for each in found for probe in each.probes[:3])[:5],
        words=tuple(order[:_WATCHED_WORDS]),
        vocabulary=2_000,
    )


def _own(
    name: str,
    sentences: Sequence[str],
    split: Callable[[str], list[str]],
    wanted: Callable[[str], bool],
) -> Phenomenon:
    """Hide one wanted word in each sentence that has one."""
    source, probes = random.Random(0), []
    for sentence in sentences:
        words = split(sentence)
        places = [place for place, word in enumerate(words) if wanted(word)]
        if places and MASK.lower() not in sentence.lower():
            place = source.choice(places)
            masked = " ".join([*words[:place], MASK, *words[place + 1 :]])
            probes.append(Probe(masked, words[place]))
    return _measured(name, probes)


def _measured(name: str, probes: Sequence[Probe]) -> Phenomenon:
    """Return a phenomenon whose floor is counted in its probes; its ceiling is unknown."""
    answers = Counter(probe.answer for probe in probes)
    return Phenomenon(name, tuple(probes), max(answers.values(), default=0) / max(1, len(probes)))


def _held_out(found: Sequence[Phenomenon]) -> tuple[str, ...]:
    return tuple(probe.sentence for each in found for probe in each.probes[:_MEASURED])


def _in_documents(sentences: Sequence[str]) -> list[tuple[str, ...]]:
    """Cut a text into short ones of four sentences."""
    size = _SENTENCES_TOGETHER
    return [tuple(sentences[at : at + size]) for at in range(0, len(sentences), size)]


@lru_cache(maxsize=1)
def _splitter() -> BasicTokenizer:
    return BasicTokenizer(do_lower_case=True)


def _shuffled(sentence: str, source: random.Random) -> str:
    words = _splitter().tokenize(sentence)
    source.shuffle(words)
    return " ".join(words)
