"""Pages of judges, runs and verdicts: fetch through access, call one service, answer."""
