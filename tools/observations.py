"""What the documents quote of the bundled model: the sentences, and how each is measured."""

from collections.abc import Callable, Sequence
from typing import Any

from app.catalog import examples
from app.engine.models import Engine
from app.features.atlas.task import atlas
from app.features.attention.task import attention
from app.features.classification.task import classification
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_surprise import surprise
from app.features.lab.task_finetune_recorded import recorded
from app.features.model_card.task import model_card
from app.features.multiple_choice.task import multiple_choice
from app.features.ner.task import ner
from app.features.next_sentence.task import next_sentence
from app.features.qa.task import qa
from app.features.senses.task import senses
from app.lessons.claims import figures_of
from bert_core.analysis.statistics_file import read_head_statistics
from bert_core.bundled import bundled_folder
from tools.example_heads import strongest
from tools.quotes import Quote

GUIDE, TEACHING, README = "docs/guide.md", "docs/teaching.md", "README.md"
CAPITAL = "The capital of France is [MASK]."
KINDS = {"PER": "a person", "LOC": "a place", "ORG": "an organisation", "MISC": "another name"}
Values = Sequence[Any]


def _per_cent(share: float) -> int:
    return round(100 * float(share))


def _same(first: str, second: str) -> str:
    """Return what two sides of a sentence have in common; ValueError: it has to be worded anew."""
    if first != second:
        raise ValueError(f"{first} and {second} differ, and the sentence says that they do not")
    return first


# -- one page each -------------------------------------------------------------------------------


def _guesses(engine: Engine, text: str) -> list[tuple[str, int]]:
    slot = fill_mask(engine, text).slots[0]
    return [(each.token, _per_cent(each.probability)) for each in slot.candidates]


def _first_two(text: str) -> Callable[[Engine], Values]:
    """Return a function for the two best guesses at a gap, each with its probability."""
    return lambda engine: [each for two in _guesses(engine, text)[:2] for each in two]


def _robin(engine: Engine) -> Values:
    plain, negated = ([word for word, _ in _guesses(engine, f"A robin is {no}a [MASK].")[:2]]
                      for no in ("", "not "))  # fmt: skip
    return [_same(*each) for each in zip(plain, negated, strict=True)]


def _stated(engine: Engine) -> Values:
    found = figures_of(engine, "D1")
    return round(100 * found.tell["p"]), round(100 * found.k / found.n)


def _odd_word(engine: Engine) -> Values:
    odd = surprise(engine, fill_mask(engine, "He poured the coffee into the guitar.")).odd[0]
    return odd.token, odd.best


def _he_or_she(engine: Engine) -> Values:
    texts = [f"The {who} said that [MASK] was tired." for who in ("nurse", "engineer")]
    found = [dict(_guesses(engine, text)) for text in texts]
    return [shares[word] for shares in found for word in ("she", "he")]


def _follows(engine: Engine, first: str, second: str) -> int:
    return _per_cent(next_sentence(engine, first, second).probabilities[0])


def _swapped(engine: Engine) -> Values:
    values = examples("next_sentence")[0].values
    first, second = str(values["text"]), str(values["text_pair"])
    return _follows(engine, second, first), _follows(engine, first, second)


def _sister(engine: Engine) -> Values:
    """Return how surely his sister calls if he has none and if he has one, and his brother."""
    pairs = ("no", "sister"), ("a", "sister"), ("no", "brother")
    return [
        _follows(engine, f"Tom has {word} sister.", f"His {who} called him yesterday.")
        for word, who in pairs
    ]


def _asked(engine: Engine, question: str) -> tuple[str, int]:
    result = qa(engine, str(examples("qa")[0].values["text"]), question)
    answer = result.answers[0].text if result.answered else "no answer"
    return answer, _per_cent(result.null_probability)


def _jordan(engine: Engine) -> Values:
    return [KINDS[each.kind] for each in ner(engine, "Jordan moved to Jordan.").reading.entities]


def _label(engine: Engine, text: str) -> tuple[str, int]:
    result = classification(engine, text)
    return result.chosen[0], _per_cent(max(result.scores))


def _praise(engine: Engine) -> Values:
    return [_label(engine, text)[0] for text in ("Not bad at all.", "Hardly a boring moment.")]


