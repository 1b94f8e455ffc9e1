"""Combinatory categorial grammar: supertagger, packed charts, log-linear models, adaptive supertagging."""
