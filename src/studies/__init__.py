"""The research part of the repository: the pipeline, the studies of five papers, and the report.

It imports treebound; treebound never imports it.
"""
