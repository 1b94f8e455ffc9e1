"""Groups of suspects with equal changes. A large group points to a guideline rather than to single errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treebound.mining.suspects import Suspect

SYSTEMATIC = 30  #: a group with more suspects than this is systematic
EXAMPLES = 3  #: number of suspects that a group names as examples


@dataclass(frozen=True)
class Group:
    """The suspects that share one change.

    key       `Suspect.group`, for instance `nmod -> obl, head moves right`
    kind      kind of the suspects: head, label or tag
    count     number of suspects
    share     `count` divided by the number of all suspects
    margin    sum of the margins
    examples  indices of the group's first suspects in the ranked list, from 0
    """

    key: str
    kind: str
    count: int
    share: float
    margin: float
    examples: tuple[int, ...]

    @property
    def systematic(self) -> bool:
        """True if the number of equal changes makes a convention a likelier reason for them than errors."""
        return self.count > SYSTEMATIC


def groups(suspects: Sequence[Suspect], examples: int = EXAMPLES) -> list[Group]:
    """Group suspects by their change, largest group first; ties are ordered by total margin, then by key.

    Parameters
    ----------
    suspects : sequence of Suspect
        The ranked list.
    examples : int
        Number of suspects that each group names as examples, from the top of the list.

    Examples
    --------
    >>> suspect = Suspect(0, "1", 1, "Trees", "label", 2, "obj", "NOUN", 2, "nsubj", "NOUN", 1.5, True, 0.1)
    >>> groups([suspect])
    [Group(key='obj -> nsubj, same head', kind='label', count=1, share=1.0, margin=1.5, examples=(0,))]
    """
    places: dict[tuple[str, str], list[int]] = {}
    for i, suspect in enumerate(suspects):
        places.setdefault((suspect.kind, suspect.group), []).append(i)
    result = [
        Group(
            key,
            kind,
            len(members),
            len(members) / len(suspects),
            sum(suspects[i].margin for i in members),
            tuple(members[:examples]),
        )
        for (kind, key), members in places.items()
    ]
    return sorted(result, key=lambda group: (-group.count, -group.margin, group.key, group.kind))
