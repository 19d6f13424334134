"""Views for physicians (work, grading, checks, adjudication) and for staff (groups, batches)."""
