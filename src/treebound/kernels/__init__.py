"""Numba kernels: flat arrays in, flat arrays out; no strings, no files, no classes."""
