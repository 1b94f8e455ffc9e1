"""Parsing by sampling: local factors and global features of whole trees, learned by SampleRank."""
