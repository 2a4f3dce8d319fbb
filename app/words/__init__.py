"""Views: a result in, escaped markup out.

Markup comes from `app.words.html` alone, which escapes everything it is given. Views know
results, never engines or front ends.
"""
