"""The command `decode`, which finds the best trees for the scores of another parser."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treebound.cli.common import (
    MANY,
    SPACES,
    Marginals,
    Margins,
    Output,
    Workers,
    check_files,
    decoder_names,
    output_file,
)
from treebound.cli.groups import Group, grouped
from treebound.support.progress import counting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Stated(Group):
    """Options of `treebound decode`: decoder, set of trees and memory limit."""

    decoder: Annotated[
        str,
        typer.Option(
            autocompletion=decoder_names,
            help="Decoder that finds the trees: branch-and-bound (exact), or another one for comparison, for instance "
            "eisner.",
        ),
    ] = "branch-and-bound"
    space: Annotated[
        str,
        typer.Option(
            autocompletion=lambda: list(SPACES),
            help="Trees to search: projective, or non-projective, which allows crossing arcs.",
        ),
    ] = "projective"
    multi_root: Annotated[
        bool, typer.Option("--multi-root", help="Allow several roots in a sentence. [default: a single root]")
    ] = False
    memory: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1e6,
            help="Refuse a sentence if the tables of its dynamic program need more than this many GiB of memory.",
        ),
    ] = 2.0


@dataclass(frozen=True)
class Extras(Group):
    """Outputs in addition to the best tree."""

    k_best: Annotated[
        int,
        typer.Option(
            min=1,
            max=MANY,
            metavar="N",
            help="Write the N best trees, with their scores, as a comment treebound_kbest. 1 writes no such comment.",
        ),
    ] = 1
    margins: Margins = False
    marginals: Marginals = False


@grouped
def decode(
    scores: Annotated[Path, typer.Argument(help="File of numpy (.npz) with the scores of arcs, see above.")],
    stated: Stated,
    extras: Extras,
    output: Output = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--check", help="Verify the proof of every tree with the checker of `treebound check`. [default: no check]"
        ),
    ] = False,
    workers: Workers = 1,
) -> None:
    """Find the best trees for the arc scores of another parser.

    The other parser may be a neural parser, for instance. The output is CoNLL-U.

    SCORES holds one matrix [n + 1, n + 1] per sentence of n words. Entry [h, m] is the score of the arc from head h to
    word m; index 0 is the root. np.savez("scores.npz", *matrices) writes such a file; the arrays may also be named
    arc_0, arc_1, and so on. Optional arrays labels_0, labels_1, ... [n + 1, n + 1, L] hold scores of L labels. The
    array label_names then holds the names of the labels. The optional array forms holds the words. -inf forbids an arc,
    and so does a mask such as -1e9 or the smallest float. `python -m pydoc treebound.scores.archive` describes the
    format in full. `treebound.decode` does the same in Python.

    \b
    Examples:
    treebound decode scores.npz -o parsed.conllu
    treebound decode scores.npz -o parsed.conllu --space non-projective --margins --check
    """
    from treebound.scores.command import decoded

    check_files([scores], [output])
    how = {"space": stated.space, "single_root": not stated.multi_root, "decoder": stated.decoder}
    how |= asdict(extras) | {"memory": stated.memory}

    def progress(items: Iterable, total: int) -> Iterator:
        with counting("sentences", total or None) as advance:
            for item in items:
                yield item
                advance(1)

    text = decoded(scores, how, workers, verify, progress)
    with output_file(output) as out:
        out.write(text)
