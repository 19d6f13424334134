"""Runs of judges: starting, following, continuing and comparing them, and their costs."""
