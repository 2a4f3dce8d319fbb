"""Server time of one action on a page, after warm-up, with the bundled model.

Pages run without a browser (`streamlit.testing`), in a fresh process that is initialised like the
server. The time covers one run of the page, from the changed widget to the finished page:
tokenizer, model, tables, figures, and reading the page by the test driver.

    python -m benchmarks.pages --only attention    # one page, printed
"""

import argparse
import gc
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from app.catalog import Feature, pages
from app.declared import declared
from app.engine.models import open_engine
from app.server.model import warm_up
from app.waiting import VARIABLE, WAIT
from benchmarks.measure import seconds

TITLE = "Pages"
COLUMNS = ("page", "action", "tokens", "median", "lowest to highest", "processor", "reached")
NOTES = (
    "Server time of one action, after warm-up; the goal is a median of 150 ms. A new text is one "
    "that was never seen before; the other actions change how the same text is shown.",
    "Processor: CPU time of all threads, median. A single long text is computed on all cores, so "
    "its CPU time can exceed its time.",
    "The bundled model with default settings; pages that need a head it does not have are left "
    "out. X-ray takes 128 tokens at most. The browser's work is not included.",
)
LENGTHS = (12, 120, 512)
_LONGEST = {"xray": 128}  # tokens that a page takes at most
LIMIT = 0.150  # seconds
_ROOT = Path(__file__).parents[1]
_WORDS_A_SENTENCE = 12
_QUESTION = 8  # tokens
_SHORTEST = 6  # tokens of such a sentence
_SENTENCES = 6  # on the page "Senses", each with its own [CLS] and [SEP]

Step = Callable[[AppTest, int], None]
"""Prepare the n-th round of an action: change a widget of the page without running it."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One line of the table, with the seconds of each round."""

    page: str
    action: str
    tokens: int
    wall: Sequence[float]
    processor: Sequence[float]

    def cells(self) -> tuple[str, ...]:
        """Return the cells in the order of COLUMNS."""
        median = statistics.median(self.wall)
        return (
            self.page,
            self.action,
            str(self.tokens),
            seconds(median),
            f"{seconds(min(self.wall))} to {seconds(max(self.wall))}",
            seconds(statistics.median(self.processor)),
            "yes" if median < LIMIT else "**no**",
        )

    def __str__(self) -> str:
        """Format the line for printing while the benchmark runs."""
        return "  ".join(self.cells())


