"""Evidence for the method behind the verdicts: a simulation with known effects, and plots of the pooled effects."""
