"""Feature templates as data, hashed extraction, scoring."""
