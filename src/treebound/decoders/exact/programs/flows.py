"""Flows that force selected arcs to form a tree, instead of cycle constraints (Magnanti & Wolsey 1995).

- single-commodity: the root sends one unit of flow to every word, along selected arcs. The program gets one more
  column for each arc, and its relaxation is loose.
- multi-commodity: every word has a flow of its own. On each arc, the flow is at most the 0/1 variable of the arc. The
  program gets n more columns for each arc, and the relaxation of the tree constraints alone is exact.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from treebound.constraints.rows import Row, Variables
from treebound.core.limits import check_memory

Flow = Literal["single-commodity", "multi-commodity"]
NAME = "no-cycles"
#: bytes of the rows of one arc in one flow
ROW = 1000


def flow_program(variables: Variables, kind: Flow, first: int) -> tuple[int, float, list[Row]]:
    """Return (number of flow columns, their upper bound, rows); `first` is the number of the first flow column.

    O(A) columns and rows for a single commodity, O(A n) for n commodities (A arcs, n words). Raises TooLargeError above
    the limit of memory.
    """
    n = variables.n
    pairs = np.unique(np.stack([variables.head, variables.mod], axis=1), axis=0)
    arcs = [(int(h), int(m)) for h, m in pairs]
    size = len(arcs)
    copies = 1 if kind == "single-commodity" else n
    description = f"a program of flows of {n:,} words with {size:,} arcs"
    check_memory(description, ROW * size * copies, "choose formulation='incremental', or allow fewer arcs")
    into: list[list[int]] = [[] for _ in range(n + 1)]
    out_of: list[list[int]] = [[] for _ in range(n + 1)]
    for a, (h, m) in enumerate(arcs):
        into[m].append(a)
        out_of[h].append(a)
    columns_of_arc = [variables.arc(h, m) for h, m in arcs]
    rows: list[Row] = []

    def balance(offset: int, m: int, supply: float) -> None:
        """Add the row which says that word `m` consumes `supply` units of flow."""
        columns = np.array([offset + a for a in into[m] + out_of[m]], np.intp)
        signs = np.repeat([1.0, -1.0], [len(into[m]), len(out_of[m])])
        rows.append(Row(NAME, columns, signs, supply, supply))

    def capacity(offset: int, a: int, limit: float) -> None:
        """Add the row which says that arc `a` carries at most `limit` units of flow, and no flow if not selected."""
        columns = np.concatenate([columns_of_arc[a], [offset + a]]).astype(np.intp)
        rows.append(Row(NAME, columns, np.concatenate([np.full(len(columns_of_arc[a]), limit), [-1.0]]), 0.0, np.inf))

    if kind == "single-commodity":
        for m in range(1, n + 1):
            balance(first, m, 1.0)
        for a, (h, _) in enumerate(arcs):
            capacity(first, a, float(n if h == 0 else n - 1))
        return size, float(n), rows
    for k in range(1, n + 1):
        offset = first + (k - 1) * size
        for m in range(1, n + 1):
            balance(offset, m, 1.0 if m == k else 0.0)
        for a in range(size):
            capacity(offset, a, 1.0)
    return size * n, 1.0, rows
