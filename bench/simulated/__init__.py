"""Simulated studies and their figures, to see how often an interval holds the truth (`bench/interval_coverage.py`)."""
