"""Regrading after a new version of a rubric: what is missing, and the batches that grade it."""
