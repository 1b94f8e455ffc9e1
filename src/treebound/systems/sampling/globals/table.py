"""The names of the global features, and the anchors at which each feature is scored again after a move."""

from __future__ import annotations

#: anchors: the root; coordinators; prepositions; the moved words and their ancestors; every word if arcs may cross
TREE, COORDINATORS, PREPOSITIONS, PATHS, ARCS = range(5)
#: name of a feature -> its anchors; the order of the features defines their numbers
FEATURES = {
    "right-branch": TREE,
    "coordination": COORDINATORS,
    "attachment": PREPOSITIONS,
    "span-length": PATHS,
    "neighbours": PATHS,
    "valency": PATHS,
    "crossing": ARCS,
}
