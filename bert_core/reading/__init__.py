"""Texts to answers: which words of a passage answer a question, which words name something.

`passage` answers questions, `entities` reads labels. Both run a model through `running`, in the
windows of `windows`. The rest is pure functions over scores, text and labels: `spans`, `wordings`,
`sentences`, `tagging`. The site, the evaluation and a user's own code read answers the same way.
Nothing here loads a model.
"""
