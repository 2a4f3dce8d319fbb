"""Limits of the Gradio interface, beside those of `app.settings`."""

SESSIONS = 100
"""Sessions that Gradio remembers. Nothing is lost with a session: each call brings its values."""

UNFETCHED = 500
"""Callers whose answers are kept until they are fetched; beyond that, the oldest are dropped."""

QUEUED = 1_000
"""Calls of the pages that Gradio keeps in its queue, which hands each on at once: whose turn it is
is decided in `app.engine.compute`."""

QUEUE_PAUSE, PROGRESS_PAUSE = 0.02, 0.2
"""Seconds between Gradio's looks at its queue, which has no bell. Its own are 0.001 and 0.01, which
cost 5 % of a core while there is no visitor."""
