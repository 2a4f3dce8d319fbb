"""Results: what a task hands to a view, one frozen dataclass per feature.

A result holds plain Python values and numpy arrays, never tensors, figures or markup, so that
views and front ends need to know nothing of the model. This package may import
`bert_core.errors`, numpy and pandas, and nothing else of the project.
"""
