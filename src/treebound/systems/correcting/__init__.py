"""A tagger and a parser that samples as one: the parser may overrule the tagger where that is in doubt."""
