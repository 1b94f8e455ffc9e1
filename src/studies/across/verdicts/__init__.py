"""How the verdicts on the claims are found: a simulation with known truth, and pictures of the pooled effects."""
