"""Turn model outputs into answers: spans that answer a question, named entities, filled gaps.

`passage` answers questions and `entities` finds entities. Both run a model through `running`, over
the windows cut by `windows`. `gaps` fills masks together and scores every piece of a text. `unread`
finds what a vocabulary cannot read. The other modules are pure functions over scores, text and
labels: `spans`, `wordings`, `sentences`, `tagging`, `occurrences`, and `alignment` of
two tokenizers. The site, the evaluation and user code all read answers this way. Nothing here loads
a model.
"""
