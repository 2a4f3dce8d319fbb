"""Tasks: engine and text in, one result out. Tensors stop here.

One module per feature, whose main function has the module's name. A task never imports another
task, a view or a front end.
"""
