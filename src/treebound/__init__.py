"""treebound: exact decoding for dependency parsing with non-local features."""

__version__ = "0.1.0"
