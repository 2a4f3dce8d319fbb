"""Words, running text and tables of an explanation; `view_check` draws the test of the scores."""

from collections.abc import Iterator, Sequence

from app.features.why.result import COMPLETE, HEADS, SIGNED, Method, Of, WhyResult, Word
from app.features.why.view_check import NAMES, curves, explanation, verdict
from app.words.blocks import Html, hint, join, line, note, tag, visible
from app.words.format import count, percent, shortened, signed
from app.words.notes import cut_note, gaps_note, shared_note
from app.words.pictures import ROWS, Frame, linked, listed, numbers
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

ABOUT: dict[Method, str] = {
    "integrated_gradients": "The gradient, added up on the way from a text of [MASK]s to this one. "
    "The scores sum to what all words together change.",
    "occlusion": "How far the number falls when this word alone is hidden. Words that say the same "
    "cover for each other, so the scores need not sum to anything.",
    "shapley": "What a word adds when words appear one after another, averaged over 10 orders "
    "(all orders up to 7 pieces, 4 orders from 65 tokens). The scores sum to what all words "
    "together change.",
    "attention": "How much the asked piece looks at this word, averaged over all heads and layers: "
    "for contrast. It is the same for every answer at this place.",
}
_LEADERS = 3


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


def headline(result: WhyResult) -> str:
    """State the answer and the words that pushed for it and against it."""
    asked = "" if result.explained.own else "Asked for: "
    answer = f"{asked}{_named(result)} {_likely(result)}".strip()
    return f"{answer}. {NAMES[result.story.method]}: {visible(leaders(result))}"


def answer(result: WhyResult) -> Html:
    """Draw the headline."""
    whose = "The model’s answer: " if result.explained.own else "Asked for: "
    first = tag("p", tag("span", whose, class_="bx-quiet"), tag("strong", _named(result)),
                f" {_likely(result)}")  # fmt: skip
    return tag("div", first, line(visible(leaders(result))), class_="bx-answer", role="status")


def _named(result: WhyResult) -> str:
    shown = visible(shortened(result.explained.answer))
    return f"“{shown}”" if result.of in ("fill_mask", "qa") else shown


def _likely(result: WhyResult) -> str:
    """Print the probability, and what it is a probability of."""
    one = result.explained
    if not one.unit:
        return ""
    what = f"{one.target} " if result.of == "qa" else ""
    if one.calibrated is None:
        return f"({what}{percent(one.probability)})"
    after = percent(one.calibrated)
    return f"({percent(one.probability)} before calibration; {after} after)"


def leaders(result: WhyResult) -> str:
    """Name the words with the strongest scores."""
    rows = sorted(zip(result.story.scores, result.words, strict=True), key=lambda row: -abs(row[0]))
    if result.story.method not in SIGNED:
        return f"Strongest: {_listed([word.text for score, word in rows if score > 0])}."
    pro = _listed([word.text for score, word in rows if score > 0])
    con = _listed([word.text for score, word in rows if score < 0])
    return f"For it: {pro}. Against it: {con}."


def _listed(words: Sequence[str]) -> str:
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
            "and the asked [MASK] are not scored. What is explained is the model’s own number, "
            "before calibration."),
    )  # fmt: skip


def sums(result: WhyResult) -> Html:
    """Compare the sum of the scores with what the words change together."""
    more = hint(tag("p", ABOUT[result.story.method]), *_explained(result))
    if result.story.method not in SIGNED:
        says = "Size only: this method does not say for or against."
        return tag("div", more, line(says), class_="bx-why-sums")
    total = sum(result.story.scores)
    change = result.explained.value - result.explained.empty
    says = f"Sum {signed(total, 2)} of {signed(change, 2)} {result.explained.unit}".rstrip()
    gap = result.story.gap
    if gap is not None:
        says += f": completeness gap {percent(gap, 2, counted=True)}"
        how = "orders" if result.story.method == "shapley" else "steps"
        says += f" at {result.story.steps:,} {how}"
    elif result.story.method not in COMPLETE:
        says += "; this method’s scores need not sum to it"
    return tag("div", more, line(f"{says}. {_against(result)}".strip()), class_="bx-why-sums")


def _against(result: WhyResult) -> str:
    """Explain a sum that speaks against the answer it belongs to; else empty."""
    one = result.explained
    if one.value >= one.empty:
        return ""
    if not one.unit:
        return "The sum is negative: with every word hidden, the score would be higher."
    though = ", though not enough to change it" if one.own else ""
    return (
        "The sum is negative: with every word hidden, the model gives this answer a higher "
        f"probability. Together, the words speak against it{though}."
    )


# -- pictures --------------------------------------------------------------------------------------


