"""Approximate decoders, which are fast and prove little or nothing."""
