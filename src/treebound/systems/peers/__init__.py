"""Parsers of other projects, trained and timed for comparison; each has a module and needs the extra `peers`."""
