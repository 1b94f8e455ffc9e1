"""The leaderboard: every parser of a run, ranked by accuracy on each corpus and overall."""
