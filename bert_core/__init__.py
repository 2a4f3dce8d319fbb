"""BERT in plain PyTorch: tokenizer, encoder, all heads, checkpoints, training."""
