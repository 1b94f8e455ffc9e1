"""Sentences about a table, computed from the very data that the table shows. No claim is written down beforehand."""

from studies.site.remarks import (
    approximations,
    ccg,
    classifiers,
    comparison,
    confidence,
    corpora,
    gains,
    ilp,
    in_the_loop,
    sampling,
    search,
    speed,
    steps,
    targets,
)

__all__ = [
    "approximations",
    "ccg",
    "classifiers",
    "comparison",
    "confidence",
    "corpora",
    "gains",
    "ilp",
    "in_the_loop",
    "sampling",
    "search",
    "speed",
    "steps",
    "targets",
]
