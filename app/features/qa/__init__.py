"""Question answering: where in a passage the answer is."""
