"""The documents for visitors and teachers: links lead somewhere, and observations hold."""

import re
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image

from app.catalog import FEATURES, examples, feature, pages
from app.declared import all_declared
from app.engine.models import Engine, open_engine
from app.faces.streamlit.address import old_labels
from app.features.input.task import input as input_parts
from app.features.model_card.view import TABS
from app.features.ner.task import ner
from app.features.tokenizer.task import tokenizer
from app.features.variants.task import variants
from bert_core import BertForMaskedLM
from tools.documents import anchor, tables
from tools.observations import QUOTES
from tools.quotes import Quote
from tools.screenshots import LIMIT, PICTURES, SIZE

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/guide.md", "docs/teaching.md", "docs/static-space.md")
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
GUIDE, TEACHING = (" ".join(TEXTS[name].split()) for name in PAGES[1:3])


@pytest.fixture(scope="module")
def engine() -> Engine:
    return open_engine()


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as GitHub and mkdocs make them."""
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {anchor(head) for head in heads}


def test_the_guide_has_a_chapter_and_a_picture_for_each_page() -> None:
    chapters = re.findall(r"^## (.*)$", TEXTS["docs/guide.md"], re.M)
    assert chapters == ["Home", *(row.title for row in pages())]
    shown = re.findall(r"\(pictures/(\w+)\.webp\)", TEXTS["docs/guide.md"])
    assert shown == ["home", *(row.slug for row in pages())]
    assert {path.stem for path in PICTURES.iterdir()} == set(shown)


def test_every_chapter_says_six_things() -> None:
    """What is given, what is seen, how to read it, what not to conclude, and two things to try."""
    for chapter in TEXTS["docs/guide.md"].split("\n## ")[1:]:
        assert len(re.findall(r"^- \*\*(.*?)\*\*", chapter, re.M)) == 6, chapter[:40]


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
        file, _, place = link.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.resolve().is_relative_to(ROOT)
        assert path.exists(), link
        assert not place or place in anchors(path.read_text(encoding="utf-8")), link


def test_links_for_students_name_pages_and_their_widgets() -> None:
    links = re.findall(r"`(/\w+\?[^`]*)`", TEXTS["docs/teaching.md"])
    assert len(links) == 4
    for link in links:
        parts = urlsplit(link)
        given = parse_qs(parts.query, strict_parsing=True)
        script = (ROOT / feature(parts.path[1:]).page).read_text(encoding="utf-8")
        controls = ROOT / "app/faces/streamlit/features" / f"{parts.path[1:]}.py"
        script += controls.read_text(encoding="utf-8") if controls.exists() else ""
        for key in given.keys() - {"text", "present"}:
            assert f'"{key}"' in script or (key == "tab" and "open_tab(" in script), link
        keys = {old_labels()["tab"][title] for title in TABS}
        assert given.get("tab", [*keys])[0] in keys


@pytest.mark.parametrize(("page", "table"), tables(), ids=[page.name for page, _ in tables()])
def test_tables_of_documents_say_what_is_declared(page: Path, table: str) -> None:
    assert table in page.read_text(encoding="utf-8"), "Run `python -m tools.derive api`."


def test_the_tables_have_every_page_and_every_task() -> None:
    api, _, listed_pages, tested = (table for _, table in tables())
    listed = re.findall(r"^\| `(\w+)` \|", api, re.M)
    assert listed == [each.feature.slug for each in all_declared()] and "lab_finetune" in listed
    titles = [row.title for row in FEATURES]
    assert re.findall(r"^\| \[(.*?)\]", listed_pages, re.M) == [
        "Home",
        *(row.title for row in pages()),
    ]
    assert re.findall(r"^\| ([^|]+?) \|", tested, re.M)[1:] == titles
    for name in re.findall(r"`(tests/\S+)`", tested):
        assert list((ROOT / name).glob("test_*.py")), name


def test_the_page_on_torch_hub_runs_and_the_readme_names_its_entries() -> None:
    text = (ROOT / "docs/reference/hub.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names: dict[str, object] = {}
    with chdir(ROOT):
        exec(compile(source, "hub.md", "exec"), names)  # noqa: S102  code from our own page
    assert isinstance(names["model"], BertForMaskedLM) and "::: hubconf" in text
    entries = re.findall(r"^def (\w+)", (ROOT / "hubconf.py").read_text(encoding="utf-8"), re.M)
    assert entries and all(f"`{name}`" in TEXTS["README.md"] for name in entries[:2])


# --- what the documents say of the model --------------------------------------------------------


UNRELATED = (
    # Numbers of texts, sizes, pages and limits: nothing of the model, or of all models.
    r"the 95 % interval is|the 95 % interval of|it is the 95 % interval|is the 95 % interval above",
    r"a mere guess has 25 %|for which it says 70 %, about 70 of 100|of 100 saved",
    r"\d+ % of [a-z]+ visitors",
    r"## Exercises in the lab.*?(?=## )",  # of models that the reader trains
)
NUMERAL = re.compile(r"−?\d+(?:\.\d+)?")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d+)? (?:%|of (?:the )?\d+\b|nats|bits)")


@pytest.mark.parametrize("quote", QUOTES, ids=[quote.says for quote in QUOTES])
def test_what_a_document_quotes_is_what_the_bundled_model_does(
    engine: Engine, quote: Quote
) -> None:
    for found, said in zip(
        quote.look(engine), quote.find(TEXTS[quote.document]).groups(), strict=True
    ):
        assert alike(str(found), " ".join(said.split())), "Run `python -m tools.derive quotes`."


def alike(found: str, said: str) -> bool:
    """Return whether two values are equal, but for 1 in the last digit of a number.

    How a number is rounded may depend on the processor and the number of threads.
    """
    pairs = zip(NUMERAL.findall(found), NUMERAL.findall(said), strict=False)
    near = (
        abs(
            int(one.replace("−", "-").replace(".", ""))
            - int(two.replace("−", "-").replace(".", ""))
        )
        <= 1
        for one, two in pairs
    )
    return NUMERAL.sub("0", found) == NUMERAL.sub("0", said) and all(near)


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/teaching.md"])
def test_no_share_is_quoted_by_hand(name: str) -> None:
    text = TEXTS[name]
    for quote in (each for each in QUOTES if each.document == name):
        found = quote.find(text)
        text = text[: found.start()] + "#" * len(found[0]) + text[found.end() :]
    text = re.sub("|".join(UNRELATED), "#", " ".join(text.split()))
    by_hand = [text[max(0, m.start() - 40) : m.end() + 20] for m in NUMBER.finditer(text)]
    assert by_hand == [], "Take the number away, or add the sentence to tools/observations.py."


# --- what documents say of the code -------------------------------------------------------------


def pieces(engine: Engine, text: str) -> str:
    return " ".join(piece.token for piece in tokenizer(engine, text).pieces(50)[1:-1])


def names(engine: Engine, text: str) -> list[tuple[str, float]]:
    return [(each.label, round(each.score, 6)) for each in ner(engine, text).reading.entities]


def the_twice(engine: Engine) -> bool:
    found = input_parts(engine, str(examples("input")[0].values["text"]))
    first, second = (n for n, token in enumerate(found.tokens) if token == "the")
    same = np.array_equal(found.word[first], found.word[second])
    return same and not np.allclose(found.sum[first], found.sum[second])


def albert_twice(engine: Engine) -> tuple[float, float]:
    found = variants(engine, "albert", layers=24)
    ratio = found.own.flops.total / found.family[2].flops.total
    return round(found.own.parameters.total / 1e6, 1), round(ratio, 1)


def near_only(engine: Engine) -> tuple[int, int, int]:
    reaches = variants(engine, length=8_192).family[-1].architecture.reaches(8_192)
    return sum(seen < 8_192 for seen in reaches), len(reaches), min(reaches)


HELD = re.compile(r"`[^`]+`|\d+(?:[.,]\d+)*")
"""What must be in the document: numbers and code, however their sentence is put."""

FOUR = str(examples("ner")[0].values["text"])
# Vocabulary, architecture and configurations, but not the values of the weights.
SAID: list[tuple[str, str, Callable[[Engine], object], object]] = [
    (GUIDE, "falls into 13 pieces",
     lambda e: len(pieces(e, "Der Schmetterling fliegt über die Wiese.").split()), 13),
    (GUIDE, "The first is one piece", lambda e: pieces(e, "unhappy"), "unhappy"),
    (GUIDE, "`un ##ha ##pp ##iness`", lambda e: pieces(e, "unhappiness"), "un ##ha ##pp ##iness"),
    (GUIDE, "`books ##hel ##f`", lambda e: pieces(e, "bookshelf"), "books ##hel ##f"),
    (GUIDE, "The answer is the same to the digit",
     lambda e: names(e, FOUR) == names(e, FOUR.lower()), True),
    (GUIDE, "Their word vectors are equal; after the position is added they are not",
     the_twice, True),
    (GUIDE, "11.7 million parameters, and computes twice as much", albert_twice, (11.7, 2.0)),
    (GUIDE, "in 14 of its 22 layers a token sees only the 129 nearest tokens",
     near_only, (14, 22, 129)),
    (TEACHING, "`un ##ha ##pp ##iness`, `unhappy`",
     lambda e: pieces(e, "unhappiness, unhappy"), "un ##ha ##pp ##iness , unhappy"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "says", "look", "seen"), SAID,
                         ids=[says for _, says, _, _ in SAID])  # fmt: skip
def test_what_a_document_says_is_true(
    engine: Engine, document: str, says: str, look: Callable[[Engine], object], seen: object
) -> None:
    assert look(engine) == seen
    for value in HELD.findall(says):
        assert value in document, f"no longer said: {value}"
