"""Word picker: select words of a text by mouse, touch or keyboard."""

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from app.words.html import plain


def pick_word(
    label: str, words: Sequence[str], *, key: str, on_pick: Callable[[int], None]
) -> None:
    """Draw every word as a button that calls back with the word's number.

    The widget keeps no selection: a pick changes the text instead.

    Args:
        label: what picking a word does.
        words: the words, in order; words may repeat.
        key: name of the widget on its page.
        on_pick: called with the number of the word, counted from 0.
    """

    names = _distinct([plain(word) for word in words])

    def picked() -> None:
        number = st.session_state.get(key)
        st.session_state[key] = None
        if isinstance(number, int) and 0 <= number < len(words):
            on_pick(number)

    st.pills(
        label,
        options=range(len(words)),
        format_func=lambda number: names[number],
        selection_mode="single",
        key=key,
        on_change=picked,
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Make equal names distinct without a visible change: the browser reports picks by name.

    The second "the" ends in one word joiner, the third in two; the character has no width.
    """
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        distinct.append(name + "\u2060" * seen[name])
        seen[name] += 1
    return distinct
