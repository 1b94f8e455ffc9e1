"""The dtypes of every array that crosses a module boundary.

``INDEX`` is for numbers of tokens, arcs and parts. ``SCORE`` is for scores and bounds. Scores of a trained model are
integers (weights in fixed point) stored in float64, which is exact up to 2**53. Sums and bounds therefore have no
rounding error.
"""

import numpy as np

INDEX = np.int32
OFFSET = np.int64
SCORE = np.float64

ROOT = 0  #: index of the artificial root in every sentence
NO_HEAD = -1  #: head of the root, and of a word whose head is not annotated
