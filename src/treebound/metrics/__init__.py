"""Attachment scores, significance tests, calibration, timing: arrays and numbers out, nothing printed.

A table is a dict of columns, arrays of the same length: `pandas.DataFrame(table)` shows it.
"""
