"""The explorer: models, features, and the interfaces that show them.

Read in this order: `settings` and `catalog` (what there is), `engine` (loaded models and how they
are run), `features` (text in, result and pictures out), `words` (what views share), `declared` and
`faces` (how people and programs ask), `server` (who may). `bert_core` must not import anything from
this package.
"""
