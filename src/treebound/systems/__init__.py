"""What is trained: one room a system. None imports another."""
