"""Decoders that prove nothing and are fast."""
