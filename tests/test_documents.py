"""The documents for visitors and teachers: links lead somewhere, and observations hold."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from app.catalog import FEATURES, examples, feature
from app.declared import declared
from app.features.atlas.task import atlas
from app.features.attention.task import attention
from app.features.classification.task import classification
from app.features.fill_mask.task import fill_mask
from app.features.fill_mask.task_surprise import surprise
from app.features.input.task import input as input_parts
from app.features.input.task import neighbours
from app.features.lab.task_finetune_recorded import recorded, weights_of
from app.features.model_card.task import model_card
from app.features.model_card.view import TABS
from app.features.multiple_choice.task import multiple_choice, split_choices
from app.features.ner.task import ner
from app.features.next_sentence.task import next_sentence
from app.features.qa.task import qa
from app.features.senses.task import senses
from app.features.tokenizer.task import tokenizer
from app.features.variants.task import variants
from app.features.why.result import WhyResult
from app.features.why.task import why
from app.features.xray.task import xray
from app.features.xray.task_patching import patching
from app.models import Engine, open_engine
from app.overview import FIRST, doors
from app.recorded.entries import all_entries
from tools.screenshots import LIMIT, PICTURES, SIZE

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/guide.md", "docs/teaching.md", "docs/static-space.md")
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
GUIDE, TEACHING, STATIC = (" ".join(TEXTS[name].split()) for name in PAGES[1:])
TROPHY = "The trophy did not fit into the suitcase because it was too {}."


@pytest.fixture(scope="module")
def engine() -> Engine:
    return open_engine()


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as GitHub and mkdocs make them."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_the_guide_has_a_chapter_and_a_picture_for_each_page() -> None:
    chapters = re.findall(r"^## (.*)$", TEXTS["docs/guide.md"], re.M)
    assert chapters == ["Home", *(row.title for row in FEATURES)]
    shown = re.findall(r"\(pictures/(\w+)\.webp\)", TEXTS["docs/guide.md"])
    assert shown == ["home", *(row.slug for row in FEATURES)]
    assert {path.stem for path in PICTURES.iterdir()} == set(shown)


def test_every_chapter_says_five_things_and_offers_two_to_try() -> None:
    for chapter in TEXTS["docs/guide.md"].split("\n## ")[1:]:
        bold = re.findall(r"^- \*\*(.*?)\*\*", chapter, re.M)
        assert bold == ["You give", "You see", "To read it", "Do not conclude", "Try", "Try"]


def test_pictures_are_small_and_as_large_as_a_window() -> None:
    for path in PICTURES.iterdir():
        assert path.stat().st_size <= LIMIT
        with Image.open(path) as picture:
            assert picture.size == SIZE


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(name: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", TEXTS[name])
    for link in links:
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.resolve().is_relative_to(ROOT)
        assert path.exists(), link
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), link


def test_the_readme_leads_to_both() -> None:
    assert "(docs/guide.md)" in TEXTS["README.md"]
    assert "(docs/teaching.md)" in TEXTS["README.md"]


def test_links_for_students_name_pages_and_their_widgets() -> None:
    links = re.findall(r"`(/\w+\?[^`]*)`", TEXTS["docs/teaching.md"])
    assert len(links) == 4
    for link in links:
        parts = urlsplit(link)
        given = parse_qs(parts.query, strict_parsing=True)
        script = (ROOT / feature(parts.path[1:]).page).read_text(encoding="utf-8")
        controls = ROOT / "app" / "features" / parts.path[1:] / "controls.py"
        script += controls.read_text(encoding="utf-8") if controls.exists() else ""
        for key in given.keys() - {"text", "present"}:
            assert f'"{key}"' in script, link
        assert given.get("tab", [TABS[0]])[0] in TABS


# --- what the documents say of the answers ------------------------------------------------------


def pieces(engine: Engine, text: str) -> str:
    return " ".join(piece.token for piece in tokenizer(engine, text).pieces(50)[1:-1])


def guesses(engine: Engine, text: str) -> list[tuple[str, int]]:
    slot = fill_mask(engine, text).slots[0]
    return [(each.token, whole(each.probability)) for each in slot.candidates]


def whole(share: float) -> int:
    return round(share * 100)


def follows(engine: Engine, first: str, second: str) -> int:
    return whole(next_sentence(engine, first, second).probabilities[0])


def asked(engine: Engine, question: str) -> tuple[str, int]:
    result = qa(engine, str(examples("qa")[0].values["text"]), question)
    assert result.answered
    return result.answers[0].text, whole(result.null_probability)


def names(engine: Engine, text: str) -> list[tuple[str, float]]:
    return [(each.label, round(each.score, 6)) for each in ner(engine, text).reading.entities]


def label(engine: Engine, text: str) -> tuple[str, int]:
    result = classification(engine, text)
    return result.chosen[0], whole(max(result.scores))


def chosen(engine: Engine, context: str, lines: str) -> dict[str, tuple[int, float]]:
    result = multiple_choice(engine, context, split_choices(lines))
    return {c.text: (whole(c.probability), round(c.logit, 2)) for c in result.choices}


def without_the_first(engine: Engine) -> tuple[tuple[int, float], tuple[int, float]]:
    """Return the second choice beside all others, and when the first one is removed."""
    values = examples("multiple_choice")[0].values
    lines = str(values["choices"]).strip().splitlines()
    everything, fewer = (chosen(engine, str(values["text"]), "\n".join(lines[n:])) for n in (0, 1))
    return everything[lines[1]], fewer[lines[1]]


def best(rows: dict[str, tuple[int, float]]) -> str:
    return max(rows, key=lambda each: rows[each])


def looked_at(engine: Engine, word: str) -> tuple[str, int]:
    result = attention(engine, TROPHY.format(word))
    row = result.attentions[4][3][result.tokens.index("it")]
    return result.tokens[int(row.argmax())], whole(float(row.max()))


def steps_back(engine: Engine) -> bool:
    """Whether every piece but the first looks at the one before, in a few different texts."""
    for text in ("The soup is hot.", TROPHY.format("large"), "no no no no", "Where is Ada?"):
        head = attention(engine, text).attentions[0][2]
        if (head.argmax(axis=1)[1:] != np.arange(len(head) - 1)).any():
            return False
    return True


def the_twice(engine: Engine) -> bool:
    found = input_parts(engine, str(examples("input")[0].values["text"]))
    first, second = (n for n, token in enumerate(found.tokens) if token == "the")
    same = np.array_equal(found.word[first], found.word[second])
    return same and not np.allclose(found.sum[first], found.sum[second])


def near(engine: Engine, text: str, word: str) -> set[str]:
    found = input_parts(engine, text)
    return {n.token for n in neighbours(engine, found, found.tokens.index(word)).word}


def author_patched(engine: Engine) -> tuple[tuple[int, int, int], list[int]]:
    texts = [f"The author{s} of the books [MASK] in London." for s in ("", "s")]
    found = patching(engine, xray(engine, texts[0]), texts[1])
    layer, head = divmod(int(found.heads_lost.argmax()), found.heads_lost.shape[1])
    share = round(100 * float(found.heads_lost[layer, head]))
    return (layer, head, share), found.restored.argmax(axis=1).tolist()


def missed(engine: Engine) -> tuple[int, int]:
    heads = atlas(engine).heads
    return sum(each.certain and (each.effect or 0) > 0 for each in heads), len(heads)


def apart(engine: Engine, layer: int) -> tuple[float, float]:
    values = examples("senses")[0].values
    found = senses(engine, str(values["text"]), str(values["target"]), layer=layer)
    within, between = found.means(within=True)[layer], found.means(within=False)[layer]
    return round(within, 2), round(between, 2)


def at_home(engine: Engine, name: str) -> tuple[int, int]:
    (values,) = (each.values for each in examples("senses") if each.label == name)
    found = senses(engine, str(values["text"]), str(values["target"]))
    return found.at_home, len(found.occurrences)


def pushes(engine: Engine, example: str, method: str = "integrated_gradients") -> dict[str, float]:
    """Return the scores of the words of an example; of equal words the last one's."""
    result = reasons(engine, example, method)
    return {w.text: s for w, s in zip(result.words, result.story.scores, strict=True)}


