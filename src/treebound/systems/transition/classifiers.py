"""Classifiers of instances behind one protocol: our perceptron, and a linear support vector machine (LIBLINEAR).

Any object with `fit` and `scores` will do: `greedy.parse_in_step` parses with it.
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
    """Learns from instances X int32[N, m] with classes y int[N] (0 .. classes - 1), and scores others (`Scorer`)."""

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """Learn; a second call begins anew."""
        ...


class Perceptron:
    """The averaged multi-class perceptron (Freund & Schapire 1999; Collins 2002) over cells and joins.

    model   the features
    bits    log2 of the number of rows of weights
    epochs  passes over the instances, in an order that `seed` decides
    """

    linear: Linear  #: what `fit` learnt

    def __init__(self, model: FeatureModel, bits: int = 18, epochs: int = 5, seed: int = 1):
        self.model, self.bits, self.epochs, self.seed = model, bits, epochs, seed

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """See `Classifier`. O(epochs N T C) for T features."""
        linear = empty(self.model, classes, self.bits)
        sums = np.zeros(len(linear.weights))
        for epoch in range(self.epochs):
            order = np.random.default_rng([self.seed, epoch]).permutation(len(X))
            perceptron_epoch(linear, sums, X, y.astype(np.int64), order, classes, float(epoch * len(X)))
        self.linear, self.classes = averaged(linear, sums, self.epochs * len(X)), classes

    def scores(self, X: np.ndarray) -> np.ndarray:
        """See `Classifier`."""
        return all_scores(self.linear, X, self.classes)


class LinearSVM:
    """One against the rest by LIBLINEAR (Fan et al. 2008) through scikit-learn, over the same hashed features.

    What it learns is a `Linear` like the perceptron's, whose rows do not overlap: the same kernel parses with it.

    C     cost of an error of training
    bits  log2 of the number of rows
    """

    linear: Linear  #: what `fit` learnt

    def __init__(self, model: FeatureModel, C: float = 0.1, bits: int = 18, seed: int = 1):
        self.model, self.C, self.bits, self.seed = model, C, bits, seed

    def fit(self, X: np.ndarray, y: np.ndarray, classes: int) -> None:
        """See `Classifier`. InputError if scikit-learn is not installed."""
        with needs("classifiers"):
            from sklearn.svm import LinearSVC
        from scipy.sparse import csr_array

        linear = empty(self.model, classes, self.bits, stride=classes)
        if (y == y[0]).all():  # sentences of one word each: there is nothing to separate, and scikit-learn refuses
            linear.weights[y[0] :: classes] = 1.0
            self.linear, self.classes = linear, classes
            return
        rows = find_all_rows(linear, X)
        used, columns = np.unique(rows, return_inverse=True)
        starts = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)  # it takes no longer numbers
        columns = columns.ravel().astype(np.int32)
        features = csr_array((np.ones(rows.size), columns, starts), shape=(len(X), len(used)))
        svm = LinearSVC(C=self.C, random_state=self.seed, fit_intercept=False, tol=0.1).fit(features, y)
        coefficients = svm.coef_ if len(svm.classes_) > 2 else np.concatenate([-svm.coef_, svm.coef_])
        place = (used[:, None] + svm.classes_[None, :]).ravel()
        linear.weights[place] = coefficients.T.ravel()
        self.linear, self.classes = linear, classes

    def scores(self, X: np.ndarray) -> np.ndarray:
        """See `Classifier`: what is proportional to the distance from each class's hyperplane."""
        return all_scores(self.linear, X, self.classes)
