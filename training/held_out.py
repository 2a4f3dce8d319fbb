"""Choose the questions that are never trained on, for fitting the temperature of the answers.

Multiple choice has its own held-out rows, see `training.rows.choices`. All other temperatures are
fitted on files that nothing is trained on.
"""

import re
import zlib

HELD_OUT_OF = 32  # one passage in this many; about 700 questions of the training set
_NO_LETTER = re.compile(r"[\W_]+")


def held_out(context: str) -> bool:
    """Return whether a passage's questions are held out for fitting and must not be trained on.

    The checksum of the passage's letters and digits decides, so copies in other files, in lower
    case or with different spacing, get the same result, and so do all of its questions.

    >>> held_out("The Nile flows north, through eleven countries."), held_out("Passage 6.")
    (False, True)
    >>> held_out("passage  6"), sum(held_out(f"Passage {number}.") for number in range(3200))
    (True, 96)
    """
    letters = _NO_LETTER.sub("", context).lower()
    return zlib.crc32(letters.encode()) % HELD_OUT_OF == 0
