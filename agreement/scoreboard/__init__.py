"""What stands on the scoreboard beside the scores: graders, lengths, counts, named slices."""
