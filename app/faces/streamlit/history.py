"""The browser's Back and Forward, as far as Python takes part.

`assets/components/bridge.js` makes one entry of the history for each page and text. When the
visitor goes to another entry, Streamlit runs its page with its address, and widgets bound to the
address take their values from there.
"""

from app.compat.streamlit import by_history, read_whole_address, write_bound

__all__ = ["by_history", "read_whole_address", "write_bound"]
