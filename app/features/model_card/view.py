"""The model card: what the model can and cannot, its calibration, and BERT base compared."""

import math
from collections.abc import Sequence

from app.features.model_card.result import Beside, ModelCardResult, Temperature
from app.words.blocks import Html, fold, hint, join, line, record_table, tag, visible
from app.words.format import percent, signed, too_sure
from app.words.pictures import Frame, listed
from app.words.screen import Screen
from bert_core.bundled import bundled_names
from bert_core.bundled.figures import Figure
from bert_core.bundled.leanings import Bias, Leaning

ABLE, CALIBRATION, COMPARED = "What it can and cannot", "Calibration", "Compared with BERT base"
TABS = (ABLE, CALIBRATION, COMPARED)
"""The parts of the card; other pages link to `model_card?tab=calibration`."""

_VERBS: dict[tuple[str, str], str] = {
    ("next sentence, random", ""): "tell the next sentence from one of another text",
    ("has an answer or not", ""): "say whether a passage has the answer to a question",
    ("sentiment", "SST-2 test"): "judge sentences of film reviews",
    ("named entities (PER, LOC, ORG), F1", "ner/test"): "find names with the right ends and kind",
    ("multiple choice, nextsentence", ""): "choose the continuation out of four",
    ("sentiment", "40 own sentences with a negation or a contrast"): "judge sentences with a "
    "negation or a contrast",
    ("everyday gap, among first five", ""): "fill an everyday gap within five guesses",
    ("question answering, exact match", ""): "answer questions about a passage word for word",
    ("masked word, first guess", ""): "guess a hidden word of Wikipedia on the first try",
    ("short sentence, first guess", ""): "guess a hidden word of a short sentence on the first try",
    ("multiple choice, openstax", ""): "answer textbook questions with four choices",
    ("next sentence, swapped", ""): "notice that two sentences are swapped",
}
"""What a figure measures, as something that one can do: (task, data) -> words; "" for any data."""

_ABLE_FROM = 2 / 3
_MOST = 12  # sentences
_NO_SKILL = ("calibration error", "bias")  # how the names of such figures begin


def _share(share: float | None) -> str:
    """Format a figure so that number and sign stay on one line of a narrow table."""
    return percent(share, counted=True).replace(" ", "\u00a0")


def skills(figures: Sequence[Figure]) -> dict[str, Figure]:
    """Return what was measured of a model, best first: something one can do -> its figure."""
    measured = [
        each for each in figures if not each.lower_is_better and not each.task.startswith(_NO_SKILL)
    ]
    found: dict[str, Figure] = {}
    for each in measured:
        words = _VERBS.get((each.task, each.measured_on)) or _VERBS.get((each.task, ""))
        if words:
            found.setdefault(words, each)
    if not found:
        found = {f"{visible(each.task)} ({visible(each.measured_on)})": each for each in measured}
    ranked = sorted(found.items(), key=lambda each: -each[1].share)
    return dict(ranked[:_MOST])


def _able(figure: Figure) -> bool:
    return figure.share >= _ABLE_FROM and figure.low > (figure.chance or 0)


def able(figures: Sequence[Figure]) -> Html:
    """Draw what the model can and what it often cannot, with the figures."""
    if not figures:
        return tag(
            "p",
            "No figures are stored beside these weights, so it is not known here how well this "
            "model does. The text of its card may say more.",
        )
    found = skills(figures)
    more = hint(
        "Shares of test cases that the model had never read; “can” stands for at least two of "
        "three, and better than chance. In brackets the 95 % interval: about 95 of a hundred such "
        "intervals contain the share that endlessly many such cases would give. All figures, with "
        "their data, and the minimum and the goal that were set before training, are in the file "
        "figures.json and in the Save menu."
    )
    parts: list[Html] = [more]
    for title, can in (("It can", True), ("It often fails to", False)):
        items = [
            tag("li", words, ": ", tag("strong", _share(each.share)), f" {_around(each)}")
            for words, each in found.items()
            if _able(each) is can
        ]
        heading = tag("h2", title, class_="bx-card-title")
        parts += [heading, tag("ul", *items)] if items else []
    return tag("div", *parts, class_="bx-card-able")


