"""Decoders whose status `optimal` is a proof."""
