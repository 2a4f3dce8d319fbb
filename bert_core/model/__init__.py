"""Tensors to outputs: the encoder, its heads and their losses.

Order of reading: `outputs` (the letters of the shapes), `layers` (the forward pass), `bert`,
`heads`; `kernels` holds every trick that makes them faster and changes no result. This package
may not import a tokenizer.
"""
