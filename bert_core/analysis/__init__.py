"""What a model does inside: attentions and statistics of its heads.

Nothing here changes a model.
"""
