"""Updates, the training loop, averages, checkpoints, model files, conventions of treebanks."""
