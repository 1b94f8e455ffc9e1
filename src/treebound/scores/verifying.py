"""Verify a parse without trusting any decoder: `treebound.check`."""

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
    """List the faults of a parse of `problem` as sentences; the list is empty if every claim is verified.

    The tree, its score and its status are verified. Each of the k best trees must be a tree, have its stated score and
    occur once, in order. The proof is the one in `parse.record` (decode with record=True). If there is none, a search
    proposes one. The proof is verified step by step in the checker's own exact arithmetic
    (`treebound.checker.certificates`). Margins, marginals, labels and the completeness of a list of k best trees are
    not verified. Real scores are checked as fractions, which takes ten to twenty times as long as integers. The scores
    of `problem` count, in which masks are -inf.

    Parameters
    ----------
    problem : Problem
        Scored sentence, from `treebound.problem`.
    parse : Parse
        Parse to verify, from `treebound.decode`.
    space : "projective" or "non-projective", optional
        Set of trees among which the tree is claimed to be the best. By default, the space given to `treebound.problem`,
        or else projective trees.
    prove : bool, default True
        Whether to verify the bound, and with it the status: that no tree scores more, or that no tree exists.

    Returns
    -------
    list of str
        One sentence for each fault.

    Raises
    ------
    InputError
        If `problem` is not a Problem or `parse` is not a Parse.

    Notes
    -----
    Verifying the tree takes O(n + parts). Verifying the proof takes one dynamic program for each search node.

    References
    ----------
    Qian & Liu (2013), Branch and bound algorithm for dependency parsing with non-local features, TACL 1.

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
        reason = f"arguments of type {type(problem).__name__} and {type(parse).__name__}"
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
    """Return the faults of the list of k best trees."""
    trees = parse.confidence.trees if parse.confidence is not None else ()
    seen: set[tuple[int, ...]] = set()
    last = math.inf
    for number, tree in enumerate(trees, 1):
        if faults := check_parse(problem, tree, space=space):
            return [f"tree {number} of the k best: {fault}" for fault in faults]
        heads = tuple(tree.heads.tolist())
        if tree.value > last or heads in seen:
            return [f"tree {number} of the k best scores more than the tree before it, or occurs twice"]
        seen.add(heads)
        last = tree.value
    if trees and trees[0].heads.tolist() != parse.heads.tolist():
        return ["the first of the k best trees is not the tree of the parse"]
    return []
