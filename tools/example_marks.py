"""Compare a model's answers to the examples with those a person would give.

    python -m tools.example_marks     print each answer, and whether its mark is correct
    python -m tools.derive examples   mark every example anew, after a change of weights

The exit status is 0 if every mark is correct. An example's `wanted` gives the right answer, part by
part, with alternatives separated by " | ":

- fill_mask: for each mask, the words accepted in first place;
- next_sentence: "follows" or "does not follow";
- classification: the label;
- multiple_choice: the choice;
- qa: for each question its answer, or "no answer"; case, surrounding punctuation and small words
  before it (articles, "in", "at", "on", "only") are ignored;
- ner: exactly the entities of the text, in order, as "text: KIND";
- tokenizer: consecutive pieces, as "snow ##flake";
- attention: "from → to": in the head that the example opens, `from` attends most to `to`;
  "bank#2" is the second piece with that spelling; `choose_heads` says which head it opens;
- xray: the answer with everything on;
- senses: for each group, the numbers of its sentences; right if the nearest neighbour of each at
  the last layer is in the group.
"""

import json
import re
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.catalog import ALTERNATIVES, FOLDER, Example, examples, read_text
from app.declared import declared
from app.engine.models import Engine, default_offer
from app.features.attention.task import attention
from app.features.classification.task import classification
from app.features.fill_mask.task import fill_mask
from app.features.multiple_choice.task import multiple_choice
from app.features.ner.task import ner
from app.features.next_sentence.task import next_sentence
from app.features.qa.task import qa, questions
from app.features.senses.task import senses
from app.features.tokenizer.task import tokenizer
from app.settings import ROOT
from bert_core.analysis.statistics_file import read_head_statistics
from bert_core.bundled import bundled_folder

