"""What must be graded again after a new version of a rubric, and the batches in which it is."""
