"""A tagger and a parser by sampling in one system: the parser may overrule the tagger where the tagger is in doubt."""
