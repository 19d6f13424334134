"""Sections beside the scores of a scoreboard: graders, lengths, counts, named slices."""
