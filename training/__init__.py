"""The recipe of the bundled model: `python -m training`.

Stages read a data folder given as `--data`, write below a work folder given as `--work`, and use
`bert_core` alone. This package is no part of the installed library.

Order of reading: `corpus` (text to token ids), `mixture` (what one step sees), `start` (the
first weights), `pretrain` (the stage), `export`, `evaluation`.
"""