def _around(figure: Figure) -> str:
    chance = "" if figure.chance is None else f"; chance {_share(figure.chance)}"
    return f"({100 * figure.low:.1f}–{100 * figure.high:.1f}{chance})"


def figures_table(figures: Sequence[Figure]) -> Frame:
    """List all figures with their floors and goals, for a file."""
    return listed(
        (
            (visible(each.task), visible(each.measured_on), each.share, each.low, each.high,
             each.cases, each.floor, each.goal, each.chance, each.lower_is_better,
             visible(each.meaning))
            for each in figures
        ),
        ("task", "measured on", "share", "95 % from", "95 % to", "cases", "floor", "goal",
         "chance", "less is better", "meaning"),
    ).round(4)  # fmt: skip


def of_calibration(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """Return the calibration errors."""
    return tuple(each for each in figures if each.task.startswith(_NO_SKILL[0]))


def temperatures_table(rows: Sequence[Temperature]) -> Html:
    """Draw the temperature of every kind of answer."""
    if not rows:
        return line("This model has no trained head whose answers are probabilities.")
    cells = [
        (
            tag("strong", each.answers),
            f"{each.calibration.temperature:.2f}" if each.calibration.named else "1 (not fitted)",
            visible(each.calibration.fitted_on) or "–",
        )
        for each in rows
    ]
    return record_table("Temperatures", ("answers", "temperature", "fitted on"), cells)


def calibration_note(errors: Sequence[Figure]) -> Html:
    """Explain calibration."""
    explained = hint(
        "Logits are divided by the temperature before the softmax. It was fitted on other texts "
        "than those measured, so that about seven in ten answers with 70 % are right; 1 leaves "
        "the logits as they are. The calibration error says how far the percentages are, on "
        "average, from the share of right answers. “Right here” counts the cases of this "
        "measurement, which need not be those of the figures in the first tab: masked words, for "
        "example, are hidden at random anew."
    )
    if not errors:
        return join(explained, line("How far the percentages can be trusted was not measured."))
    return join(explained, line("Can its percentages be trusted? The smaller the error, the more."))


def errors_table(errors: Sequence[Figure]) -> Html:
    """Draw how far stated probabilities are from the share of right answers, and which way."""
    if not errors:
        return join()
    rows = [
        (
            join(
                tag("strong", visible(each.task.removeprefix(_NO_SKILL[0]).lstrip(", "))),
                tag("br"),
                tag("small", visible(each.measured_on)),
            ),
            _share(each.share),
            _share(each.stated),
            _share(each.right),
            "–" if each.stated is None or each.right is None else too_sure(each.stated, each.right),
        )
        for each in errors
    ]
    columns = ("answers", "calibration error", "average probability", "right here", "it is")
    return record_table("Probabilities and right answers", columns, rows, compact=True)


def compared(rows: Sequence[Beside]) -> Html:
    """Compare this model with BERT base, which most papers and courses are about."""
    items = [
        tag("li", tag("strong", f"{each.what}: "), visible(each.here), f"; BERT base: {each.base}")
        for each in rows
    ]
    note = line(
        "What is shown of this model need not hold for BERT base, nor the reverse. Layers count "
        "from 0. BERT base: Devlin et al. 2019; attention: Clark et al. 2019."
    )
    return join(tag("ul", *items), note)


def screen(card: ModelCardResult) -> Screen:
    """Say what is shown."""
    says = "Nothing was measured on this model."
    if card.figures:
        found = skills(card.figures)
        can = sum(map(_able, found.values()))
        says = f"Of {len(found)} tasks measured, it can do {can} and often fails at the others."
    errors = errors_table(of_calibration(card.figures))
    parts = able(card.figures), errors, biases(card.bias), compared(card.beside), card_text(card)
    return Screen(says, parts, first=(trouble(card),))


def card_text(card: ModelCardResult) -> Html:
    """Draw the card as its makers wrote it, folded: Markdown as it is typed, never markup."""
    if not card.text.strip():
        return tag(
            "p",
            "No card (a file README.md) is stored beside these weights. What the model was trained "
            "on, its licence and its limits are not known here.",
        )
    part = f" It has {card.text_bytes:,} bytes; only the beginning is shown."
    return fold(
        "The card as its makers wrote it",
        line(f"The file README.md beside the weights.{'' if card.whole else part}"),
        tag("div", visible(card.text), class_="bx-text bx-card-text"),
    )


def snippet(_: ModelCardResult, model: str) -> str:
    """Write the reading of the figures and the verification in Python."""
    if model in bundled_names():
        before = "from bert_core.bundled import bundled_folder\n"
        folder = f"bundled_folder({model!r})"
    else:
        before, folder = "", f"{model!r}  # its folder"
    return f"""{before}from bert_core.bundled.figures import read_figures
from bert_core.verification import verify

folder = {folder}
for figure in read_figures(folder):
    print(figure.task, figure.measured_on, figure.share)
report = verify(folder)
print(report.ok, report.difference)
"""


def trouble(result: ModelCardResult) -> Html:
    """List the files in the model's folder that could not be read."""
    if not result.problems:
        return join()
    items = [tag("li", visible(each)) for each in result.problems]
    says = tag("p", tag("strong", "Not everything beside the weights could be read."))
    return tag("div", says, tag("ul", *items), class_="bx-note bx-caution", role="alert")


# -- biases ----------------------------------------------------------------------------------------


def times(log_odds: float) -> str:
    """Express log-odds as a factor that is easy to picture.

    >>> times(2.302585), times(-0.693147), times(0.0)
    ('10 times', '2.0 times', '1.0 times')
    """
    factor = math.exp(min(abs(log_odds), 30.0))
    return f"{factor:,.0f} times" if factor >= 9.95 else f"{factor:.1f} times"


def biases(found: Bias | None) -> Html:
    """Say how one-sided the model is, and which occupations lean furthest towards which word."""
    if found is None:
        return line("Biases: not measured; there is no bias.json beside the weights.")
    first, second = (visible(word) for word in found.words)
    says = (
        f"In a sentence about an occupation, it prefers “{first}” or “{second}”: on average, the "
        f"preferred word is {times(found.skew.value)} as likely."
    )
    ranked = sorted(found.leanings, key=lambda lean: -lean.log_odds.value)
    if ranked:
        says += f" {_end(ranked[0], first, leans=ranked[0].log_odds.value > 0)}"
        says += f" {_end(ranked[-1], second, leans=ranked[-1].log_odds.value < 0)}"
    return tag("div", _explained(found), tag("p", tag("strong", "Biases. "), says))


def _end(lean: Leaning, word: str, *, leans: bool) -> str:
    """Name the occupation at one end, even if it does not lean to that side."""
    named = visible(lean.occupation)
    if leans:
        return f"Furthest towards “{word}”: {named}."
    return f"None leans towards “{word}”; nearest to it: {named}."


def _explained(found: Bias) -> Html:
    first, second = (visible(word) for word in found.words)
    skew, neutral = found.skew, first if found.neutral > 0 else second
    return hint(
        tag(
            "p",
            f"Log-odds {skew.value:.2f} nats, 95 % interval {skew.low:.2f} to {skew.high:.2f}; 0 "
            f"would be even. Where no occupation is named, “{neutral}” is {times(found.neutral)} "
            "as likely.",
        ),
        tag(
            "p",
            f"Source: bias.json beside the weights. {len(found.leanings):,} occupations in "
            f"{len(found.templates):,} kinds of sentences, once with the occupation named and "
            f"“{first}” or “{second}” left open, once the other way round. Only two words are "
            "compared, and other sentences would give other numbers. A small number is no proof of "
            "fairness.",
        ),
        tag("p", _listed(found)) if found.leanings else join(),
    )


def _listed(found: Bias) -> str:
    ranked = sorted(found.leanings, key=lambda lean: -lean.log_odds.value)
    named = (f"{visible(each.occupation)} {signed(each.log_odds.value, 2)}" for each in ranked)
    return f"Log-odds, above 0 for “{visible(found.words[0])}”: {', '.join(named)}."
