"""Pictures, sentences and tables of an explanation, and of its test.

`view_text` draws the running text, `view_duel` the curves; here are the words, the methods side by
side, and the report.
"""

from collections.abc import Mapping, Sequence

from app.features.why.result import COMPLETE, SIGNED, Duel, Figure, Many, Of, Operator, WhyResult
from app.features.why.view_duel import NAMES, SHORT, curves, figures, gauge, minus, ranking
from app.features.why.view_text import bar, drawn_text, kind_of, lengths
from app.words.blocks import hint, line, note, ticked
from app.words.format import count, percent, shortened, signed
from app.words.html import Html, join, tag, visible
from app.words.lines import units
from app.words.notes import cut_note, gaps_note, shared_note
from app.words.panel import Panel
from app.words.pictures import NARROW, Picture, linked, picture, svg
from app.words.screen import Drawn, Part, Screen

OF_NAMES: dict[Of, str] = {
    "fill_mask": "Fill-mask",
    "qa": "Question answering",
    "ner": "Named entities",
    "next_sentence": "Next sentence",
    "classification": "Classification",
}
BOXES: dict[Of, tuple[str, str]] = {
    "fill_mask": ("Text ([MASK] or ___ hides a word)", ""),
    "qa": ("Passage", "Question"),
    "ner": ("Text", ""),
    "next_sentence": ("First sentence", "Second sentence"),
    "classification": ("Text", "Second text (optional)"),
}
"""What to write into the two boxes; "" for no second box."""

OPERATORS: dict[Operator, str] = {
    "mask": "replaced by [MASK]",
    "attention": "removed from attention",
}
ABOUT = {
    "integrated_gradients": "The gradient, added up on the way from a text of [MASK]s to this one. "
    "The scores sum to what all words together change.",
    "occlusion": "How far the number falls when this word alone is hidden. Words that say the same "
    "cover for each other, so the scores need not sum to anything.",
    "shapley": "What a word adds when words appear one after another, averaged over 10 orders "
    "(all orders up to 7 pieces, 4 orders from 65 tokens). The scores sum to what all words "
    "together change.",
    "attention": "How much the asked piece looks at this word, averaged over all heads and layers. "
    "It is the same for every answer at this place.",
    "attention_last": "How much the asked piece looks at this word in the last layer, averaged "
    "over its heads. It is the same for every answer at this place.",
    "rollout": "Attention multiplied through the layers. It is the same for every answer at this "
    "place.",
    "norms": "Attention times the length of what is carried, through the layers. It is the same "
    "for every answer at this place.",
    "gradient": "How steeply the number changes with this word’s vector: the size only, no sign.",
    "gradient_x_input": "The slope at the text itself times the word’s vector. Common and quick; "
    "the curves below show how well it does here.",
}
KINDS: dict[Of, str] = {
    "fill_mask": "BertForMaskedLM",
    "qa": "BertForQuestionAnswering",
    "ner": "BertForTokenClassification",
    "next_sentence": "BertForNextSentencePrediction",
    "classification": "BertForSequenceClassification",
}
_VERDICTS = {
    True: "Survives deletion:",
    False: "Does not survive deletion:",
    None: "Nothing to compare:",
}
_LEADERS = 3
_ROWS = 30  # words drawn side by side


# -- words -----------------------------------------------------------------------------------------


def before(result: WhyResult) -> Html:
    """Say what must be known first: an untrained head, and what was not read."""
    parts = []
    if result.untrained:
        parts.append(
            note(
                "This model has no trained weights for this answer: it is noise, and so is every "
                "reason for it.",
                caution=True,
            )
        )
    places = [each.place for each in result.words]
    shifts = [len(result.encoding.text) * each.sequence for each in places]
    spans = [(a.start + by, a.end + by) for a, by in zip(places, shifts, strict=True)]
    parts += [gaps_note(result.read_as), shared_note(spans)]
    if result.cut is not None:
        parts.append(cut_note(result.cut))
    if result.part:
        tokens = count(len(result.encoding), "token")
        parts.append(line(f"Explained for the part of the text around the answer, {tokens}."))
    return join(*parts)


def headline(result: WhyResult) -> Html:
    """State the answer and the words that pushed for it and against it."""
    one = result.explained
    whose = "The model’s answer: " if one.own else "Asked for: "
    first = tag(
        "p",
        tag("span", whose, class_="bx-quiet"),
        tag("strong", visible(shortened(one.answer))),
        f" {_likely(result)}",
    )
    return tag("div", first, line(visible(leaders(result))), class_="bx-answer", role="status")


