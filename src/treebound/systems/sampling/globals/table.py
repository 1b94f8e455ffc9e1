"""The names of the global features, and at which anchors each is looked at again after a move."""

from __future__ import annotations

#: anchors: the root alone; coordinators; prepositions; the words above and at what moved; every word where arcs cross
TREE, COORDINATORS, PREPOSITIONS, PATHS, ARCS = range(5)
#: name -> where it is anchored, and so what a move makes it look at; their order numbers them
FEATURES = {
    "right-branch": TREE,
    "coordination": COORDINATORS,
    "attachment": PREPOSITIONS,
    "span-length": PATHS,
    "neighbours": PATHS,
    "valency": PATHS,
    "crossing": ARCS,
}
