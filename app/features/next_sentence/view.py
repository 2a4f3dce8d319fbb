"""The next-sentence page: the model's answer, its two probabilities, the input."""

from app.features.next_sentence.result import IS_NEXT, IS_RANDOM, NextSentenceResult
from app.settings import settings
from app.words.blocks import Html, answer, fold, hint, join, line, tag, visible
from app.words.format import percent, signed
from app.words.notes import calibration_hint, cut_note, trained_note, unread_note
from app.words.pictures import ROWS, Picture, captioned_bars, linked, numbers, picture
from app.words.screen import Screen

INVITATION = "Write a sentence in each box or pick an example."

MEANINGS = {  # what the two labels mean, in the order of every published checkpoint
    IS_NEXT: "The second sentence follows the first",
    IS_RANDOM: "The second sentence does not follow the first",
}

UNDECIDED = 0.6  # below this the likelier answer is not called a yes or a no

OVERSURE = 0.95  # from here on the page warns that the number is a poor measure of being right

_LABELS = (
    "Label 0 means yes: the second sentence follows. Label 1 means that it does not; in the "
    "training of the first BERT, such a sentence was picked at random. A probability is the "
    "softmax of the two logits, each divided by the temperature. "
)
_TRY = (
    "Do order and logic matter to this head, or only the topic? Swap the sentences, or try "
    "“Reversed” and “Contradiction”. "
)


def screen(result: NextSentenceResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links its card."""
    meaning = MEANINGS[IS_NEXT if result.follows else IS_RANDOM]
    after = " (calibrated)" if result.calibration.named else ""
    share = f"{percent(result.confidence)} of the probability of the two answers{after}"
    if result.confidence < UNDECIDED:
        says, more, kind = "undecided", f"“{meaning}” has only {share}.", "bx-open"
    else:
        says, more = f"{meaning[0].lower()}{meaning[1:]}", f"{share}."
        kind = "" if result.follows else "bx-against"
    trained = trained_note(result.trained_on)
    trust = calibration_hint(result.calibration, "pairs", trained, _LABELS, _TRY, model=model)
    return Screen(
        f"The model’s answer: {says}. {more}",
        (scores(result), oversure(result), *(() if model else (trust,))),
        tabs={"Input": lambda: (model_input(result),)},
        first=(unread_note(result.unread), cut_note(result.cut)),
        answer=answer(says, more, kind=kind, about=trust if model else ""),
        why=True,
    )


def scores(result: NextSentenceResult) -> Picture:
    """Draw both probabilities as bars, each with its logit."""
    labels = (IS_NEXT, IS_RANDOM)
    values = [result.probabilities[label] for label in labels]
    printed = [
        f"{percent(value)}, logit {signed(result.logits[label], 2)}"
        for label, value in zip(labels, values, strict=True)
    ]
    names = ["Follows the first (label 0)", "Does not follow (label 1)"]
    decided = result.confidence >= UNDECIDED
    marked = [decided and result.follows, decided and not result.follows]
    return picture(
        "next-sentence",
        lambda width: captioned_bars(names, values, printed, width=width, marked=marked),
        alt=f"Probability {percent(values[0])} that the second sentence follows the first, "
        f"{percent(values[1])} that it does not.",
        table=[
            (label, MEANINGS[label], result.probabilities[label], result.logits[label],
             result.calibration.temperature)
            for label in labels
        ],
        columns=("label", "meaning", "probability", "logit", "temperature"),
    )  # fmt: skip


def oversure(result: NextSentenceResult) -> Html:
    """Warn if the probability is higher than the model's judgement deserves; else empty."""
    if result.confidence < OVERSURE:
        return join()
    share = percent(result.confidence)
    says = (
        f"{share} holds on average, over pairs like those the temperature was fitted on; for one "
        "kind of pair it may be too high, and too low for another."
        if result.calibration.named
        else f"{share} does not mean that such answers are right that often."
    )
    return fold("Being sure is not being right", line(says))


def model_input(result: NextSentenceResult) -> Html:
    """Draw the row of pieces that the model reads, each with its segment, and its table."""
    origin, read = {0: "first sentence", 1: "second sentence", None: "added"}, result.encoding
    pieces = list(zip(read.pieces, read.input_ids, read.token_type_ids, read.sequence_ids,
                      strict=True))  # fmt: skip
    limit = settings().shown_pieces
    shown = [
        tag("li", tag("bdi", visible(token)),
            class_=f"bx-seg{min(segment, 1)}{' bx-special' if side is None else ''}",
            data_at=linked([place]), title=f"segment {segment}")
        for place, (token, _, segment, side) in enumerate(pieces[:limit])
    ]  # fmt: skip
    if len(pieces) > limit:
        shown.append(tag("li", f"… and {len(pieces) - limit:,} more"))
    more = hint(
        "[CLS] opens the input, and the answer is read from its vector alone; [SEP] closes each "
        "sentence. Every piece also carries its segment: 0 up to the first [SEP], then 1. "
        f"This input has {len(pieces):,} of at most {result.cut.limit:,} pieces."
    )
    rows = [
        (place, visible(token), number, segment, origin[side], linked([place]))
        for place, (token, number, segment, side) in enumerate(pieces)
    ]
    heads = ("position", "piece", "id", "segment", "from", "at")
    return join(
        tag("ul", *shown, class_="bx-nsp-input", aria_label="The input as the model reads it"),
        tag("div", more, line("Solid line: segment 0; dashed: 1.")),
        numbers(rows, "next-sentence-input", heads) if len(rows) <= ROWS else "",
    )


def snippet(result: NextSentenceResult, model: str) -> str:
    """Write the same computation in Python."""
    first, second = result.encoding.text, result.encoding.text_pair
    return f"""import torch
from bert_core import BertForNextSentencePrediction, load_tokenizer

name = {model!r}
tokenizer = load_tokenizer(name)
model = BertForNextSentencePrediction.from_pretrained(name)
inputs = tokenizer(
    [{first!r}],
    [{second!r}],
    truncation=True, max_length={result.cut.limit}, return_tensors="pt",
)
with torch.inference_mode():
    logits = model(**inputs)  # label 0: the second sentence follows
temperature = model.config.temperature("BertForNextSentencePrediction")
probabilities = torch.softmax(logits / temperature, dim=-1)
print(probabilities[0].tolist())
"""
