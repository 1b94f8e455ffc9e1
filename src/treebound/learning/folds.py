"""Folds of a treebank for cross-validation and jackknifing."""

from __future__ import annotations

import numpy as np

FOLDS = 10
RUN = 10  #: consecutive sentences that share a fold, because they often belong to the same text


def fold_of(sentences: int, folds: int = FOLDS) -> np.ndarray:
    """Return int64[sentences]: the number of the fold of each sentence.

    RUN consecutive sentences share a fold, or fewer if otherwise a fold would be empty.
    """
    run = max(1, min(RUN, sentences // folds))
    return np.arange(sentences) // run % folds
