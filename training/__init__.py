"""The recipe of the bundled model: `python -m training`.

Stages read a data folder given as `--data`, write below a work folder given as `--work`, and use
`bert_core` alone. This package is no part of the installed library.

Order of reading: `corpus` (text to token ids), `mixture` (the parts of one step), `lessons` (what
the three stages train), `stage` (how one runs), `plan` and `recipe` (all of them), `export`,
`evaluation`.
"""
