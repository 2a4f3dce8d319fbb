"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

`sources/resolve` finds the folder of a name or path, with `archive`, `address`, `hub` and `cache`.
`formats/weights` opens its weight files. Then, in this order: `keys` (old and new names),
`ownership` (which class a classifier belongs to), `settings` (the caller's options), `unused` (what
may be left over), `plan` (which weights go to which class), `filling`, `loading` (all steps
together), `saving`.

This package must not import a model: it fills any `fillable.Fillable`. It must not run code from a
file, write outside the folder it was given, keep a model's weights in a file that may change, or
reserve memory for a size that a file states before that has been checked against its length.
"""

from bert_core.checkpoints.fillable import LoadReport

__all__ = ["LoadReport"]
