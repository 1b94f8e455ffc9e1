"""Slow, obvious twins of what the package computes. Never imported by `src`."""
