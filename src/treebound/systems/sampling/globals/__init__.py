"""Global features of trees: one file each, and a line of `catalogue`."""
