"""Turn model outputs into answers: spans that answer a question, named entities, filled gaps.

`passage` and `entities` run a model through `running`, over the windows cut by `windows`; `gaps`
fills masks together and scores every piece of a text; `unread` finds what a vocabulary cannot read.
The others are pure functions. Nothing here loads a model.
"""
