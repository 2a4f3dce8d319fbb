"""Which questions are never trained on: with them the temperature of the answers is fitted.

Multiple choice has its own such rows, see `training.rows.choices`. What else is fitted is fitted on
files that nothing is trained on.
"""

import re
import zlib

HELD_OUT_OF = 32  # every so many-th passage; some 700 questions of the training set
_NO_LETTER = re.compile(r"[\W_]+")


def held_out(context: str) -> bool:
    """Whether the questions on a passage are kept for fitting, and so must not be trained on.

    The passage decides, by the checksum of its letters and digits: copies of it in other files, in
    lower case or with other blanks, go with it, and so do all of its questions.

    >>> held_out("The Nile flows north, through eleven countries."), held_out("Passage 6.")
    (False, True)
    >>> held_out("passage  6"), sum(held_out(f"Passage {number}.") for number in range(3200))
    (True, 96)
    """
    letters = _NO_LETTER.sub("", context).lower()
    return zlib.crc32(letters.encode()) % HELD_OUT_OF == 0
