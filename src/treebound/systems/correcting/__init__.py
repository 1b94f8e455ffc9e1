"""A tagger and a sampling parser in one system: the parser may overrule the tagger where the tagger is in doubt."""
