"""Compiled versions of the checker's arithmetic, for problems with integer scores that fit into int64.

Every function here has a counterpart in plain Python outside this folder (`chart`, `majorants`, `stars`,
`arborescence`). Tests compare the two versions. The checker uses the plain version if numbers are real or too large.
Sums are checked to stay below 2**62 before they are formed, so int64 is as exact as Python's integers. No code is
shared with the kernels of the search.
"""
