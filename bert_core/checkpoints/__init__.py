"""Checkpoints: from a name to a folder, from a folder to a model, and back to a folder.

Read in this order: `resolve` (what a name stands for), `weights` (which files hold tensors),
`safetensors_file` and `pickle_file` (the two formats), `keys` (old and new parameter names),
`loading` (everything put together), `sharing` (further classes on a loaded encoder) with
`ownership` (whose classifier it is), `survey` (what a folder holds, without loading), `saving`.

This package may not run code that a file brings along, write outside the folder it was told,
or reserve memory on the word of a file: sizes are checked against the file's length first.
"""

from bert_core.checkpoints.report import LoadReport

__all__ = ["LoadReport"]
