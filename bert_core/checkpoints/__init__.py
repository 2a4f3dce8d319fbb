"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

`sources/`: `resolve` finds the folder for a name or path, using `archive` (with `archive_members`
for the contents), `modules` (the layout of sentence-transformers), `address` and `hub` (with
`hub_names` for the files that a model needs).
Archives are kept in `cache`; `transfer` supervises downloads.

`formats/`: `weights` finds and opens the weight files of a folder: `safetensors_file`,
`pickle_file` (with `pickle_program`) and `tensorflow_checkpoint` (with `tensorflow_index` and
`crc32c`). `file_tensors` reads the tensors of the first two; `mistaken` says what a folder without
weights has instead.

Then, in this order: `keys` (old and new names), `ownership` (which class a classifier belongs to),
`settings` (the caller's options), `unused` (what may be left over), `plan` (which weights go to
which class), `filling`, `loading` (all steps together), `saving`.

This package must not import a model: it fills any module with the methods of `fillable.Fillable`.
It must not run code from a file, write outside the folder it was given, or reserve memory for a
size that a file states before that size has been checked against the length of the file.
"""

from bert_core.checkpoints.fillable import LoadReport

__all__ = ["LoadReport"]