def _days(engine: Engine) -> Values:
    days = (_label(engine, f"It arrived on {day}.") for day in ("Tuesday", "Monday"))
    (one, sure), (other, surer) = days
    return _same(one, other), sure, surer


def _without_the_first(engine: Engine) -> Values:
    """Return the share of the second choice beside all others, and without the first one."""
    values = examples("multiple_choice")[0].values
    lines = str(values["choices"]).strip().splitlines()
    found = [multiple_choice(engine, str(values["text"]), lines[n:]).choices for n in (0, 1)]
    return [_per_cent(each.probability) for row in found for each in row if each.text == lines[1]]


def _looked_at(engine: Engine) -> Values:
    """Return the head that two examples open, where "it" looks in one, and in the other."""
    labels = ("A guess at “it”", "The same guess")
    first, second = (each.values for each in examples("attention") if each.label in labels)
    layer, head = int(first["layer"]), int(first["head"])
    found: list[tuple[str, int]] = []
    for values in (first, second):
        result = attention(engine, str(values["text"]))
        row = result.attentions[layer][head][result.tokens.index("it")]
        found.append((result.tokens[int(row.argmax())], _per_cent(row.max())))
    (one, most), (other, then) = found
    return layer, head, one, most, _same(one, other), then


def _looking_most(measure: str) -> Callable[[Engine], Values]:
    """Return a function for the layer and head with most of a measure, and how much it has."""

    def look(engine: Engine) -> Values:
        shares = getattr(read_head_statistics(bundled_folder(engine.provenance.name)), measure)
        layer, head = strongest(shares)
        return layer, head, _per_cent(shares[layer, head])

    return look


_backwards, _forwards = _looking_most("to_previous"), _looking_most("to_next")


def _missed(engine: Engine) -> Values:
    found = atlas(engine)
    certain = [each.certain and (each.effect or 0) > 0 for each in found.heads]
    return sum(certain), len(certain)


def _agreeing(engine: Engine) -> Values:
    return (sum(each.agrees for each in atlas(engine).findings),)


def _apart(engine: Engine) -> Values:
    """Return the mean cosines within and between the senses, in the first and the last layer."""
    values = examples("senses")[0].values
    found = senses(engine, str(values["text"]), str(values["target"]))
    return [f"{found.means(within=w)[layer]:.2f}" for layer in (0, -1) for w in (True, False)]


def _spring(engine: Engine) -> Values:
    (values,) = (each.values for each in examples("senses") if each.label == "Spring")
    found = senses(engine, str(values["text"]), str(values["target"]))
    return found.at_home, len(found.occurrences)


def _tuned(engine: Engine) -> Values:
    found = recorded("texts")
    return found.last.right, found.last.cases, _per_cent(found.low), _per_cent(found.high)


# -- figures of the model card -------------------------------------------------------------------


def _figures(*tasks: str, of: Sequence[str] = ("share",), digits: int = 0) -> Any:
    """Return a function for the first figure of each task, in per cent."""

    def look(engine: Engine) -> Values:
        found = {each.task: each for each in reversed(model_card(engine).figures)}
        return [f"{100 * getattr(found[task], name):.{digits}f}" for task in tasks for name in of]

    return look