class Texts:
    """Different texts of an exact number of tokens, the same in every process."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._words = [word for word in vocabulary if word.isascii() and word.isalpha()]
        self._random = random.Random(7)

    def of(self, tokens: int) -> str:
        """Return random whole words of the vocabulary, with a full stop as every 12th token."""
        words = self._random.choices(self._words, k=tokens)
        for place in range(_WORDS_A_SENTENCE - 1, tokens, _WORDS_A_SENTENCE):
            words[place] = "."
        return " ".join(words)

    def boxes(self, slug: str, tokens: int) -> dict[str, str]:
        """Return the contents of a page's text boxes that give this many input tokens."""
        if slug == "next_sentence":  # 3 of the tokens are [CLS], [SEP] and [SEP]
            half = (tokens - 3) // 2
            return {"text": self.of(half), "text_pair": self.of(tokens - 3 - half)}
        if slug == "qa":
            question = self.of(min(_QUESTION, tokens // 3))
            length = tokens - 3 - len(question.split())
            return {"question": question, "text": self.of(length)}
        if slug in {"fill_mask", "why"}:
            return {"text": f"{self.of(tokens - 4)} [MASK] ."}
        if slug == "senses":  # in every sentence the word of the first example
            count = min(_SENTENCES, tokens // _SHORTEST)
            sizes = [tokens * n // count for n in range(count + 1)]
            lines = [
                f"{self.of(end - start - 4)} bank ." for start, end in itertools.pairwise(sizes)
            ]
            return {"text": "\n".join([*lines[: count // 2], "", *lines[count // 2 :]])}
        words = _words_of(slug)
        return {"text": " ".join([self.of(tokens - 2 - len(words)), *words])}


def _words_of(slug: str) -> list[str]:
    """Return what the boxes of one line ask for in the text, as the first example has it.

    Home, "", has no task.
    """
    if not slug:
        return []
    task = declared(slug)
    asked = (each.key for each in task.parameters if each.required and each.field.lines == 1)
    return [str(task.examples[0].values[key]) for key in asked]


def actions(slug: str, texts: Texts, tokens: int) -> Iterator[tuple[str, Step]]:
    """Yield the actions to measure on a page: name and step."""

    def new_text(at: AppTest, _: int) -> None:
        for key, text in texts.boxes(slug, tokens).items():
            at.text_area(key=key).set_value(text)

    def chosen(key: str, *values: Any) -> Step:
        def step(at: AppTest, number: int) -> None:
            at.segmented_control(key=key).set_value(values[number % len(values)])

        return step

    def another_tab(at: AppTest, number: int) -> None:
        labels = [tab.label for tab in at.tabs]
        at.session_state["tab"] = labels[number % len(labels)]

    yield "a new text", new_text
    if slug == "fill_mask":
        yield "more candidates", lambda at, n: _set(at.slider(key="k"), 6 + n % 10)
    if slug == "attention":
        yield "another layer", lambda at, n: _select(at.selectbox(key="layer"), n)
        yield "another head", lambda at, n: _select(at.selectbox(key="head"), n)
        yield "special tokens hidden, shown", lambda at, n: _set(at.toggle(key="special"), n % 2)
        yield "lines and back", chosen("view", "lines", "map")
        yield "another scale", chosen("scale", "common", "own")
    if slug == "qa":
        yield "another threshold", lambda at, n: _set(at.slider(key="threshold"), n % 5)
        yield "longer answers", lambda at, n: _set(at.slider(key="longest"), 31 + n % 10)
        yield "another tab", another_tab
    if slug == "ner":
        yield "another way of reading", chosen("aggregation", "max", "none", "first")
        yield "scores hidden", lambda at, n: _set(at.slider(key="least"), n % 2 / 2)


def _select(widget: Any, number: int) -> None:
    """Choose an option of a list by its number, beginning again after the last."""
    widget.select_index(number % len(widget.options))


def _set(widget: Any, value: float) -> None:
    """Set a widget whose value is a number or a boolean."""
    widget.set_value(bool(value) if type(widget.value) is bool else value)


def can_answer(feature: Feature) -> bool:
    """Return whether the model has the heads that a page needs."""
    engine = open_engine()
    return not any(engine.missing(name) for name in feature.needs)


def measure(feature: Feature, texts: Texts, tokens: int, rounds: int) -> Iterator[Timing]:
    """Measure every action of a page on texts of one length."""
    at = AppTest.from_file(str(_ROOT / feature.page), default_timeout=60)
    _run(at)
    for action, step in actions(feature.slug, texts, tokens):
        wall, processor = [], []
        for number in range(-2, rounds):  # the first two rounds are a warm-up
            step(at, number)
            begin, used = time.perf_counter(), time.process_time()
            _run(at)
            if number >= 0:
                wall.append(time.perf_counter() - begin)
                processor.append(time.process_time() - used)
            gc.collect()  # so that no action pays for an earlier one's garbage
        yield Timing(feature.title, action, tokens, wall, processor)


def _run(at: AppTest) -> None:
    """Run a page and assert that it shows no error or warning."""
    at.run()
    said = [*at.exception, *at.error, *at.warning]
    assert not said, said[0].value


def measure_here(rounds: int, only: str | None = None) -> Iterator[Timing]:
    """Measure all pages, or a single one, in this process."""
    warm_up()
    texts = Texts(list(open_engine().tokenizer.vocab))
    for feature in pages():
        if only in (None, feature.slug) and feature.takes_text and can_answer(feature):
            longest = _LONGEST.get(feature.slug, max(LENGTHS))
            for tokens in (tokens for tokens in LENGTHS if tokens <= longest):
                yield from measure(feature, texts, tokens, rounds)


def rows(quick: bool, only: str | None = None) -> Iterator[Timing]:
    """Measure in a fresh process with the threads and settings of the server."""
    command = [sys.executable, "-m", "benchmarks.pages", "--json", *(["--quick"] if quick else [])]
    command += ["--only", only] if only else []
    kept = {key: value for key, value in os.environ.items() if "BERT_EXPLORER" not in key}
    environment = kept | {VARIABLE: WAIT}
    with subprocess.Popen(
        command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            values: dict[str, Any] = json.loads(line)
            yield Timing(**values)
    if process.returncode:
        raise RuntimeError(f"Measuring the pages ended with status {process.returncode}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print timings, as readable lines or as JSON for `rows`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--only", choices=[feature.slug for feature in pages()])
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", action="store_true", help="measure here, print JSON")
    options = parser.parse_args(arguments)
    if options.json:
        for timing in measure_here(3 if options.quick else 9, options.only):
            print(json.dumps(asdict(timing)), flush=True)
    else:
        for timing in rows(options.quick, options.only):
            print(timing, flush=True)


if __name__ == "__main__":
    main()
