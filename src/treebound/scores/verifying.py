"""Is a parse what it claims to be? `treebound.check`, which trusts no decoder."""

from __future__ import annotations

import math

from treebound.checker.certificates import certificate_faults, check_parse
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.spaces import Space
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import SearchRecord, certificate
from treebound.scores.statement import checked_setting


def check(problem: Problem, parse: Parse, *, space: Space | None = None, prove: bool = True) -> list[str]:
    """What is wrong with a parse of `problem`, in sentences; empty where all that it claims is verified.

    space  the trees among which it is the best; None: those that `treebound.problem` was told, else projective ones
    prove  verify the bound as well, that is, the status: that no tree scores more, or that there is none

    Verified are the tree, its score and what the status promises; of k best trees that each is one, has its score and
    is there once, in order. The proof is the one in `parse.record` (decode with record=True), else one that a search
    proposes; it is verified step by step in exact arithmetic of its own (`treebound.checker.certificates`). Not
    verified: margins, marginals, that a list of k best trees is complete, labels. Real scores are checked as fractions,
    which takes ten to twenty times as long as integers do. What counts are the scores of `problem`, where masks are
    -inf. Raises InputError for what is no problem or no parse.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import treebound
    >>> arc = [[0, 1, 3], [0, 0, 2], [0, 4, 0]]
    >>> problem, parse = treebound.problem(arc), treebound.decode(arc)
    >>> treebound.check(problem, parse)
    []
    >>> treebound.check(problem, replace(parse, value=8.0, bound=8.0))
    ['the tree scores 7, not 8.0', 'called optimal with bound 8.0 above the score 7']
    """
    if not isinstance(problem, Problem) or not isinstance(parse, Parse):
        reason = f"a {type(problem).__name__} and a {type(parse).__name__}"
        raise InputError(reason, hint="give what treebound.problem and treebound.decode return")
    if space is not None:
        checked_setting(space, True, None)
    among: Space = space or ("non-projective" if problem.canonical == "non-projective" else "projective")
    faults = check_parse(problem, parse, space=among) or _list_faults(problem, parse, among)
    if faults or not prove or parse.bound == math.inf:
        return faults
    record = parse.record
    if not isinstance(record, SearchRecord):
        record = BranchAndBound(space=among).proof(problem, parse.bound)
    if record is None:
        return ["no proof of its bound"]
    return certificate_faults(problem, parse.bound, certificate(record), among)


def _list_faults(problem: Problem, parse: Parse, space: Space) -> list[str]:
    """What is wrong about the k best trees."""
    trees = parse.confidence.trees if parse.confidence is not None else ()
    known: set[tuple[int, ...]] = set()
    last = math.inf
    for number, tree in enumerate(trees, 1):
        if faults := check_parse(problem, tree, space=space):
            return [f"tree {number} of the k best: {fault}" for fault in faults]
        heads = tuple(tree.heads.tolist())
        if tree.value > last or heads in known:
            return [f"tree {number} of the k best scores more than the one before it, or is there twice"]
        known.add(heads)
        last = tree.value
    if trees and trees[0].heads.tolist() != parse.heads.tolist():
        return ["the first of the k best trees is not the parse's own"]
    return []
