"""Proofs of optimality, checked by code that shares nothing with the solver."""
