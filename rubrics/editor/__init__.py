"""Writing a case and its rubric: what the editors read, check and answer."""
