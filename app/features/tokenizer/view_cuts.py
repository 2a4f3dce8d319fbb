"""How BPE and Unigram cut one word: the merges one by one, or the best ways to cut it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from app.features.tokenizer.result import BPE, UNIGRAM, readable
from app.words.blocks import hint, line, record_table
from app.words.format import count, signed
from app.words.html import Html, join, tag, visible
from bert_core.text.replay import LONGEST, BpeWord, Segmentation, UnigramWord

SPECIAL = "a special token, taken whole before anything else is done"
CutWord = BpeWord | UnigramWord
_SYMBOLS = 1_500  # drawn of all steps of a word; the table lists them all
_MERGED = (
    "At first each byte is a symbol: a letter of English is one, other signs are two to four. Of "
    "all pairs of neighbours, the one that was merged first in training (of the lowest rank) "
    "becomes one symbol, again and again, until no pair is left that was ever merged. Each row "
    "has the symbols, and framed the pair that is merged next."
)
_SCORED = (
    "The model has a log-probability for every piece, here beside it. A way to cut the word has "
    "the sum of those of its pieces, and the largest sum wins, the one nearest to 0. A difference "
    "of −0.69 means half as likely, −2.3 a tenth. An unknown character counts 10 less than the "
    "least likely piece."
)


def cut_hint(word: CutWord) -> Html:
    """Explain the steps of a word, behind a "?"."""
    return hint(_MERGED if isinstance(word, BpeWord) else _SCORED)


def cut_rows(word: CutWord) -> list[tuple[str, Html]]:
    """Return the steps by which a word was cut, each with its name."""
    if word.special:
        return [("rule", join(SPECIAL))]
    if isinstance(word, BpeWord):
        return _merges(word) if word.merges else [("merges", line(_without_merges(word)))]
    return [("best cuts", _segmentations(word.best) if word.best else line(_too_long(word)))]


def cuts_table(word: CutWord) -> list[dict[str, str | float]]:
    """List all steps of a word, with the exact names of the entries."""
    if isinstance(word, BpeWord):
        return [
            {"step": step, "left": merge.pair[0], "right": merge.pair[1], "rank": merge.rank,
             "symbols before": " ".join(before)}
            for step, (merge, before) in enumerate(zip(word.merges, _states(word), strict=False), 1)
        ]  # fmt: skip
    return [
        {"place": n, "pieces": " ".join(each.pieces),
         "log-probabilities": " ".join(f"{score:.4f}" for score in each.scores),
         "sum": each.score, "to the best": each.score - word.best[0].score}
        for n, each in enumerate(word.best, 1)
    ]  # fmt: skip


def _states(word: BpeWord) -> Iterator[tuple[str, ...]]:
    symbols = word.symbols
    yield symbols
    for at, pair, _ in word.merges:
        symbols = (*symbols[:at], "".join(pair), *symbols[at + 2 :])
        yield symbols


def _merges(word: BpeWord) -> list[tuple[str, Html]]:
    shown = max(1, _SYMBOLS // len(word.symbols))
    rows = [
        (f"rank {merge.rank:,}", _symbols(symbols, merge.at))
        for merge, (symbols, _) in zip(word.merges[:shown], pairwise(_states(word)), strict=False)
    ]
    rest = len(word.merges) - shown
    if rest > 0:
        rows.append(("…", join(f"{count(rest, 'more merge')}, listed in the table below")))
    return rows


def _symbols(symbols: Sequence[str], pair: int) -> Html:
    drawn: list[Html] = []
    for at, symbol in enumerate(symbols):
        chip = tag("bdi", visible(readable(symbol, BPE)))
        if at == pair + 1:
            drawn.append(tag("span", "+"))
        drawn.append(tag("span", chip, class_=f"bx-try{' bx-hit' * (at in (pair, pair + 1))}"))
    return tag("span", join(*drawn, by=" "), class_="bx-tries")


def _segmentations(best: Sequence[Segmentation]) -> Html:
    """Draw the best ways to cut a word as a table, with the number of each piece below it."""
    rows = [
        (_scored(each), signed(each.score, 2), signed(each.score - best[0].score, 2))
        for each in best
    ]
    rows[0] = (*rows[0][:2], "best")
    columns = ("pieces", "log-probability", "to the best")
    return record_table("Best ways to cut it", columns, rows, compact=True)


def _scored(found: Segmentation) -> Html:
    chips = (
        tag(
            "span", tag("bdi", visible(piece)), " ", tag("small", signed(score, 2)), class_="bx-try"
        )
        for piece, score in zip(found.pieces, found.scores, strict=True)
    )
    return tag("span", join(*chips, by=" "), class_="bx-tries")


def _without_merges(word: BpeWord) -> str:
    if len(word.symbols) > LONGEST:
        return _too_long(word)
    if word.symbols == word.pieces:
        return "No two neighbours of these symbols were merged in training."
    return "The vocabulary lacks one of its symbols, so the merges cannot be followed."


def _too_long(word: CutWord) -> str:
    return (
        f"The word has {count(len(word.normalized), 'symbol')}; steps are shown for at most "
        f"{LONGEST}."
    )


EXPLAINED = {
    BPE: (
        "Byte-level BPE changes and drops nothing. The text is split at spaces and around "
        "punctuation, and a space belongs to the word after it (▁; the file writes it Ġ). Each "
        "word is then cut for itself. Click a word to watch its merges."
    ),
    UNIGRAM: (
        "The text is first normalised: signs of the same meaning get one form, and some models "
        "drop capitals and accents. It is split at spaces, each of which becomes a ▁ in front of "
        "its word. Of all ways to cut a word, the likeliest is taken. Click a word to see them."
    ),
}
