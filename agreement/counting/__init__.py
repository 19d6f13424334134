"""Two raters' ratings joined into pairs, and counted for every slice."""
