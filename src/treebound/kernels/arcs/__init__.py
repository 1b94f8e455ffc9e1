"""Arcs and parts by arithmetic: numbering, places in tables, what a head's modifiers score."""