def _likely(result: WhyResult) -> str:
    """Print the probability, and what it is a probability of."""
    one = result.explained
    if not one.unit:
        return ""
    what = f"{one.target} " if result.of == "qa" else ""
    how = " before calibration" if one.calibrated else ""
    return f"({what}{percent(one.probability)}{how})"


def leaders(result: WhyResult) -> str:
    """Name the words with the strongest scores of the shown method."""
    rows = sorted(zip(result.story.scores, result.words, strict=True), key=lambda row: -abs(row[0]))
    if result.method not in SIGNED:
        return f"Strongest: {_listed([word.text for score, word in rows if score > 0])}."
    pro = _listed([word.text for score, word in rows if score > 0])
    con = _listed([word.text for score, word in rows if score < 0])
    return f"For it: {pro}. Against it: {con}."


def _listed(words: Sequence[str]) -> str:
    """Name the first few different words."""
    different = list(dict.fromkeys(f"“{shortened(word, 24)}”" for word in words))
    return ", ".join(different[:_LEADERS]) or "no word"


def _explained(result: WhyResult) -> tuple[Html, Html]:
    """Say which number is explained, and what is not scored."""
    one = result.explained
    change = one.value - one.empty
    return (
        tag("p", f"One number is explained: {visible(one.number)}. It is "
            f"{signed(one.value, 2)} here and {signed(one.empty, 2)} with every word hidden, so "
            f"all words together change it by {signed(change, 2)} {one.unit}. How far the sum of "
            "the scores is from this change, as a share of it, is the completeness gap."),
        tag("p", "Scores belong to words; those of the pieces of a word are added up. [CLS], [SEP] "
            "and the asked [MASK] are not scored. Probabilities here are those of the model’s own "
            "numbers, before the calibration that the other pages use."),
    )  # fmt: skip


def verdict(result: WhyResult, duel: Duel) -> Html:
    """Say in one line whether the shown story survives deletion."""
    shown, chance = duel.curves[result.shown], duel.mean
    survives = duel.survives(result.shown)
    low, high = duel.low.comprehensiveness, duel.high.comprehensiveness
    numbers = (
        f"hiding its strongest words lowers the probability by {minus(shown.comprehensiveness)}, "
        f"random ones by {minus(chance.comprehensiveness)} (5 to 95 %: {minus(low)} to "
        f"{minus(high)})"
    )
    says = _VERDICTS[survives]
    return tag(
        "div",
        tag("div", gauge(duel, result.shown), class_="bx-why-gauge"),
        tag("p", tag("strong", ticked(survives, says)), " ", numbers, "."),
        class_="bx-why-verdict",
    )


def sums(result: WhyResult) -> Html:
    """Compare the sum of the scores with what the words change together, and print the gap."""
    more = hint(tag("p", ABOUT[result.method]), *_explained(result))
    if result.method not in SIGNED:
        said = "Size only: this method does not say for or against."
        return tag("div", more, line(said), class_="bx-why-sums")
    total = sum(result.story.scores)
    change = result.explained.value - result.explained.empty
    said = f"Sum {signed(total, 2)} of {signed(change, 2)} {result.explained.unit}".rstrip()
    other = result.baseline != "[MASK]" and result.method == "integrated_gradients"
    if other:
        said = f"Sum {signed(total, 2)} {result.explained.unit} from {result.baseline}"
    gap = result.story.gap
    if gap is not None:
        said += f": completeness gap {percent(gap, 2, counted=True)}"
        how = "orders" if result.method == "shapley" else "steps"
        said += f" at {result.story.steps:,} {how}"
    elif result.method not in COMPLETE:
        said += "; this method’s scores need not sum to it"
    return tag("div", more, line(f"{said}."), class_="bx-why-sums")


# -- pictures --------------------------------------------------------------------------------------


def text(result: WhyResult) -> Picture:
    """Draw the running text with the scores of the shown method."""
    return picture(
        "why",
        lambda width: drawn_text(result, width),
        alt=f"{NAMES[result.method]} for “{result.explained.answer}”. {leaders(result)}",
        table=text_table(result),
    )


def text_table(result: WhyResult) -> Mapping[str, Sequence[object]]:
    """List the words with the scores of every method."""
    return {
        "word": [visible(word.text) for word in result.words],
        **{NAMES[story.method]: story.scores for story in result.stories},
        "at": [linked(word.pieces) for word in result.words],
    }


