"""Texts to answers: which words of a passage answer a question, which words name something.

`passage` reads questions, `tagging` labels. Both run a model through `running`, in the windows of
`windows`. The rest is pure functions over scores and text: `spans`, `wordings`, `sentences`. The
site, the evaluation and a user's own code read answers the same way. Nothing here loads a model.
"""
