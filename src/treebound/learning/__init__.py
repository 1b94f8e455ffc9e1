"""Learners, trainer, model file."""
