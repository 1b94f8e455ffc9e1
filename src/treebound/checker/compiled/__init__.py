"""The checker's arithmetic once more, compiled, for problems whose scores are integers that fit.

Everything here has a plain twin outside this folder (`chart`, `majorants`, `stars`, `arborescence`), which it is tested
against and which takes over where numbers are real or too large. Sums stay below 2**62, checked before they are formed:
int64 is as exact as Python's integers then. Nothing is shared with the kernels of the search.
"""
