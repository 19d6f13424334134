"""Views of verdicts."""
