"""Runs of judges: begin, continue, follow, compare, and what they cost."""
