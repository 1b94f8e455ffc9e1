"""Classifiers of instances with one protocol: our perceptron, and a linear support vector machine (LIBLINEAR).

`greedy.parse_in_parallel` parses with any object that has the methods `fit` and `scores`.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from treebound.support.extras import needs
from treebound.systems.transition.feature_models import FeatureModel
from treebound.systems.transition.greedy import Scorer
from treebound.systems.transition.linear import Linear, all_scores, averaged, empty, find_all_rows, perceptron_epoch


@runtime_checkable
class Classifier(Scorer, Protocol):
    """A classifier that learns from instances X int32[N, m] with classes y int[N] (0 .. classes - 1)."""

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Learn from instances and their classes. A second call starts from scratch."""
        ...


class Perceptron:
    """The averaged multi-class perceptron (Freund & Schapire 1999; Collins 2002) over hashed features.

    A feature is one cell of the feature model or a join of several cells.

    model   the feature model
    bits    base-2 logarithm of the number of rows of weights
    epochs  number of passes over the instances, in an order that `seed` determines
    """

    linear: Linear  #: the model that `fit` has learned

    def __init__(self, model: FeatureModel, bits: int = 18, epochs: int = 5, seed: int = 1):
        self.model, self.bits, self.epochs, self.seed = model, bits, epochs, seed

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Learn from N instances and their classes. O(epochs N T C) for T features and C classes."""
        linear = empty(self.model, classes, self.bits)
        sums = np.zeros(len(linear.weights))
        for epoch in range(self.epochs):
            order = np.random.default_rng([self.seed, epoch]).permutation(len(X))
            perceptron_epoch(linear, sums, X, y.astype(np.int64), order, classes, float(epoch * len(X)))
        self.linear, self.classes = averaged(linear, sums, self.epochs * len(X)), classes

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return float32[K, C], the score of each of C classes for K instances."""
        return all_scores(self.linear, X, self.classes)


class LinearSVM:
    """A one-against-rest classifier by LIBLINEAR (Fan et al. 2008) through scikit-learn, over the same hashed features.

    Training produces a `Linear`, like the perceptron, so that the same kernel parses with it. Its rows of weights do
    not overlap, whereas rows of the perceptron may.

    C     cost of a training error
    bits  base-2 logarithm of the number of rows of weights
    """

    linear: Linear  #: the model that `fit` has learned

    def __init__(self, model: FeatureModel, C: float = 0.1, bits: int = 18, seed: int = 1):
        self.model, self.C, self.bits, self.seed = model, C, bits, seed

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Learn from instances and their classes. InputError if scikit-learn is not installed."""
        with needs("classifiers"):
            from sklearn.svm import LinearSVC
        from scipy.sparse import csr_array

        linear = empty(self.model, classes, self.bits, stride=classes)
        if (y == y[0]).all():  # a single class, as for sentences of one word each: scikit-learn would raise an error
            linear.weights[y[0] :: classes] = 1.0
            self.linear, self.classes = linear, classes
            return
        rows = find_all_rows(linear, X)
        used, columns = np.unique(rows, return_inverse=True)
        starts = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)  # LIBLINEAR accepts only 32-bit indices
        columns = columns.ravel().astype(np.int32)
        features = csr_array((np.ones(rows.size), columns, starts), shape=(len(X), len(used)))
        svm = LinearSVC(C=self.C, random_state=self.seed, fit_intercept=False, tol=0.1).fit(features, y)
        coefficients = svm.coef_ if len(svm.classes_) > 2 else np.concatenate([-svm.coef_, svm.coef_])
        place = (used[:, None] + svm.classes_[None, :]).ravel()
        linear.weights[place] = coefficients.T.ravel()
        self.linear, self.classes = linear, classes

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return scores [K, C] of C classes for K instances, proportional to the distances from the hyperplanes."""
        return all_scores(self.linear, X, self.classes)