def reasons(engine: Engine, example: str, method: str = "integrated_gradients") -> WhyResult:
    (values,) = (each.values for each in examples("why") if each.label == example)
    given = declared("why").example_values(values)
    return why(engine, **given, method=method)  # type: ignore[arg-type]


def one_word_makes_a_person(engine: Engine) -> bool:
    found = pushes(engine, "City and child")
    most = found.pop("daughter")
    return most > 4 * max(found.values()) and abs(found["Paris"]) < 0.02


def share(engine: Engine, task: str) -> float:
    figures = model_card(engine).figures
    return next(round(each.share * 100, 1) for each in figures if each.task == task)


def tuned(engine: Engine) -> tuple[int, int, int]:
    found = recorded("texts")
    assert weights_of("texts") == engine.provenance.fingerprint
    return found.last.right, found.last.cases, len(found.mistakes)


def albert_twice(engine: Engine) -> tuple[float, float]:
    found = variants(engine, "albert", layers=24)
    ratio = found.own.flops.total / found.family[2].flops.total
    return round(found.own.parameters.total / 1e6, 1), round(ratio, 1)


def near_only(engine: Engine) -> tuple[int, int, int]:
    reaches = variants(engine, length=8_192).family[-1].architecture.reaches(8_192)
    return sum(seen < 8_192 for seen in reaches), len(reaches), min(reaches)


