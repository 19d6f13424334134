"""Pages of physicians (work, grading, checks, adjudication) and of those who run the benchmark (groups, batches)."""
