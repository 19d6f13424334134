"""The leaderboard of acuity: who is ahead in a report, and whether the cases say so."""
