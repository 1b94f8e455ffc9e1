"""Combinatory Categorial Grammar: categories, rules, derivations, and the translation of treebanks into derivations."""
