"""Outputs to answers: spans, entities, sentences.

Pure functions over scores and text; nothing here loads or runs a model. The site, the evaluation
and a user's own code read answers the same way.
"""
