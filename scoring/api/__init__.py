"""API endpoints of judges, runs and verdicts."""
