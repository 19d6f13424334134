"""Writes of this app: `judges` (versions of judges), `runs` (of judges), `verdicts` (imported)."""
