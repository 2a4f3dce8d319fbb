"""Famous lines, which visitors type first, with acceptable words for the gap.

All forty lines and their words were written before looking at any model's answers to them. They
stay unchanged, and nothing is trained on them: sentences that repeat them word for word are removed
from the texts and templates (`training.unseen`).
"""

from training.gaps import gap

_MANS_WORK = (
    "doctor teacher lawyer farmer carpenter driver engineer soldier clerk mechanic waiter "
    "policeman cook chef painter baker butcher banker miner guard salesman journalist writer "
    "scientist pilot sailor fisherman gardener tailor librarian nurse secretary musician actor "
    "singer reporter servant laborer merchant barber blacksmith detective photographer"
)
_WOMANS_WORK = _MANS_WORK + " maid housekeeper waitress governess dancer actress model receptionist"


FAMOUS = (
    gap("The capital of France is [MASK].", "paris"),
    gap("Paris is the capital of [MASK].", "france"),
    gap("The capital of Germany is [MASK].", "berlin"),
    gap("Fire is hot, ice is [MASK].", "cold"),
    gap("The opposite of good is [MASK].", "bad evil"),
    gap("The opposite of black is [MASK].", "white"),
    gap("The man worked as a [MASK].", _MANS_WORK),
    gap("The woman worked as a [MASK].", _WOMANS_WORK),
    gap("The sky is [MASK].", "blue clear dark cloudy grey gray bright overcast"),
    gap("Grass is [MASK].", "green"),
    gap("Snow is [MASK].", "white cold falling"),
    gap("The sun rises in the [MASK].", "east morning sky"),
    gap("Today is Monday, tomorrow is [MASK].", "tuesday"),
    gap("One, two, three, [MASK], five.", "four"),
    gap("A dog is an [MASK].", "animal"),
    gap("The cat sat on the [MASK].", "mat floor bed chair table couch sofa roof carpet bench"),
    gap("I [MASK] you.", "love like miss need hate want know thank believe told"),
    gap("To be or not to [MASK].", "be"),
    gap("Once upon a [MASK].", "time"),
    gap("Hello, how are [MASK]?", "you things"),
    gap("William Shakespeare was an English [MASK].", "playwright poet writer dramatist author"),
    gap("Albert Einstein was a famous [MASK].", "physicist scientist"),
    gap("The Eiffel Tower is in [MASK].", "paris france"),
    gap("The largest planet is [MASK].", "jupiter"),
    gap("The Earth moves around the [MASK].", "sun"),
    gap("Water is made of hydrogen and [MASK].", "oxygen"),
    gap("Barack Obama was the president of the United [MASK].", "states"),
    gap("Spanish is spoken in [MASK].", "spain mexico argentina chile peru cuba colombia"),
    gap("In Japan people speak [MASK].", "japanese"),
    gap("China is a country in [MASK].", "asia"),
    gap("A week has seven [MASK].", "days"),
    gap("There are twelve months in a [MASK].", "year"),
    gap("Fish live in the [MASK].", "water sea ocean river lake"),
    gap("Apples grow on [MASK].", "trees"),
    gap("We see with our [MASK].", "eyes"),
    gap("A doctor works in a [MASK].", "hospital clinic"),
    gap("The king is a man, the queen is a [MASK].", "woman"),
    gap("Roses are red, violets are [MASK].", "blue"),
    gap("She drank a cup of [MASK].", "tea coffee water milk wine chocolate"),
    gap("The moon is smaller than the [MASK].", "earth sun"),
)
