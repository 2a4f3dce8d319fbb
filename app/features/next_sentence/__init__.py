"""Next sentence: whether one sentence may follow another."""
