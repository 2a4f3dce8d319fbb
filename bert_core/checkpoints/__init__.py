"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

`sources/`: `resolve` finds the folder for a name or path, using `archive`, `modules` (the layout of
sentence-transformers), `address` and `hub` (with `hub_names` for the files that a model needs).
Archives are kept in `cache`; `transfer` counts what downloads receive.

`formats/`: `weights` finds and opens the weight files of a folder: `safetensors_file`,
`pickle_file`, `tensorflow_checkpoint`; `mistaken` says what there is in place of weights.

Then, in this order: `keys` (old and new names), `ownership` (which class a classifier belongs to),
`settings` (the caller's options), `unused` (what may be left over), `plan` (which weights go to
which class), `filling`, `loading` (all steps together), `saving`.

This package must not import a model: it fills any module with the methods of `fillable.Fillable`.
It must not run code from a file, write outside the folder it was given, keep a model's weights in
a file that may change, or reserve memory for a size that a file states before that size has been
checked against the length of the file.
"""

from bert_core.checkpoints.fillable import LoadReport

__all__ = ["LoadReport"]