def methods(result: WhyResult) -> Picture:
    """Draw the scores of all methods side by side, a row for each word."""
    return picture(
        "why-methods",
        lambda width: _side_by_side(result, width),
        alt="; ".join(
            f"{NAMES[story.method]}: strongest is {_strongest(result, story.scores)}"
            for story in result.stories
        )
        + ".",
        table=text_table(result),
    )


def _strongest(result: WhyResult, scores: Sequence[float]) -> str:
    best = max(range(len(scores)), key=lambda at: abs(scores[at]))
    return shortened(visible(result.words[best].text), 24)


def rows_of(result: WhyResult) -> list[int]:
    """Return the words that are drawn side by side, in reading order: all, or the strongest."""
    reach = [
        max(row)
        for row in zip(*(map(abs, lengths(story.scores)) for story in result.stories), strict=True)
    ]
    return sorted(sorted(range(len(reach)), key=lambda at: -reach[at])[:_ROWS])


def _side_by_side(result: WhyResult, width: int) -> Html:
    names, letters = (120, 13) if width > NARROW else (92, 9)
    shown, many = rows_of(result), len(result.stories)
    panel = Panel((names, width), (84, 84 + 24 * len(shown)), (0, many), (len(shown), 0))
    for y, word in enumerate(result.words[at] for at in shown):
        said = shortened(visible(word.text), letters)
        panel.text(0, y + 0.5, said, -8, class_="bx-svg-name", data_at=linked(word.pieces))
    for column, story in enumerate(result.stories):
        middle = column + 0.5
        place = f"rotate(-50 {units(panel.x(middle) - 8)} 72)"
        kind = "bx-svg-small bx-svg-strong" if story.method == result.method else "bx-svg-small"
        panel.text(middle, 0, SHORT[story.method], -8, -12, class_=kind, transform=place)
        panel.post(middle)
        scaled = lengths(story.scores)
        room = (width - names) / many / 2 - 3
        for y, at in enumerate(shown):
            long = abs(scaled[at]) * room
            left = panel.x(middle) - (long if scaled[at] < 0 else 0)
            kind = kind_of(story.method, scaled[at])
            panel.drawn += bar(left, panel.y(y) + 4, long, 16, kind)
    return svg(width, panel.down[1] + 4, *panel.drawn)


# -- the duel --------------------------------------------------------------------------------------


def duel_note(duel: Duel) -> Html:
    """Explain what the pictures of the duel show."""
    how = OPERATORS[duel.operator]
    more = hint(
        "Pieces are hidden step by step, those with the highest score of a method first; hidden "
        f"pieces are {how}. If the scores are true to the model, the probability must fall fast "
        "(deletion), and the few strongest pieces alone must bring it back (insertion). The grey "
        "band is the range of 20 random orders, without the lowest and the highest 5 %. “Without "
        "them” is the mean fall of the probability when the strongest 10 to 50 % of the pieces are "
        "hidden (comprehensiveness), “with only them” the mean fall when only those are left "
        "(sufficiency; DeYoung et al. 2020)."
    )
    return tag("div", more, line("Grey: random orders; thin: other methods."))


def many_note(many: Many | None, of: Of) -> Html:
    """Say what the duel over several texts says, or that no text suits."""
    if many is None:
        return join()
    if not many.texts:
        return line("No shipped text has an answer of this kind that can be explained.")
    where = "masked words" if many.of == "fill_mask" else f"answers of {OF_NAMES[many.of]}"
    extra = " No questions are shipped, so masked words are explained." if of == "qa" else ""
    return line(
        f"Means over {count(many.texts, 'shipped text')} ({where}) with 95 % intervals; methods "
        f"whose intervals overlap are not told apart.{extra}"
    )


