"""Readings of how urgent a case is."""
