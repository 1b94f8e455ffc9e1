"""Hashes of strings that are the same on every machine and in every run."""

from __future__ import annotations

import hashlib


def hash_string(string: str) -> int:
    """Return a signed 64-bit hash of a string, the same on every machine."""
    return int.from_bytes(
        hashlib.blake2b(string.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )
