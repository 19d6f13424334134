"""Judges and juries: their settings and their pages."""
