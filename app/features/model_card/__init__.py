"""Model card: how often the model is right, and whether its files are sound."""
