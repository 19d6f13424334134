"""Runs that split the criteria of a gold set into single statements, which authors correct and freeze."""
