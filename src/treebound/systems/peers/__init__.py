"""Parsers of others, trained and timed beside ours: one file each, on the packages of the extra `peers`."""
