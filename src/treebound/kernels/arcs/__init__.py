"""Numbering of arcs and parts by formulas, their rows in tables, and the parts that a tree selects."""
