"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

`sources/`: `resolve` decides what a name or path stands for and finds its folder, with `archive`
(what may be in one: `archive_members`), `address` and `hub` (which files of a model are needed:
`hub_names`); all keep what they get in `cache`, and `transfer` watches their downloads.

`formats/`: `weights` finds the files with tensors in a folder and opens them: `safetensors_file`,
`pickle_file` (with `pickle_program`) and `tensorflow_checkpoint` (with `tensorflow_index` and
`crc32c`). `file_tensors` maps or reads the tensors of the first two.

Then, in this order: `keys` (old and new names), `ownership` (which class a classifier belongs to),
`settings` (what the caller asks for), `plan` (what the files give to which class), `filling`,
`loading` (all of it together), `saving`.

This package may not import a model: it fills any module that has what `plan.Fillable` lists. It may
not run code from a file, write outside the folder it was given, or reserve memory because a file
asks for it: sizes are checked against the length of the file first.
"""

from bert_core.checkpoints.report import LoadReport

__all__ = ["LoadReport"]