_SMALL = re.compile(r"^(?:(?:a|an|the|in|at|on|only) )+")
_WEIGHTS = re.compile(r'^weights = "[0-9a-f]*"$', re.MULTILINE)
_MODEL = re.compile(r'^model = "\w+"$', re.MULTILINE)
_SEEN = re.compile(r"^seen = .*\n?", re.MULTILINE)
_HEAD = re.compile(r"^layer = \d+\nhead = \d+$", re.MULTILINE)
_BLOCK = "[[example]]\n"
_LEADS = {
    "attention": "The strongest links",
    "senses": "Nearest to each other",
    "ner": "The model finds",
}
_LOOKING = {"Nearest noun": "to_previous", "One step ahead": "to_next"}
_SAME_HEAD = {"The same guess": "A guess at “it”"}


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one example.

    Attributes:
        answers: the model's answer, part by part.
        right: for each part, whether a person would give the same answer.
        more: further details.
    """

    answers: tuple[str, ...]
    right: tuple[bool, ...]
    more: str = ""

    @property
    def all_right(self) -> bool:
        """Whether every part is right."""
        return all(self.right)


def ask(engine: Engine, slug: str, example: Example, wanted: Sequence[str]) -> Found:
    """Answer an example as its page does, and compare with the right answer."""
    found = JUDGED[slug](engine, example, wanted)
    if len(found.right) < len(wanted):
        raise ValueError(f"{example.label}: {len(wanted)} parts wanted, {len(found.right)} found")
    return found


def fits(answer: str, wanted: str) -> bool:
    """Return whether an answer is one of the alternatives, ignoring details of spelling."""
    return _bare(answer) in {_bare(each) for each in wanted.split(ALTERNATIVES)}


def _bare(text: str) -> str:
    words = " ".join(text.lower().split()).strip(string.punctuation + "“”‘’ ")
    return _SMALL.sub("", words)


def _fill_mask(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = fill_mask(engine, _text(example), word=_text(example, "word"))
    best = tuple(slot.candidates[0].token for slot in result.slots)
    more = [
        ", ".join(f"{each.token} {each.probability:.3f}" for each in slot.candidates)
        + (f" | {slot.named.token} {slot.named.probability:.4f} #{slot.named.rank}"
           if slot.named else "")
        for slot in result.slots
    ]  # fmt: skip
    return Found(best, _each(best, wanted, fits), " // ".join(more))


def _next_sentence(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = next_sentence(engine, _text(example), _text(example, "text_pair"))
    answer = ("follows" if result.follows else "does not follow",)
    return Found(answer, _each(answer, wanted, fits), f"{result.probabilities[0]:.3f} follows")


def _classification(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = classification(engine, _text(example), _text(example, "text_pair"))
    more = ", ".join(
        f"{name} {score:.3f}" for name, score in zip(result.labels, result.scores, strict=True)
    )
    return Found(result.chosen, _each(result.chosen, wanted, fits), more)


def _multiple_choice(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = multiple_choice(engine, _text(example), _text(example, "choices").split("\n"))
    best = (result.choices[result.best].text,)
    more = ", ".join(f"{choice.probability:.3f}" for choice in result.choices)
    return Found(best, _each(best, wanted, fits), more)


def _qa(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    asked = questions(_text(example, "question"))
    results = [qa(engine, _text(example), question) for question in asked]
    answers = tuple(
        result.answers[0].text if result.answered else "no answer" for result in results
    )
    more = [
        f"{result.answers[0].text!r} {result.probability:.3f}, "
        f"none {result.null_probability:.3f}, score {result.no_answer_score:.2f}"
        for result in results
    ]
    return Found(answers, _each(answers, wanted, fits), " // ".join(more))


def _ner(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = ner(engine, _text(example))
    answers = tuple(
        f"{' '.join(result.text[each.start : each.end].split())}: {each.kind}"
        for each in result.reading.entities
    )
    scores = ", ".join(f"{each.score:.2f}" for each in result.reading.entities)
    length = max(len(answers), len(wanted))
    return Found(answers, (answers == tuple(wanted),) * max(length, 1), scores)


def _tokenizer(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    cased = bool(example.values.get("cased", False))
    pair = _text(example, "text_pair")
    tokens = tokenizer(engine, _text(example), pair, cased=cased).columns.tokens
    line = f" {' '.join(tokens)} "
    return Found(tuple(tokens), tuple(f" {each} " in line for each in wanted))


def choose_heads(engine: Engine, rows: Sequence[Example]) -> dict[str, tuple[int, int]]:
    """Choose the layer and head that each attention example opens, by its label.

    An example of a way of looking opens the head that looks this way most, by the head statistics.
    Any other opens, of the remaining heads, the one whose weakest wanted link is strongest, and
    "The same guess" opens that of the guess.
    """
    statistics = read_head_statistics(bundled_folder(engine.provenance.name))
    heads = {label: strongest(getattr(statistics, name)) for label, name in _LOOKING.items()}
    taken = tuple(heads.values())
    for row in rows:
        if row.mark and row.label not in {*_LOOKING, *_SAME_HEAD}:
            result = attention(engine, _text(row), _text(row, "text_pair"))
            links = weakest_link(np.stack(result.attentions), result.tokens, row.mark.wanted)
            for head in taken:
                links[head] = 0
            heads[row.label] = strongest(links)
    return heads | {label: heads[other] for label, other in _SAME_HEAD.items()}


def strongest(shares: NDArray[np.floating]) -> tuple[int, int]:
    """Return the layer and head with the largest share (L, H), nan left out."""
    layer, head = divmod(int(np.nanargmax(shares)), shares.shape[1])
    return layer, head


def weakest_link(
    attentions: NDArray[np.floating], tokens: Sequence[str], wanted: Sequence[str]
) -> NDArray[np.floating]:
    """Return the smallest attention (L, H) of the links in each head, from all (L, H, T, T)."""
    names = _numbered(tokens)
    ends = [[names.index(end) for end in link.split(" → ")] for link in wanted]
    links = np.stack([attentions[:, :, row, column] for row, column in ends])  # (N, L, H)
    weakest: NDArray[np.floating] = links.min(axis=0)
    return weakest


def with_heads(text: str, heads: Mapping[str, tuple[int, int]]) -> str:
    """Return a file of examples in which they open these heads, by label."""
    start, *blocks = text.split(_BLOCK)
    for number, example in enumerate(read_text(text)):
        if example.label in heads:
            layer, head = heads[example.label]
            blocks[number] = _HEAD.sub(f"layer = {layer}\nhead = {head}", blocks[number])
    return _BLOCK.join([start, *blocks])


def _attention(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    result = attention(engine, _text(example), _text(example, "text_pair"))
    layer, head = int(example.values.get("layer", 0)), int(example.values.get("head", 0))
    heads = result.attentions[layer]
    weights = heads.mean(axis=0) if head < 0 else heads[head]  # (T, T)
    names = _numbered(result.tokens)
    answers, right = [], []
    for link in wanted:
        row, _, column = link.partition(" → ")
        best = np.argsort(-weights[names.index(row)])[:3].tolist()
        share = weights[names.index(row)]
        answers.append(f"{row}: " + ", ".join(f"{names[n]} {share[n]:.3f}" for n in best))
        right.append(names.index(column) == best[0])
    return Found(tuple(answers), tuple(right), f"layer {layer}, head {head}")


def _senses(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    """Compare each occurrence's nearest neighbour with the groups."""
    result = senses(engine, _text(example), _text(example, "target"))
    pairs = [
        (each.label, result.occurrences[near].label)
        for each, near in zip(result.occurrences, result.nearest, strict=True)
    ]
    answers, right = [], []
    for group in wanted:
        mine = [(own, near) for own, near in pairs if own in group.split()]
        answers.append(", ".join(f"{own} → {near}" for own, near in mine))
        right.append(all(near in group.split() for _, near in mine))
    return Found(tuple(answers), tuple(right))


def _numbered(tokens: Sequence[str]) -> list[str]:
    """Number pieces with the same spelling: bank, bank#2."""
    counts = [tokens[: n + 1].count(token) for n, token in enumerate(tokens)]
    return [
        token if count == 1 else f"{token}#{count}"
        for token, count in zip(tokens, counts, strict=True)
    ]


