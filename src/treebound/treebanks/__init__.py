"""Corpora: catalogue, fetching, formats, conversion."""
