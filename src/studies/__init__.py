"""The laboratory: the pipeline, the studies of five papers and the report. It imports treebound, never the reverse."""