def measured_note(many: Many | None) -> Html:
    """Say what the curves say on this model, measured beforehand, and nothing more."""
    if many is None:
        return line(
            "Nothing was measured beforehand for these weights. Compare the methods over the "
            "shipped texts."
        )
    by = {each.method: each for each in many.figures}
    ties = ", ".join(f"{NAMES[name]} {_comp(by[name])}" for name in _THREE)
    last, mean = by["attention_last"], by["attention"]
    facts = (
        f"{ties}: these are {'' if _tie([by[name] for name in _THREE]) else 'not all '}ties.",
        f"Gradient × input {_comp(by['gradient_x_input'])} is "
        f"{'' if _better(by['gradient_x_input'], by['random']) else 'not '}clearly better than a "
        f"random order ({_comp(by['random'])}); the length of the gradient alone reaches "
        f"{_comp(by['gradient'])}.",
        f"Attention averaged over all layers reaches {_comp(mean)}, the last layer alone "
        f"{_comp(last)}, rollout {_comp(by['rollout'])}. With only the strongest pieces "
        f"left, the probability falls by {_suff(last)} in the order of the last layer and by "
        f"{_suff(mean)} in that of all layers (lower is better).",
    )
    return join(
        tag(
            "p",
            "Mean fall of the probability without the strongest pieces (comprehensiveness; "
            f"higher is better) on this model, over masked words of {many.texts} sentences of an "
            "encyclopedia, ± 95 % interval:",
        ),
        tag("ul", *(tag("li", fact) for fact in facts)),
        line("This is one model and one kind of text; others may differ."),
    )


_THREE = ("shapley", "integrated_gradients", "occlusion")


def _tie(figures: Sequence[Figure]) -> bool:
    """Whether the 95 % intervals of all overlap."""
    return not any(_better(one, other) for one in figures for other in figures)


def _better(one: Figure, other: Figure) -> bool:
    """Whether the 95 % interval of one is above that of the other."""
    low = one.comprehensiveness - one.spread[0]
    return low > other.comprehensiveness + other.spread[0]


def _comp(figure: Figure) -> str:
    return f"{figure.comprehensiveness:.2f} ± {figure.spread[0]:.2f}"


def _suff(figure: Figure) -> str:
    return f"{figure.sufficiency:.2f} ± {figure.spread[1]:.2f}"


# -- faces -----------------------------------------------------------------------------------------


def screen(result: WhyResult, model: str = "") -> Screen:
    """Say what is shown."""
    one = result.explained
    said = f"{'' if one.own else 'Asked for: '}{shortened(visible(one.answer))} {_likely(result)}"
    blocks: list[Part] = [text(result), sums(result)]
    if result.duel is not None:
        said_of_it = verdict(result, result.duel)
        blocks.insert(0, Drawn(said_of_it, "why-verdict", said_of_it))
    blocks.append(methods(result))
    if result.duel is not None:
        blocks += [curves(result, result.duel), ranking(result, result.duel)]
        blocks.append(duel_note(result.duel))
    if result.many is not None:
        blocks += [figures(result.many, "why-texts")] if result.many.texts else []
        blocks.append(many_note(result.many, result.of))
    if result.measured is not None:
        blocks += [measured_note(result.measured), figures(result.measured, "why-measured")]
    return Screen(
        f"{said.strip()}. {NAMES[result.method]}: {visible(leaders(result))}",
        tuple(blocks),
        first=(before(result),),
    )


def snippet(result: WhyResult) -> str:
    """Write the same computation in Python."""
    kind = KINDS[result.of]
    texts = ", ".join(repr(each) for each in read_texts(result))
    name, given = _options(result)
    return f"""from bert_core import {kind}, load_tokenizer
from bert_core.analysis import Target, attribute, by_word, faithfulness

tokenizer = load_tokenizer({result.model!r})
model = {kind}.from_pretrained({result.model!r})
encoding = tokenizer.encode({texts})
target = {result.explained.code}
found = attribute(model, encoding, target, method={name!r}{given})
for word in by_word(found.scores, encoding):
    print(word.text, word.score)
print("completeness gap", found.gap)
curves = faithfulness(model, encoding, target, found.order)
print(curves.deletion, curves.comprehensiveness, curves.random.comprehensiveness)
"""


def read_texts(result: WhyResult) -> list[str]:
    """Return the texts as far as the model read them."""
    whole = [result.encoding.text, result.encoding.text_pair]
    places = [word.place for word in result.words]
    read = []
    for sequence, typed in enumerate(each for each in whole if each is not None):
        own = [place for place in places if place.sequence == sequence]
        partly = own and (result.part or result.cut is not None)
        read.append(typed[own[0].start : own[-1].end] if partly else typed)
    return read


def _options(result: WhyResult) -> tuple[str, str]:
    """Return the method of the library, and its further arguments."""
    if result.method == "attention_last":
        return "attention", ', layers="last"'
    if result.method == "integrated_gradients" and result.baseline != "[MASK]":
        return result.method, f", baseline={result.baseline!r}"
    return result.method, ""
