"""Tags as variables beside heads: candidates, features of tag sequences, joint moves (Zhang et al. 2014, 3.4)."""
