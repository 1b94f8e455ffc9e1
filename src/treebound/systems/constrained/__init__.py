"""Labelled first-order model under hard constraints (Riedel & Clarke 2006)."""
