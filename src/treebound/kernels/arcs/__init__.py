"""Arcs and parts by arithmetic: their numbers, their rows in tables, and the parts that a tree selects."""
