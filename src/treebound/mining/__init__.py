"""Mining annotation errors: places of a treebank where a model that has not seen them prefers another annotation."""
