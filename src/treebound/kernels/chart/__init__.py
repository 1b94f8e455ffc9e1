"""Dynamic programs as hypergraphs, arborescences, and marginals."""
