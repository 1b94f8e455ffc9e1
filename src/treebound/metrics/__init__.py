"""Attachment scores, significance tests, calibration and timing.

The functions return arrays and numbers and print nothing. A table is a dict of columns, which are arrays of the same
length: `pandas.DataFrame(table)` shows it.
"""
