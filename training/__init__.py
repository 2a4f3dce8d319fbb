"""The recipe of the bundled model: `python -m training`.

Stages read a data folder given as `--data` (docs/training-data.md), write below a work folder given
as `--work`, and use `bert_core` alone. This package is no part of the installed library.

Order of reading: `corpus` (text to token ids), `blocks` and `mixture` (the parts of one step),
`tasks` (labelled rows), `lessons` (what the two stages train), `stage` (how one runs), `plan` and
`recipe` (all of them), `calibration`, `evaluation`, `export`.
"""
