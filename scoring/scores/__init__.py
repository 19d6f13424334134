"""From outcomes on criteria to the scores of candidates."""