QUOTES = (
    # -- the visitor's guide ---------------------------------------------------------------------
    Quote(GUIDE, "The first two guesses are {} and {}, and with \"not\" they are", _robin),
    Quote(GUIDE, "*{}* is the odd one; the model would have written *{}*", _odd_word),
    Quote(GUIDE, "judges {} in 100 correctly; of neighbours in the wrong order it notices {} in",
          _figures("next sentence, random", "next sentence, swapped")),
    Quote(GUIDE, "The probability is {} %, in the right order {} %", _swapped),
    Quote(GUIDE, "The model says {} %, and with \"a sister\" {} %. Does the \"no\" count?",
          lambda e: _sister(e)[:2]),
    Quote(GUIDE, "on the first example; the answer is *{}*",
          lambda e: _asked(e, "What colour is the bicycle?")[:1]),
    Quote(GUIDE, "*No answer* has {} %; the model says *{}*",
          lambda e: _asked(e, "How old is Mara?")[::-1]),
    Quote(GUIDE, "names found whole and of the right kind is {} %",
          _figures("named entities (PER, LOC, ORG), F1")),
    Quote(GUIDE, "The model finds {}, then {}. Only the words around the names differ", _jordan),
    Quote(GUIDE, "To the model the first is {}, the second {}. Both are praise", _praise),
    Quote(GUIDE, "The model's answer is {} both times, with {} % and {} %:", _days),
    Quote(GUIDE, "goes from {} % to {} %, although its logit stays the same", _without_the_first),
    Quote(GUIDE, "layer {}, head {} with any text. On average it gives {} % of", _backwards),
    Quote(GUIDE, "*It* looks most at *{}* ({} %) in the first, and again at {} ({} %)",
          lambda e: _looked_at(e)[2:]),
    Quote(GUIDE, "For {} of {} heads the 95 % interval of the growth is above zero", _missed),
    Quote(GUIDE, "layer {}, head {}: it gives {} % of its attention to the next piece", _forwards),
    Quote(GUIDE, "*Findings of Clark et al. 2019*. Of ten, {} hold for", _agreeing),
    Quote(GUIDE, "in the first example: {} within and {} between become {} and {}.", _apart),
    Quote(GUIDE, "with its three meanings. For {} of {} sentences the nearest is one of", _spring),
    Quote(GUIDE, "topics, {} of {} are labelled correctly. With so few rows, the 95 % interval of "
          "that share goes from {} % to {} %", _tuned),
    Quote(GUIDE, "*Multiple choice, openstax* is right in {} of 100 cases",
          _figures("multiple choice, openstax")),
    # -- the teacher's page ----------------------------------------------------------------------
    Quote(TEACHING, "`/attention?layer={}&head={}`", lambda e: _backwards(e)[:2]),
    Quote(TEACHING, "*{}* first ({} %), then *{}* ({} %)",
          _first_two(CAPITAL)),
    Quote(TEACHING, "you land in [MASK].\" gets {} ({} %) before {} ({} %).",
          _first_two("If you fly to the capital of France, you land in [MASK].")),
    Quote(TEACHING, "The first two guesses are {} and {}, and with \"not\" they are", _robin),
    Quote(TEACHING, "nurse *she* {} % and *he* {} %, for the engineer *she* {} % and *he* {} %",
          _he_or_she),
    Quote(TEACHING, "follow \"Tom has no sister.\"?* {} % yes; after \"Tom has a sister.\" {} %. "
          "With \"his brother\" after \"no sister\" it is {} %", _sister),
    Quote(TEACHING, "*No answer* has {} %; the model says *{}*",
          lambda e: _asked(e, "How old is Mara?")[::-1]),
    Quote(TEACHING, "(layer {}, head {})? And with \"small\"?* Most at *{}* ({} %), then again at "
          "{} ({} %)", _looked_at),
    Quote(TEACHING, "cosine {} within and {} between, after the last layer {} and {}.", _apart),
    Quote(TEACHING, "And Monday?* It says {} both times, with {} % and {} %. It has", _days),
    Quote(TEACHING, "For gaps, stated and actual rates differ by {} points on average.",
          _figures("calibration error, masked word", digits=1)),
    Quote(TEACHING, "are underconfident ({} % stated, {} % right)", _stated),
    Quote(TEACHING, "In neighbours and pairs from two texts it says {} % on average and is right "
          "in {} %; in neighbours and pairs from one text {} % and {} %",
          _figures("calibration error, next sentence, random",
                  "calibration error, next sentence, same", of=("stated", "right"))),
    # -- the README ------------------------------------------------------------------------------
    Quote(README, "its first guess in {} of 100 cases and among its first five in {}",
          _figures("masked word, all hidden, first guess",
                  "masked word, all hidden, among first five")),
    Quote(README, "in a hundred everyday sentences a good word is among the first five in {}",
          _figures("everyday gap, among first five")),
    Quote(README, "its first guess is *{}* ({} %), its second *{}* ({} %)",
          _first_two(CAPITAL)),
    Quote(README, "in {} of 100 cases (F1 {} %) and finds names with an F1 of {} %",
          _figures("question answering, exact match", "question answering, F1",
                  "named entities (PER, LOC, ORG), F1")),
    Quote(README, "Of sentence pairs that are neighbours or from two texts it judges {} in 100 "
          "correctly; of neighbours in the wrong order it notices {} in 100",
          _figures("next sentence, random", "next sentence, swapped")),
)  # fmt: skip
"""Every sentence with values of the bundled weights, in the order of the documents."""
