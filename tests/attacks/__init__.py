"""Generators of random cases for `tests/adversaries.py`, one module each.

A module has a function `cases(folder)`, which returns a function from a seed to the kinds of the case. This function
raises an error if the library does something wrong. `folder` is empty and may be filled.
"""
