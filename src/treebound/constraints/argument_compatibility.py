"""Constraint C4: the arguments of a coordination have compatible word classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, Words, row


class ArgumentCompatibility:
    """A constraint that the arguments of a coordination have compatible word classes.

    When a solution contains two incompatible arguments, the constraint adds a row. The row says that at most one of
    the two labelled arcs is selected: e1 + e2 <= 1, where e1 and e2 are the 0/1 variables of the labelled arcs.

    - label: label of arguments.
    - compatible: pairs of word classes; a class is compatible with itself.
    - wildcard: endings of words. A word with such an ending is compatible with all words, because its tag is often
      wrong (Dutch: -en).
    - head: "conjunction" if the arguments are dependents of the conjunction; every two of them are compared.
      "argument" if the first argument is the head of the others, as in Universal Dependencies. Each argument is then
      compared with its head, and the row e <= 0 excludes its labelled arc.
    """

    name = "argument-compatibility"
    code = "C4"

    def __init__(
        self,
        label: str,
        compatible: Sequence[Sequence[str]],
        wildcard: Sequence[str] = (),
        head: Literal["conjunction", "argument"] = "conjunction",
    ):
        if head not in ("conjunction", "argument"):
            raise ValueError(f"unknown head {head!r}: choose from conjunction, argument")
        self.label, self.head = label, head
        self.compatible = {frozenset(pair) for pair in compatible}
        self.wildcard = tuple(wildcard)

    def go_together(self, words: Words, i: int, j: int) -> bool:
        """Return whether words i and j may be arguments of one coordination."""
        a, b = words.word_class[i], words.word_class[j]
        if a == b or frozenset((a, b)) in self.compatible:
            return True
        return bool(self.wildcard) and (
            words.lower[i].endswith(self.wildcard) or words.lower[j].endswith(self.wildcard)
        )

    def start(self, variables: Variables) -> list[Row]:
        """Return no rows, because few are ever needed; `violated` adds the rows that a solution breaks."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """Return a row for every two incompatible arguments of a selection. O(arguments squared)."""
        ids = list(variables.ids([self.label]))
        words, heads = variables.words, selection.heads
        arguments = [m for m in range(1, variables.n + 1) if int(selection.labels[m]) in ids]
        rows = []

        def columns(m: int) -> np.ndarray:
            """Return the variables of the selected arc into word `m` under the argument label."""
            arc = variables.arc(int(heads[m]), m)
            return arc[np.isin(variables.label[arc], ids)]

        for i, m in enumerate(arguments):
            h = int(heads[m])
            if self.head == "argument":
                if h > 0 and not self.go_together(words, h, m):
                    rows.append(row(self.name, columns(m), -np.inf, 0.0))
                continue
            for other in arguments[i + 1 :]:
                if int(heads[other]) == h and not self.go_together(words, m, other):
                    rows.append(row(self.name, np.concatenate([columns(m), columns(other)]), -np.inf, 1.0))
        return rows

    def forbidden(self, variables: Variables) -> list[tuple[int, ...]]:
        """Return the variables, or pairs of variables, of incompatible arguments. O(arguments squared).

        If `head` is "conjunction", return a pair of variables for every two incompatible arguments. If `head` is
        "argument", return the variable of every argument that is incompatible with its head.
        """
        words, result = variables.words, list[tuple[int, ...]]()
        of_head: dict[int, list[tuple[int, int]]] = {}
        for v in variables.labelled(self.label).tolist():
            h, m = int(variables.head[v]), int(variables.mod[v])
            if self.head == "argument":
                result += [(v,)] if h > 0 and not self.go_together(words, h, m) else []
                continue
            others = of_head.setdefault(h, [])
            result += [(other, v) for other, word in others if word != m and not self.go_together(words, word, m)]
            others.append((v, m))
        return result
