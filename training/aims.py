"""The figures that are measured, what each means, and its floor and goal."""

from dataclasses import dataclass, replace

from bert_core.bundled.figures import Figure


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure without its measured value; see `Figure` for the attributes."""

    task: str
    measured_on: str
    meaning: str
    floor: float | None = None
    goal: float | None = None
    chance: float | None = None
    lower_is_better: bool = False

    def found(self, share: float, interval: tuple[float, float], cases: int) -> Figure:
        """Return the figure with its measured value."""
        return Figure(
            self.task,
            self.measured_on,
            share,
            *interval,
            cases,
            self.meaning,
            floor=self.floor,
            goal=self.goal,
            chance=self.chance,
            lower_is_better=self.lower_is_better,
        )


_WIKITEXT = "WikiText-2, valid and test"
_CORRUPTED = "hidden or replaced word pieces, 15 % of all, for which the true piece was"
_HIDDEN = "hidden word pieces, 15 % of all and every one as [MASK], for which the true piece was"
_FIRST, _FIVE = "the model's first guess", "among its first five guesses"
FIRST_GUESS = Aim("masked word, first guess", _WIKITEXT, f"{_CORRUPTED} {_FIRST}", 0.475, 0.50)
FIRST_FIVE = Aim("masked word, among first five", _WIKITEXT, f"{_CORRUPTED} {_FIVE}", 0.65, 0.68)
HIDDEN_FIRST = Aim(
    "masked word, all hidden, first guess", _WIKITEXT, f"{_HIDDEN} {_FIRST}", 0.415, 0.45
)
HIDDEN_FIVE = Aim(
    "masked word, all hidden, among first five", _WIKITEXT, f"{_HIDDEN} {_FIVE}", 0.605, 0.64
)
_ON_CUDA = {FIRST_GUESS.task: 0.55, FIRST_FIVE.task: 0.72}  # goals where a card did the training
_FAMOUS = "40 own lines"
_GOOD = "well-known lines with a gap for which one of a few good words was"
FAMOUS_FIRST = Aim("famous line, first guess", _FAMOUS, f"{_GOOD} {_FIRST}", 0.80, 0.95)
FAMOUS_FIVE = Aim("famous line, among first five", _FAMOUS, f"{_GOOD} {_FIVE}", 0.95, 1.0)
_UNSEEN = "short sentences of Tatoeba and WordNet that were held out"
UNSEEN_FIRST = Aim(
    "short sentence, first guess",
    _UNSEEN,
    f"sentences with one whole word hidden that was {_FIRST}",
    0.51,
    0.55,
)
UNSEEN_COPIES = Aim(
    "short sentence, wrongly copied",
    _UNSEEN,
    "sentences whose first guess was wrong and another word of the same sentence",
    lower_is_better=True,
)
CONTENT_COPIES = Aim(
    "short sentence, content word wrongly copied",
    _UNSEEN,
    "sentences whose first guess was wrong and another content word of the same sentence",
    0.02,
    0.01,
    lower_is_better=True,
)
RELATIONS = Aim(
    "unseen facts, first guess",
    "relations, subjects named by no template",
    "sentences with a fact for which a right word was the first guess, as the mean over the kinds "
    "of facts",
    0.65,
    0.75,
)
_FACT = "sentences with an everyday fact for which a right word was the first guess, as the mean"
MADE_FACTS = Aim(
    "everyday facts kept back, first guess",
    "own frames, facts that no sentence of the training states",
    f"{_FACT} over the kinds of facts",
    0.65,
    0.75,
)
MADE_FRAMES = Aim(
    "everyday facts in other words, first guess",
    "own frames, wordings that the training does not use",
    f"{_FACT} over the kinds of facts",
    0.65,
    0.80,
)
ORDERS = Aim(
    "orders and sums, first guess",
    "wordings that the training does not use, pairs of numbers that it does not add",
    "sentences with an order or a sum for which a right word was the first guess, as the mean over "
    "days, months, numbers, sums and the like",
    0.80,
    0.95,
)
READ = Aim(
    "inputs read as a person",
    "120 own inputs",
    "inputs for which the first answer was one that a person accepts",
    100 / 120,
    0.95,
)


def read_inputs(kind: str) -> Aim:
    """Return the aim for the inputs of one kind, which has no floor of its own."""
    return replace(READ, task=f"{READ.task}, {kind}", floor=None, goal=None)


GAPS = Aim(
    "everyday gap, among first five",
    "100 own sentences",
    "sentences in which one of a few good words was among the first five guesses for the gap",
    0.85,
    0.93,
)

_PAIRS = {  # kind of pair: what it is, floor, goal
    "random": (
        "pairs told apart, half neighbours, half with a sentence of another document",
        0.94,
        0.98,
    ),
    "same": (
        "pairs told apart, half neighbours, half with a distant sentence of the same document",
        0.71,
        0.78,
    ),
    "swapped": ("neighbours in the wrong order that were called no neighbours", 0.24, 0.65),
}


def next_sentence(kind: str) -> Aim:
    """Return the aim for one kind of sentence pairs."""
    meaning, floor, goal = _PAIRS.get(kind, (f"pairs of kind {kind!r} judged rightly", None, None))
    return Aim(f"next sentence, {kind}", "nsp/eval_pairs", meaning, floor, goal)


_XQUAD = "XQuAD English"
_MOVED = "XQuAD English, every second question asked of another passage of its article"
EXACT = Aim(
    "question answering, exact match",
    _XQUAD,
    "questions whose answer was found to the word",
    0.575,
    0.64,
)
OVERLAP = Aim(
    "question answering, F1", _XQUAD, "words shared by the found and the true answer", 0.71, 0.76
)
ANSWERED = Aim(
    "has an answer or not",
    _MOVED,
    "questions for which it was said rightly whether the passage answers them",
    0.92,
    0.94,
)
OVERLAP_OR_NONE = Aim(
    "answer or none, F1",
    _MOVED,
    "words shared with the true answer; 1 where rightly none was given",
    0.75,
    0.85,
)
ADMITTED = Aim(
    "question without an answer, admitted",
    "40 own questions about what is in the passage",
    "questions that the passage does not answer for which that was said",
    24 / 40,
    32 / 40,
)
REFUSED = Aim(
    "question with an answer, refused",
    "40 own questions to the same passages",
    "questions that the passage answers for which it was said that it does not",
    4 / 40,
    2 / 40,
    lower_is_better=True,
)


def names(where: str) -> Aim:
    """Return the aim for named entities; floor and goal are those of both sources together."""
    both = where == "ner/test"
    return Aim(
        "named entities (PER, LOC, ORG), F1",
        where,
        "names found with both ends and kind right, against names marked and names found",
        0.68 if both else None,
        0.74 if both else None,
    )


PEOPLE = replace(names("40 own sentences with people of many countries"), floor=0.90, goal=0.95)


def sentiment(where: str) -> Aim:
    """Return the aim for sentiment."""
    return Aim("sentiment", where, "film-review sentences judged rightly", 0.89, 0.92)


REVIEWS = Aim(
    "sentiment",
    "reviews of products, films and restaurants that were held out",
    "sentences judged rightly",
    0.90,
    0.93,
)
NEGATIONS = Aim(
    "sentiment",
    "40 own sentences with a negation or a contrast",
    "sentences judged rightly",
    0.80,
    0.90,
)


def multiple_choice(name: str, chance: float, *, aimed: bool) -> Aim:
    """Return the aim for one multiple-choice file: floor at chance, goal 20 points above it."""
    return Aim(
        f"multiple choice, {name}",
        f"mc/{name}_test",
        "rows of which the right choice scored highest",
        chance if aimed else None,
        min(1.0, chance + 0.20) if aimed else None,
        chance,
    )


def calibration(head: str, where: str) -> Aim:
    """Return the aim for the calibration error of one head."""
    return Aim(
        f"calibration error, {head}",
        where,
        "expected calibration error, 15 bins, at the stored temperature: how far the shown "
        "probability lies from the share of right answers",
        0.04,
        0.02,
        lower_is_better=True,
    )


def trained_on_cuda(figures: list[Figure]) -> list[Figure]:
    """Set the higher goals for a model trained on a GPU."""
    return [
        replace(figure, goal=_ON_CUDA[figure.task]) if figure.task in _ON_CUDA else figure
        for figure in figures
    ]
