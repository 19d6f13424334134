"""Template tags of ``annotation``."""