LEGS = "How many legs does a spider have?"
KETTLE = examples("next_sentence")[0].values
SHORT = ("Tom has no sister.", "His sister called him yesterday.")
FOUR = str(examples("ner")[0].values["text"])

OBSERVED: list[tuple[str, str, Callable[[Engine], object], object]] = [
    (GUIDE, "falls into 13 pieces",
     lambda e: len(pieces(e, "Der Schmetterling fliegt über die Wiese.").split()), 13),
    (GUIDE, "The first is one piece", lambda e: pieces(e, "unhappy"), "unhappy"),
    (GUIDE, "`un ##ha ##pp ##iness`", lambda e: pieces(e, "unhappiness"), "un ##ha ##pp ##iness"),
    (GUIDE, "`books ##hel ##f`", lambda e: pieces(e, "bookshelf"), "books ##hel ##f"),
    (GUIDE, "Both times *bird* and *robin* are the first two",
     lambda e: [{w for w, _ in guesses(e, f"A robin is {no}a [MASK].")[:2]} for no in ("", "not ")],
     [{"bird", "robin"}] * 2),
    (GUIDE, "*Guitar* is the odd one; the model would have written *water*",
     lambda e: [(o.token, o.best) for o in
                surprise(e, fill_mask(e, "He poured the coffee into the guitar.")).odd],
     [("guitar", "water")]),
    (GUIDE, "in only 12 of 100", lambda e: round(share(e, "next sentence, swapped")), 12),
    (GUIDE, "(93 of 100 pairs right)", lambda e: share(e, "next sentence, random"), 93.0),
    (GUIDE, "almost as sure as before",
     lambda e: follows(e, str(KETTLE["text"]), str(KETTLE["text_pair"]))
     - follows(e, str(KETTLE["text_pair"]), str(KETTLE["text"])), 4),
    (GUIDE, "The model says that it follows", lambda e: follows(e, *SHORT) > 50, True),
    (GUIDE, "the answer is *green*", lambda e: asked(e, "What colour is the bicycle?")[0], "green"),
    (GUIDE, "The model answers *forty minutes*",
     lambda e: asked(e, "How old is Mara?")[0], "forty minutes"),
    (GUIDE, "The first is a person, the second a place",
     lambda e: [k for k, _ in names(e, "Jordan moved to Jordan.")], ["PER", "LOC"]),
    (GUIDE, "The answer is the same to the digit",
     lambda e: names(e, FOUR) == names(e, FOUR.lower()), True),
    (GUIDE, "the right kind is 66 %",
     lambda e: share(e, "named entities (PER, LOC, ORG), F1"), 66.0),
    (GUIDE, "Two negative words become praise",
     lambda e: label(e, "Not bad at all.")[0], "positive"),
    (GUIDE, '"boring" decides',
     lambda e: label(e, "Hardly a boring moment.")[0], "negative"),
    (GUIDE, "Both are *negative*, Monday far more clearly",
     lambda e: [label(e, f"It arrived on {day}.") for day in ("Tuesday", "Monday")],
     [("negative", 60), ("negative", 76)]),
    (GUIDE, "rises from 6 % to 88 %, although its logit stays the same",
     without_the_first, ((6, 0.9), (88, 0.9))),
    (GUIDE, "and *two* legs win",
     lambda e: best(chosen(e, LEGS, "eight\nsix\nfour\ntwo")), "two"),
    (GUIDE, "Every piece looks at the one before it", steps_back, True),
    (GUIDE, "*It* looks at the trophy in both",
     lambda e: [looked_at(e, word)[0] for word in ("large", "small")], ["trophy"] * 2),
    (GUIDE, "Their word vectors are equal; after the position is added they are not",
     the_twice, True),
    (GUIDE, "*Warm* and *heat* are near, and so is *cold*",
     lambda e: near(e, "The soup is hot.", "hot") >= {"warm", "heat", "cold"}, True),
    (GUIDE, "0.97 within and 0.93 between become 0.84 and 0.61",
     lambda e: (apart(e, 0), apart(e, 6)), ((0.97, 0.93), (0.84, 0.61))),
    (GUIDE, "Only 8 of 12 sentences", lambda e: at_home(e, "Spring"), (8, 12)),
    (GUIDE, "loses 70 % of the difference. Up to layer 2 the difference is carried at the noun, "
     "from layer 3 on at the gap", author_patched, ((3, 1, 70), [2, 2, 2, 6, 6, 6])),
    (GUIDE, "for only 8 of 72 heads is the 95 % interval above zero", missed, (8, 72)),
    (GUIDE, "layer 1, head 8: it gives 91 % of its attention to the next piece",
     lambda e: round(100 * atlas(e, layer=1, head=8).asked.measures["to_next"]), 91),
    (GUIDE, "Seven of ten hold for this small model",
     lambda e: [each.agrees for each in atlas(e).findings].count(True), 7),
    (GUIDE, "9 of 12 are labelled correctly; the three mistakes are", tuned, (9, 12, 3)),
    (GUIDE, "from 47 % to 91 %", lambda e: (whole(recorded("texts").low),
     whole(recorded("texts").high)), (47, 91)),
    (GUIDE, "11.7 million parameters, and computes twice as much", albert_twice, (11.7, 2.0)),
    (GUIDE, "in 14 of its 22 layers a token sees only the 129 nearest tokens",
     near_only, (14, 22, 129)),
    (GUIDE, "right in 26 of 100 cases",
     lambda e: round(share(e, "multiple choice, openstax")), 26),
    (TEACHING, "`un ##ha ##pp ##iness`, `unhappy`",
     lambda e: pieces(e, "unhappiness, unhappy"), "un ##ha ##pp ##iness , unhappy"),
    (TEACHING, "*france* first (35 %), then *paris* (12 %)",
     lambda e: guesses(e, "The capital of France is [MASK].")[:2], [("france", 35), ("paris", 12)]),
    (TEACHING, "*bird* first, then *robin*; with \"not\" the order is reversed",
     lambda e: [[w for w, _ in guesses(e, f"A robin is {no}a [MASK].")[:2]] for no in ("", "not ")],
     [["bird", "robin"], ["robin", "bird"]]),
    (TEACHING, "For the nurse *he* 49 % and *she* 35 %, for the engineer *he* 83 % and *she* 5 %",
     lambda e: [guesses(e, f"The {who} said that [MASK] was tired.")[:2]
                for who in ("nurse", "engineer")],
     [[("he", 49), ("she", 35)], [("he", 83), ("she", 5)]]),
    (TEACHING, "82 % yes", lambda e: follows(e, *SHORT), 82),
    (TEACHING, "*forty minutes*: the passage does not say", lambda e: asked(e, "How old is Mara?"),
     ("forty minutes", 6)),
    (TEACHING, "*No answer* gets 6 %", lambda e: asked(e, "How old is Mara?")[1], 6),
    (TEACHING, "At the trophy both times, 34 % and 31 %",
     lambda e: [looked_at(e, word) for word in ("large", "small")],
     [("trophy", 34), ("trophy", 31)]),
    (TEACHING, "(mean cosine 0.97 within, 0.93 between); after the last layer they are not "
     "(0.84 and 0.61)", lambda e: (apart(e, 0), apart(e, 6)), ((0.97, 0.93), (0.84, 0.61))),
    (TEACHING, "60 % and 76 % negative",
     lambda e: [label(e, f"It arrived on {day}.")[1] for day in ("Tuesday", "Monday")], [60, 76]),
    (TEACHING, "(error 0.7 %), for next sentence less (3.5 %)",
     lambda e: [share(e, f"calibration error, {task}")
                for task in ("masked word", "next sentence")], [0.7, 3.5]),
    (GUIDE, "*daughter* does most to make the second Paris a person", one_word_makes_a_person,
     True),
    (GUIDE, "integrated gradients survive deletion, gradient × input does not",
     lambda e: [(r := reasons(e, "Two stories", m)).duel.survives(r.shown)
                for m in ("integrated_gradients", "gradient_x_input")], [True, False]),
    (GUIDE, "it calls *doctor* a word against *patient*",
     lambda e: (reasons(e, "Two stories").explained.answer,
                pushes(e, "Two stories", "gradient_x_input")["doctor"] < 0), ("patient", True)),
    (STATIC, "148 examples of sixteen pages",
     lambda e: (len(all_entries(doors(e, FIRST))), len(FEATURES)), (148, 16)),
]  # fmt: skip


@pytest.mark.parametrize(("document", "says", "look", "seen"), OBSERVED,
                         ids=[says for _, says, _, _ in OBSERVED])  # fmt: skip
def test_what_a_document_says_is_what_the_bundled_model_does(
    engine: Engine, document: str, says: str, look: Callable[[Engine], object], seen: object
) -> None:
    assert says in document
    assert look(engine) == seen