def text(result: WhyResult) -> Html:
    """Draw the running text with the scores, and list those of the first words."""
    says = f"{NAMES[result.story.method]} for “{result.explained.answer}”. {leaders(result)}"
    table = numbers(text_table(result)[:ROWS], "why")
    below = -min(lengths(result.story.scores), default=0.0)
    texts = (
        tag("p", *_marked(result, sequence), class_="bx-text bx-why-text", dir="auto",
            style=f"--bx-below:{max(0.0, below):.3f}")
        for sequence in sorted({word.place.sequence for word in result.words})
    )  # fmt: skip
    marked = tag("div", *texts, _key(result), role="group", aria_label=visible(says))
    return tag("figure", marked, table, class_="bx-picture", data_name="why")


def text_table(result: WhyResult) -> Frame:
    """List the words with their scores."""
    return listed({
        "word": [visible(word.text) for word in result.words],
        NAMES[result.story.method]: result.story.scores,
        "at": [linked(word.pieces) for word in result.words],
    })  # fmt: skip


# -- screen ----------------------------------------------------------------------------------------


def screen(result: WhyResult) -> Screen:
    """Say what is shown."""
    check, drawn = result.check, text(result)
    blocks: list[Part] = [Drawn(drawn, "why", drawn), sums(result)]
    if check is not None:
        says = verdict(check)
        blocks.insert(0, Drawn(says, "why-verdict", says))
        blocks += [curves(result, check), explanation(check)]
    return Screen(headline(result), tuple(blocks), first=(before(result),))


def snippet(result: WhyResult) -> str:
    """Write the same computation in Python."""
    kind = HEADS[result.of].__name__
    texts = ", ".join(repr(each) for each in read_texts(result))
    method = result.story.method
    return f"""from bert_core import {kind}, load_tokenizer
from bert_core.analysis import Target, attribute, by_word, faithfulness

tokenizer = load_tokenizer({result.model!r})
model = {kind}.from_pretrained({result.model!r})
encoding = tokenizer.encode({texts})
target = {result.explained.code}
found = attribute(model, encoding, target, method={method!r})
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


def lengths(scores: Sequence[float]) -> list[float]:
    """Return the lengths of bars, negative ones downwards; the longest is 1.

    >>> lengths([2.0, -1.0, 0.0])
    [1.0, -0.5, 0.0]
    """
    most = max(map(abs, scores), default=0.0) or 1.0
    return [score / most for score in scores]


def _marked(result: WhyResult, sequence: int) -> Iterator[Html | str]:
    """Yield one of the texts: its words with their bars, the answer in a frame."""
    scores = result.story.scores
    rows = [
        row
        for row in zip(result.words, scores, lengths(scores), strict=True)
        if row[0].place.sequence == sequence
    ]
    typed = (result.encoding.text_pair if sequence else result.encoding.text) or ""
    asked = [each for each in result.explained.places if each.sequence == sequence]
    done, last = rows[0][0].place.start, rows[-1][0].place.end
    edges = {edge for each in asked for edge in (each.start, each.end) if done <= edge <= last}
    edges |= {edge for word, *_ in rows for edge in (word.place.start, word.place.end)}
    for end in sorted(edges - {done}):
        shown: Html | str = visible(typed[done:end])
        for word, score, length in rows:
            if word.place.start <= done and end <= word.place.end:
                shown = _bar(result, word, shown, score, length)
                break
        if any(each.start <= done and end <= each.end for each in asked):
            shown = tag("span", shown, class_="bx-why-asked")
        yield shown
        done = end


def _bar(result: WhyResult, word: Word, shown: Html | str, score: float, length: float) -> Html:
    """Draw the letters of a word with its bar; it says its score when it is pointed at."""
    return tag(
        "mark", shown, class_=f"bx-why-bar bx-why-{kind_of(result.story.method, score)}",
        style=f"--bx-high:{abs(length):.3f}", data_at=linked(word.pieces),
        title=f"{visible(word.text)}: {printed(result, score)}",
    )  # fmt: skip


def printed(result: WhyResult, score: float) -> str:
    """Print a score, with its sign if the method has one."""
    return signed(score, 3) if result.story.method in SIGNED else f"{score:.3f}"


def kind_of(method: str, score: float) -> str:
    """Return what a bar says: "for" or "against" the answer, "size" without a sign, or "none".

    >>> kind_of("shapley", -0.5), kind_of("attention", 0.1)
    ('against', 'size')
    """
    if not score:
        return "none"
    if method not in SIGNED:
        return "size"
    return "for" if score > 0 else "against"


def _key(result: WhyResult) -> Html:
    signs = result.story.method in SIGNED
    unit = f" {result.explained.unit}" if signs else ""
    most = max(map(abs, result.story.scores), default=0.0)
    kinds = (
        [("for", "for the answer"), ("against", "against it")]
        if signs
        else [("size", "size only, no sign")]
    )
    samples = (
        tag(
            "span", tag("span", class_=f"bx-why-bar bx-why-{kind}", aria_hidden="true"), f" {says} "
        )
        for kind, says in kinds
    )
    return tag("p", *samples, f"longest: {most:.2f}{unit}", class_="bx-line bx-why-key")
