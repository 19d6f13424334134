"""Takes acuity of a release into a benchmark: all of it, or nothing."""
