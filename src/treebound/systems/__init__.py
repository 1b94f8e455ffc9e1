"""The systems that can be trained: one package each. None imports another."""
