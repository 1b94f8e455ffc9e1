"""Parsing by sampling: local factors and global features of whole trees, learnt by SampleRank."""
