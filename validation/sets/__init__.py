"""Rubric sets: where their criteria come from, which cases they hold, and how they are compared."""
