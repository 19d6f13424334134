"""What pages, the API and reports read of judges, runs and verdicts."""
