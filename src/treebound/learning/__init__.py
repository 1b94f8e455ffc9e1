"""Online training: updates, the training loop, averages, checkpoints, model files, conventions of treebanks."""
