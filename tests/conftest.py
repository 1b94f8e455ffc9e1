"""Being here puts this folder on the import path: tests say `from oracles.trees import trees`, `from strategies import ...`."""
