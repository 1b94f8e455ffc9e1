"""Folds of a treebank: what is predicted for each by what was trained on the others."""

from __future__ import annotations

import numpy as np

FOLDS = 10
RUN = 10  #: neighbouring sentences, which are often of one text, stay together


def fold_of(sentences: int, folds: int = FOLDS) -> np.ndarray:
    """int64[sentences]: the fold of each; RUN sentences in a row, or fewer where a fold would get none."""
    run = max(1, min(RUN, sentences // folds))
    return np.arange(sentences) // run % folds
