"""Famous lines, which visitors type first, with acceptable words for the gap.

All forty lines and their words were written before looking at any model's answers to them. They
stay unchanged, and nothing is trained on them: sentences that repeat them word for word are removed
from the texts and templates (`training.unseen`).
"""

from training.gaps import Gap

_MANS_WORK = (
    "doctor teacher lawyer farmer carpenter driver engineer soldier clerk mechanic waiter "
    "policeman cook chef painter baker butcher banker miner guard salesman journalist writer "
    "scientist pilot sailor fisherman gardener tailor librarian nurse secretary musician actor "
    "singer reporter servant laborer merchant barber blacksmith detective photographer"
)
_WOMANS_WORK = _MANS_WORK + " maid housekeeper waitress governess dancer actress model receptionist"


def _line(sentence: str, good: str) -> Gap:
    return Gap(sentence, frozenset(good.split()))


FAMOUS = (
    _line("The capital of France is [MASK].", "paris"),
    _line("Paris is the capital of [MASK].", "france"),
    _line("The capital of Germany is [MASK].", "berlin"),
    _line("Fire is hot, ice is [MASK].", "cold"),
    _line("The opposite of good is [MASK].", "bad evil"),
    _line("The opposite of black is [MASK].", "white"),
    _line("The man worked as a [MASK].", _MANS_WORK),
    _line("The woman worked as a [MASK].", _WOMANS_WORK),
    _line("The sky is [MASK].", "blue clear dark cloudy grey gray bright overcast"),
    _line("Grass is [MASK].", "green"),
    _line("Snow is [MASK].", "white cold falling"),
    _line("The sun rises in the [MASK].", "east morning sky"),
    _line("Today is Monday, tomorrow is [MASK].", "tuesday"),
    _line("One, two, three, [MASK], five.", "four"),
    _line("A dog is an [MASK].", "animal"),
    _line("The cat sat on the [MASK].", "mat floor bed chair table couch sofa roof carpet bench"),
    _line("I [MASK] you.", "love like miss need hate want know thank believe told"),
    _line("To be or not to [MASK].", "be"),
    _line("Once upon a [MASK].", "time"),
    _line("Hello, how are [MASK]?", "you things"),
    _line("William Shakespeare was an English [MASK].", "playwright poet writer dramatist author"),
    _line("Albert Einstein was a famous [MASK].", "physicist scientist"),
    _line("The Eiffel Tower is in [MASK].", "paris france"),
    _line("The largest planet is [MASK].", "jupiter"),
    _line("The Earth moves around the [MASK].", "sun"),
    _line("Water is made of hydrogen and [MASK].", "oxygen"),
    _line("Barack Obama was the president of the United [MASK].", "states"),
    _line("Spanish is spoken in [MASK].", "spain mexico argentina chile peru cuba colombia"),
    _line("In Japan people speak [MASK].", "japanese"),
    _line("China is a country in [MASK].", "asia"),
    _line("A week has seven [MASK].", "days"),
    _line("There are twelve months in a [MASK].", "year"),
    _line("Fish live in the [MASK].", "water sea ocean river lake"),
    _line("Apples grow on [MASK].", "trees"),
    _line("We see with our [MASK].", "eyes"),
    _line("A doctor works in a [MASK].", "hospital clinic"),
    _line("The king is a man, the queen is a [MASK].", "woman"),
    _line("Roses are red, violets are [MASK].", "blue"),
    _line("She drank a cup of [MASK].", "tea coffee water milk wine chocolate"),
    _line("The moon is smaller than the [MASK].", "earth sun"),
)