def _each(
    answers: Sequence[str], wanted: Sequence[str], same: Callable[[str, str], bool]
) -> tuple[bool, ...]:
    return tuple(same(answer, want) for answer, want in zip(answers, wanted, strict=False))


def _text(example: Example, key: str = "text") -> str:
    return str(example.values.get(key, ""))


def _xray(engine: Engine, example: Example, wanted: Sequence[str]) -> Found:
    given = declared("xray").example_values(example.values)
    result = declared("xray").run(engine, given)
    best = result.best
    place = result.question.kind in ("start", "end")
    answer = (result.tokens[best.number] if place else best.name,)
    return Found(answer, _each(answer, wanted, fits), f"{best.probability:.3f}")


JUDGED: dict[str, Callable[[Engine, Example, Sequence[str]], Found]] = {
    "fill_mask": _fill_mask,
    "next_sentence": _next_sentence,
    "classification": _classification,
    "multiple_choice": _multiple_choice,
    "qa": _qa,
    "ner": _ner,
    "tokenizer": _tokenizer,
    "attention": _attention,
    "senses": _senses,
    "xray": _xray,
}
"""How the answers of each page are judged that can be right or wrong."""


def report(engine: Engine) -> tuple[list[str], int]:
    """Describe the answer to every example, and count the wrong marks."""
    lines, false = [], 0
    for slug in JUDGED:
        lines += ["", slug]
        for example in examples(slug):
            mark = example.mark
            found = ask(engine, slug, example, mark.wanted if mark else ())
            holds = mark is None or found.all_right is mark.right
            false += not holds
            verdict = "no mark" if mark is None else f"marked {'right' if mark.right else 'wrong'}"
            lines.append(f"  {'ok   ' if holds else 'FALSE'} {example.label}: {verdict}")
            lines += [f"        wanted {'; '.join(mark.wanted)}"] if mark else []
            lines.append(f"        found  {'; '.join(found.answers)}   [{found.more}]")
    return lines, false


def mark_again(engine: Engine) -> list[str]:
    """Mark every example anew for a model, in the files; return what a person should look at.

    What a mark says of an answer (`seen`) is kept only if it was written for the same weights, or
    if no weights are involved. Otherwise a plain sentence with the answer takes its place where the
    model is wrong, and nothing where it is right.
    """
    left = []
    for slug in JUDGED:
        path = FOLDER / slug / "examples.toml"
        text, told = remarked(path.read_text(encoding="utf-8"), engine, slug)
        path.write_text(text, encoding="utf-8")
        left += [f"{path.relative_to(ROOT)}: {line}" for line in told]
    return left


def remarked(text: str, engine: Engine, slug: str) -> tuple[str, list[str]]:
    """Return a file of examples marked for a model, and what a person should look at."""
    weights = engine.provenance.fingerprint
    new = slug != "tokenizer" and f'weights = "{weights}"' not in text
    if slug == "attention":
        text = with_heads(text, choose_heads(engine, read_text(text)))
    head, *blocks = text.split(_BLOCK)
    left, rights = [], []
    for number, example in enumerate(read_text(text)):
        if example.mark is None:
            continue
        found = ask(engine, slug, example, example.mark.wanted)
        right, seen = found.all_right, example.mark.seen
        rights.append(right)
        if new or right is not example.mark.right:
            seen = "" if right else f"{_LEADS.get(slug, 'The model answers')}: {_told(found)}."
            if example.mark.seen:
                left.append(f"“{example.label}” has lost its remark “{example.mark.seen}”")
        blocks[number] = _with_mark(blocks[number], right, seen)
    left += [
        f"no example is marked {'right' if right else 'wrong'}; add one"
        for right in (True, False)
        if right not in rights
    ]
    head = _WEIGHTS.sub(f'weights = "{weights}"', head)
    return _BLOCK.join([head, *blocks]), left


def _told(found: Found) -> str:
    return "; ".join(each.strip(" .") for each in found.answers) or "nothing"


def _with_mark(block: str, right: bool, seen: str) -> str:
    """Return the lines of an example with another mark."""
    block = _MODEL.sub(f'model = "{"right" if right else "wrong"}"', block)
    line = f"seen = {json.dumps(seen, ensure_ascii=False)}\n"
    body = _SEEN.sub("", block).rstrip("\n")
    after = "\n" * (len(block) - len(block.rstrip("\n")) - 1)
    if _SEEN.search(block) and seen:  # in its place
        return _SEEN.sub(lambda _: line, block)
    return f"{body}\n{line if seen else ''}{after}"


def main() -> int:
    """Print the answers; return the exit status."""
    offer = default_offer()
    engine = Engine(offer.source)
    lines, false = report(engine)
    lines += ["", f"{false} marks are wrong with {offer.name}, {engine.provenance.fingerprint}."]
    sys.stdout.write("\n".join([*lines, ""]))
    return min(false, 1)


if __name__ == "__main__":
    sys.exit(main())
