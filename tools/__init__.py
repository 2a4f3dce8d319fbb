"""Commands for those who work on the site; `tools.derive` computes what rests on the weights."""
