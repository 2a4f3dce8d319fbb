"""Fill-mask: what the model would write at each [MASK]."""
