"""Labelled first-order model with hard constraints (Riedel & Clarke 2006)."""
