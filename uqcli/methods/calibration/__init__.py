"""From scores to probabilities that hold what they say."""
