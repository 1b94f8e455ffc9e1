"""Compiled kernels of decoders and features. Their arguments and results are arrays and NamedTuples."""
