"""Accuracy, significance, certificates, timing: DataFrames out, nothing printed."""
