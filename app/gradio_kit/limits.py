"""Limits of the Gradio face, beside those of `app.settings`."""

AT_ONCE = 8
"""Calls that are worked on at the same time; `app.compute` decides which of them computes."""

WAITING = 100
"""Calls that may wait beyond those; further ones are refused with a message."""

SESSIONS = 100
"""Sessions that Gradio remembers. Nothing is lost with a session: each call brings its values."""

UNFETCHED = 500
"""Callers whose answers are kept until they are fetched; beyond that, the oldest are dropped."""

BODY_BYTES = 1_000_000
"""The longest request. The longest text, 100,000 characters, takes at most 600,000 as JSON."""

QUEUE_PAUSE, PROGRESS_PAUSE = 0.02, 0.2
"""Seconds between Gradio's looks at its queue, which has no bell. Its own are 0.001 and 0.01, which
cost 5 % of a core while there is no visitor."""
