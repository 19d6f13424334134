"""Editors of a case and of its rubric: how they read and check input, and what they answer."""
