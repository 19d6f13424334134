"""Judges and juries: what they are made of, and their pages."""
