"""Treebanks: the catalogue of corpora, fetching, reading and writing of file formats, and conversion."""
