"""Checkers of proofs of optimality, which share no code with the decoders."""
