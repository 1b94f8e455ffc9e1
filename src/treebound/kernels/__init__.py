"""Compiled kernels of decoders and features: arrays and NamedTuples in and out."""
