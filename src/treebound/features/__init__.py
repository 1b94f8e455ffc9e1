"""Extract hashed features by templates that are data, and score arcs, parts and labels."""
