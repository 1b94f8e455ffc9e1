"""Combinatory Categorial Grammar: categories, rules, derivations, and treebanks translated into them."""
