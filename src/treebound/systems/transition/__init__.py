"""Transition-based parsing: systems and oracles, feature models as data, classifiers, greedy and beam search."""
