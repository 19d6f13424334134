"""Versions of a rubric: review, history, difference, requests to reword."""
