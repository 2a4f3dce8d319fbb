"""Named entities: names in a text, each with its score."""
