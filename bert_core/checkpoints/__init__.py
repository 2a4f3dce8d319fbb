"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

Read in this order: `resolve` (what a name stands for) with `archive`, `address`, `hub_plan` and
`hub` (where it comes from; they stand on `cache` and `transfer`), `weights` (which files hold
tensors), `safetensors_file` and `pickle_file` (two formats; they stand on `file_tensors`, the
second also on `pickle_program`), `tensorflow_folder` (the third; it stands on `tensorflow_table`,
`_index`, `_bundle`, `_names` and on `crc32c`), `keys` (old and new names), `loading` (all of it
together), `sharing` (further classes on a loaded encoder) with `ownership` (whose classifier it
is), `survey` (what a folder holds, without loading), `saving`, `tensorflow_loading` (a model that
exists already).

This package may not run code that a file brings along, write outside the folder it was told,
or reserve memory on the word of a file: sizes are checked against the file's length first.
"""

from bert_core.checkpoints.report import LoadReport

__all__ = ["LoadReport"]
