"""The next-sentence page: the model's answer, its two probabilities, the input."""

import pandas as pd

from app.features.next_sentence.result import IS_NEXT, IS_RANDOM, NextSentenceResult
from app.settings import settings
from app.words.blocks import answer, fold, hint, line
from app.words.format import percent, signed
from app.words.html import Html, join, tag, visible
from app.words.notes import calibration_hint, cut_note, trained_note, unread_note
from app.words.pictures import ROWS, Picture, captioned_bars, linked, listed, numbers, picture
from app.words.screen import Screen

INVITATION = "Write a sentence in each box or pick an example."

MEANINGS = {
    IS_NEXT: "The second sentence follows the first",
    IS_RANDOM: "The second sentence does not follow the first",
}
"""What the two labels mean, in the order of every published checkpoint."""

UNDECIDED = 0.6
"""Below this the likelier answer is not called a yes or a no."""

OVERSURE = 0.95
"""From here on the page warns that the number is a poor measure of being right."""

_SURE = (
    "Do order and logic matter to this head, or only the topic? Swap the sentences, or try "
    "“Reversed” and “Contradiction”. "
)
_LABELS = (
    "Label 0 means yes: the second sentence follows. Label 1 means that it does not; in the "
    "training of the first BERT, such a sentence was picked at random. A probability is the "
    "softmax of the two logits, each divided by the temperature. "
)


def before(result: NextSentenceResult) -> Html:
    """Say what the model did not or could not read, before the answer."""
    return join(unread_note(result.unread), cut_note(result.cut))


def verdict(result: NextSentenceResult, model: str = "") -> Html:
    """Draw the model's answer in words; a page names the model, and has the "?" in it."""
    says, more, kind = _answer(result)
    return answer(says, more, kind=kind, about=trust(result, model) if model else "")


def _answer(result: NextSentenceResult) -> tuple[str, str, str]:
    """Return the answer, a second sentence about it, and how it is drawn."""
    meaning = MEANINGS[IS_NEXT if result.follows else IS_RANDOM]
    share = f"{percent(result.confidence)} of the probability of the two answers"
    if result.confidence < UNDECIDED:
        return "undecided", f"“{meaning}” has only {share}.", "bx-open"
    says = f"{meaning[0].lower()}{meaning[1:]}"
    return says, f"{share}.", "" if result.follows else "bx-against"


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


def trust(result: NextSentenceResult, model: str = "") -> Html:
    """Say how far to trust the numbers; link the card of the model, if it is named."""
    return calibration_hint(
        result.calibration, "pairs", trained_note(result.trained_on), _LABELS, _SURE, model=model
    )


def oversure(result: NextSentenceResult) -> Html:
    """Warn if the probability is higher than the model's judgement deserves; else empty."""
    if result.confidence < OVERSURE:
        return join()
    share = percent(result.confidence)
    said = (
        f"{share} holds on average, over pairs like those the temperature was fitted on; for one "
        "kind of pair it may be too high, and too low for another."
        if result.calibration.named
        else f"{share} does not mean that such answers are right that often."
    )
    return fold("Being sure is not being right", line(said))


def model_input(result: NextSentenceResult) -> Html:
    """Draw the row of pieces that the model reads; the line below each is its segment."""
    limit = settings().shown_pieces
    read = result.encoding
    rows = list(zip(read.pieces, read.token_type_ids, read.special_tokens_mask, strict=True))
    shown = [_piece(place, *row) for place, row in enumerate(rows[:limit])]
    if len(rows) > limit:
        shown.append(tag("li", f"… and {len(rows) - limit:,} more"))
    return tag("ul", *shown, class_="bx-nsp-input", aria_label="The input as the model reads it")


def _piece(place: int, token: str, segment: int, added: int) -> Html:
    kind = f"bx-seg{min(segment, 1)}{' bx-special' if added else ''}"
    piece = tag("bdi", visible(token))
    return tag("li", piece, class_=kind, data_at=linked([place]), title=f"segment {segment}")


def input_note(result: NextSentenceResult) -> Html:
    """Explain the row of pieces in one line and a fold."""
    more = hint(
        "[CLS] opens the input, and the answer is read from its vector alone; [SEP] closes each "
        "sentence. Every piece also carries its segment: 0 up to the first [SEP], then 1. "
        f"This input has {len(result.encoding.tokens):,} of at most {result.cut.limit:,} pieces."
    )
    said = line("Solid line: segment 0; dashed: 1.")
    return tag("div", more, said)


def input_table(result: NextSentenceResult) -> pd.DataFrame:
    """Return the input as a table: position, piece, id, segment and origin."""
    origin, read = {0: "first sentence", 1: "second sentence", None: "added"}, result.encoding
    pieces = zip(read.pieces, read.input_ids, read.token_type_ids, read.sequence_ids, strict=True)
    return listed(
        (
            (place, visible(token), number, segment, origin[side], linked([place]))
            for place, (token, number, segment, side) in enumerate(pieces)
        ),
        ("position", "piece", "id", "segment", "from", "at"),
    )


def whole_input(result: NextSentenceResult) -> Html:
    """Draw the input: the row of pieces, its legend, and its table if that is not too long."""
    table = input_table(result)
    fold = numbers(table, "next-sentence-input") if len(table) <= ROWS else join()
    return join(model_input(result), input_note(result), fold)


def screen(result: NextSentenceResult, model: str = "") -> Screen:
    """Say what is shown; a page names the model, and links its card."""
    says, share, _ = _answer(result)
    return Screen(
        f"The model’s answer: {says}. {share}",
        (scores(result), oversure(result), *(() if model else (trust(result),))),
        tabs={"Input": lambda: (whole_input(result),)},
        first=(before(result),),
        answer=verdict(result, model),
        why=True,
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
