"""Hashed features: listing, scoring, updates of their weights."""
