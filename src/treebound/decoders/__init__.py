"""Decoders: one file each; all take the same Problem."""
