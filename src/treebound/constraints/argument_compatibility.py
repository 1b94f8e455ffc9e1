"""C4: the arguments of a coordination have compatible word classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from treebound.constraints.rows import Row, Selection, Variables, Words, row


class ArgumentCompatibility:
    """For every two arguments of a coordination whose classes do not go together, when they occur: e + e <= 1.

    label      of arguments
    compatible pairs of word classes; a class goes together with itself
    wildcard   endings of forms that go together with everything, as their tags are often wrong (Dutch: -en)
    head       conjunction: the arguments are the modifiers of one word, two at a time;
               argument: the first argument heads the others, as in Universal Dependencies; then e <= 0
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
        """Whether words i and j may be arguments of one coordination."""
        a, b = words.word_class[i], words.word_class[j]
        if a == b or frozenset((a, b)) in self.compatible:
            return True
        return bool(self.wildcard) and (
            words.lower[i].endswith(self.wildcard) or words.lower[j].endswith(self.wildcard)
        )

    def start(self, variables: Variables) -> list[Row]:
        """None: most would never be needed."""
        return []

    def violated(self, variables: Variables, selection: Selection) -> list[Row]:
        """O(arguments squared)."""
        ids = list(variables.ids([self.label]))
        words, heads = variables.words, selection.heads
        arguments = [m for m in range(1, variables.n + 1) if int(selection.labels[m]) in ids]
        rows = []

        def columns(m: int) -> np.ndarray:
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
        """Every two arguments (or every argument and its head) that do not go together. O(arguments squared)."""
        words, out = variables.words, list[tuple[int, ...]]()
        of_head: dict[int, list[tuple[int, int]]] = {}
        for v in variables.labelled(self.label).tolist():
            h, m = int(variables.head[v]), int(variables.mod[v])
            if self.head == "argument":
                out += [(v,)] if h > 0 and not self.go_together(words, h, m) else []
                continue
            others = of_head.setdefault(h, [])
            out += [(other, v) for other, word in others if word != m and not self.go_together(words, word, m)]
            others.append((v, m))
        return out
