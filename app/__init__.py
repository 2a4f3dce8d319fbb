"""The explorer: models, features and the Streamlit frame around their pages.

Read in this order: `settings` and `catalog` (what there is), `models` and `compute` (loaded models
and how they are run), `features` (text in, result and pictures out), `words` (what views share),
`streamlit_kit` (the frame of every page). `bert_core` must not import anything from this package.
"""
