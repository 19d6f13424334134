"""A rater's decisions as a file."""
