"""The next-sentence page: verdict, bars, labels, warning, input and truncation."""

import pandas as pd

from app.features.next_sentence.result import IS_NEXT, IS_RANDOM, NextSentenceResult
from app.settings import settings
from app.words.blocks import line, note, share_bar
from app.words.format import percent, signed
from app.words.html import Html, join, tag, visible
from app.words.notes import calibrated

HINTS = ("She opened the window.", "Cold air came in.")
"""What the empty boxes suggest."""

MEANINGS = {
    IS_NEXT: "the second sentence follows the first",
    IS_RANDOM: "the second sentence was picked at random",
}
"""What the two labels mean, in the order of every published checkpoint."""

UNDECIDED = 0.6
"""Below this the likelier answer is not called a yes or a no."""

OVERSURE = 0.95
"""From here on the page warns that the number is a poor measure of being right."""


def verdict(result: NextSentenceResult) -> Html:
    """Draw the answer in words, with a sign so that it does not depend on colour."""
    meaning = MEANINGS[IS_NEXT if result.follows else IS_RANDOM]
    said = f"the model believes that {meaning}."
    sign, word, kind = ("✓", "Yes", "bx-yes") if result.follows else ("✗", "No", "bx-no")
    if result.confidence < UNDECIDED:
        sign, word, kind = "≈", "Undecided", "bx-unsure"
        said = f"the model leans only a little to the answer that {meaning}."
    return tag(
        "div",
        tag("span", sign, class_="bx-nsp-sign", aria_hidden="true"),
        tag(
            "p",
            tag("strong", f"{word}: "),
            said,
            tag("br"),
            tag(
                "span",
                f"Probability {percent(result.confidence)} · difference of the logits "
                f"{signed(result.margin, 2)}",
                class_="bx-line",
            ),
        ),
        class_=f"bx-nsp-verdict {kind}",
        role="status",
    )


def score_bars(result: NextSentenceResult) -> Html:
    """Draw both probabilities as bars with their logits; their text serves as the alternative."""
    rows = [
        tag(
            "li",
            tag(
                "span",
                tag("code", f"label {label}"),
                tag("span", f" {MEANINGS[label]}"),
                class_="bx-nsp-name",
            ),
            share_bar(result.probabilities[label]),
            tag("span", f"logit {signed(result.logits[label], 3)}", class_="bx-nsp-logit"),
        )
        for label in (IS_NEXT, IS_RANDOM)
    ]
    return tag("ul", *rows, class_="bx-nsp-bars")


def score_table(result: NextSentenceResult) -> pd.DataFrame:
    """Return both scores as a table."""
    labels = (IS_NEXT, IS_RANDOM)
    return pd.DataFrame(
        {
            "label": list(labels),
            "meaning": [MEANINGS[label] for label in labels],
            "probability": [result.probabilities[label] for label in labels],
            "logit": [result.logits[label] for label in labels],
        }
    )


def describe_scores(result: NextSentenceResult) -> str:
    """Describe the bars in one sentence."""
    return (
        f"Probability {percent(result.probabilities[IS_NEXT])} that the second sentence follows "
        f"the first, {percent(result.probabilities[IS_RANDOM])} that it was picked at random."
    )


def label_key(result: NextSentenceResult) -> Html:
    """Explain the two labels, which are easily confused, and how far to trust the numbers."""
    return note(
        tag("strong", "Mind the order of the labels. "),
        "In training, half of the pairs were true neighbours: ",
        tag("code", "label 0"),
        ". In the other half the second sentence came from elsewhere: ",
        tag("code", "label 1"),
        ". So 0 is the yes. A probability is the softmax of the two logits. ",
        calibrated(result.calibration, "pairs"),
    )


def oversure(result: NextSentenceResult) -> Html:
    """Warn if the probability is higher than the model's judgement deserves; else empty."""
    if result.confidence < OVERSURE:
        return join()
    share = percent(result.confidence)
    said = f"{share} does not mean that such answers are right that often."
    if result.calibration.named:
        said = (
            f"{share} holds on average, over pairs like those the temperature was fitted on; of "
            "pairs from one text fewer are right."
        )
    return note(
        tag("strong", "Very sure is not very right. "),
        f"{said} In training, most wrong pairs gave themselves away by a change of topic, so that "
        "is what this head is surest about. Swap the sentences, or try “Reversed” and "
        "“Contradiction”, and see how little it cares about order and logic.",
        caution=True,
    )


def model_input(result: NextSentenceResult) -> Html:
    """Draw the row of tokens that the model reads, each with its segment id."""
    limit = settings().shown_pieces
    read = result.encoding
    columns = (read.tokens, read.input_ids, read.token_type_ids, read.special_tokens_mask)
    shown = [_input_token(*each) for each in list(zip(*columns, strict=True))[:limit]]
    rest = len(read.tokens) - limit
    if rest > 0:
        shown.append(tag("li", f"… and {rest:,} more", class_="bx-nsp-more"))
    return tag("ul", *shown, class_="bx-nsp-input", aria_label="The input as the model sees it")


def _input_token(token: str, number: int, segment: int, added: int) -> Html:
    return tag(
        "li",
        tag("bdi", visible(token), class_="bx-nsp-token"),
        tag("span", str(segment), class_="bx-nsp-segment"),
        class_=f"bx-seg{min(segment, 1)}{' bx-special' if added else ''}",
        title=f"id {number}, segment {segment}",
    )


def input_table(result: NextSentenceResult) -> pd.DataFrame:
    """Return the input as a table: position, token, id, segment and origin."""
    origin = {0: "first sentence", 1: "second sentence", None: "added"}
    read = result.encoding
    return pd.DataFrame(
        {
            "position": range(len(read.tokens)),
            "token": [visible(token) for token in read.tokens],
            "id": read.input_ids,
            "segment": read.token_type_ids,
            "from": [origin[side] for side in read.sequence_ids],
        }
    )


def input_note(result: NextSentenceResult) -> Html:
    """Explain what the row of tokens is and how long it is."""
    return line(
        f"{len(result.encoding.tokens):,} of at most {result.cut.limit:,} tokens. ",
        tag("code", "[CLS]"),
        " opens the input, and the answer is read off its vector alone; ",
        tag("code", "[SEP]"),
        " closes each sentence. The small number under a token is its segment: 0 for the first "
        "sentence, 1 for the second.",
    )
