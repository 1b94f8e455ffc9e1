"""Dynamic programs as hypergraphs, arborescences, marginals."""
