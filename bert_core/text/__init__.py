"""Text to an Encoding: normalising, cutting into word pieces, and tracing each step.

Order of reading: `normalizer`, `wordpiece`, `words`, `encoding`, `tokenizer`; `trace` replays the
stages for a person. This package may not import a model.
"""
