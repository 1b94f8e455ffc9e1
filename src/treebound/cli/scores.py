"""The command that decodes scores of one's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treebound.cli.common import MANY, Marginals, Margins, Output, Workers, check_files, output_file
from treebound.cli.groups import Group, grouped
from treebound.support.progress import counting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Stated(Group):
    """The problem that scores state, and the decoder."""

    decoder: Annotated[
        str, typer.Option(help="branch-and-bound, or another registered one to compare with, for instance eisner.")
    ] = "branch-and-bound"
    space: Annotated[str, typer.Option(help="projective, or non-projective: arcs may cross.")] = "projective"
    multi_root: Annotated[
        bool, typer.Option("--multi-root", help="Sentences may have several roots. [default: one]")
    ] = False
    memory: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1e6,
            help="Refuse a sentence whose tables would take more than this many GiB, by an estimate.",
        ),
    ] = 2.0


@dataclass(frozen=True)
class Wanted(Group):
    """What is wanted beside the best tree."""

    k_best: Annotated[
        int,
        typer.Option(
            min=1,
            max=MANY,
            help="Write the N best trees, with their scores, as a comment treebound_kbest. 1 writes none.",
        ),
    ] = 1
    margins: Margins = False
    marginals: Marginals = False


@grouped
def decode(
    scores: Annotated[Path, typer.Argument(help="Scores of arcs in a .npz file of numpy, see above.")],
    stated: Stated,
    wanted: Wanted,
    output: Output = None,
    verify: Annotated[
        bool, typer.Option("--check", help="Prove every tree by the checker of `treebound check`. [default: not]")
    ] = False,
    workers: Workers = 1,
) -> None:
    """Decode scores of one's own, of a neural parser say: exact trees as CoNLL-U, with what is proved about them.

    SCORES holds a matrix a sentence, [n + 1, n + 1], head first, 0 being the root, as np.savez("scores.npz", *matrices)
    writes them, or as arc_0, arc_1, ..; labels_0, .. are [n + 1, n + 1, L] with label_names, forms the words of all
    sentences. -inf forbids an arc, as does a mask such as -1e9 or the smallest float. `python -m pydoc
    treebound.scores.archive` says all; `treebound.decode` does the same in Python.
    """
    from treebound.scores.command import decoded

    check_files([scores], [output])
    how = {"space": stated.space, "single_root": not stated.multi_root, "decoder": stated.decoder}
    how |= asdict(wanted) | {"memory": stated.memory}

    def progress(items: Iterable, total: int) -> Iterator:
        with counting("sentences", total or None) as advance:
            for item in items:
                yield item
                advance(1)

    text = decoded(scores, how, workers, verify, progress)
    with output_file(output) as out:
        out.write(text)
