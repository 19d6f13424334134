"""Runs in which a model makes near-miss pairs of references."""
