"""Being here puts this folder on the import path: `from oracles.trees import trees`, `from strategies import ...`."""
