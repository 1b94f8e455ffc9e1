"""Checks the proof that no derivation of a chart scores more with a chain over its variables than a bound.

Plain code over whole numbers that shares nothing with the search (`systems.ccg.joint_search`). A proof is a tree of
nodes, each of which requires or forbids a variable. With multipliers u of the variables, the best derivation under
f - u and the best sequence under g + u together bound every derivation that a node allows (Rush et al. 2010).

A file holds proofs as `encoded` gives them; chart and chain are made anew from the model, so that nothing of them is
believed of a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Score = int | None  #: None: impossible


class Statement(NamedTuple):
    """A chart and a chain over its V variables, in whole numbers of one unit.

    first, left, right, var, weight  of a `kernels.chart.hypergraph.Hypergraph`; variable V is none
    word        of every variable, ascending; every word has one
    tag         of every variable: row and column of transition
    emission    of every variable
    transition  square; its last row and column are the border
    """

    first: Sequence[int]
    left: Sequence[int]
    right: Sequence[int]
    var: Sequence[int]
    weight: Sequence[int]
    word: Sequence[int]
    tag: Sequence[int]
    emission: Sequence[Score]
    transition: Sequence[Sequence[int]]


class Node(NamedTuple):
    """What its parent allows, and of the word of `variable` only that (value 1) or all but that (value 0).

    parent       its place, before this one; -1 of the root, which comes first and decides nothing (variable -1)
    multipliers  of variables; the others' are 0
    """

    parent: int
    variable: int
    value: int
    multipliers: Mapping[int, int]


class Claim(NamedTuple):
    """A derivation by its edges (from the goal down, left before right), its score, a bound, and the proof of that.

    bound  None: nothing is claimed of other derivations
    """

    edges: Sequence[int]
    value: int
    bound: Score
    nodes: Sequence[Node]


class Proof(NamedTuple):
    """A derivation and the proof of its bound as a file holds them.

    words, variables, edges  of the sentence and its chart, to tell a proof of something else
    """

    words: int
    variables: int
    edges: int
    derivation: list[int]
    nodes: list[Node]


def encoded(proof: Proof) -> dict[str, Any]:
    """As JSON data: a node is [parent, variable, value, variables with multipliers, those]."""
    nodes = [[*node[:3], list(node.multipliers), list(node.multipliers.values())] for node in proof.nodes]
    return proof._asdict() | {"nodes": nodes}


def decoded(data: Any) -> Proof:
    """The proof that `encoded` made. TypeError, ValueError or KeyError: it is none."""
    if data.keys() != set(Proof._fields):
        raise ValueError(f"its entries are {', '.join(map(str, data))}"[:80])
    nodes = []
    for parent, variable, value, places, multipliers in data["nodes"]:
        _whole([parent, variable, value, *places, *multipliers])
        nodes.append(Node(parent, variable, value, dict(zip(places, multipliers, strict=True))))
        if len(nodes[-1].multipliers) < len(places):
            raise ValueError("a multiplier given twice")
    proof = Proof(**data | {"nodes": nodes})
    _whole([*proof[:3], *proof.derivation])
    return proof


def _whole(numbers: list[Any]) -> None:
    if not all(type(x) is int for x in numbers):
        raise TypeError("not all are whole numbers")


def claim_faults(given: Statement, claim: Claim) -> list[str]:
    """What is wrong with a claim, in sentences; empty if nothing is. O(nodes (E + sum c_i c_i+1)) steps of Python."""
    found = _read(given, claim.edges)
    if isinstance(found, str):
        return [found]
    if found != claim.value:
        return [f"the derivation scores {found}, not {claim.value}"]
    if claim.bound is None:
        return []
    if claim.bound < claim.value:
        return [f"the bound {claim.bound} is less than the score {claim.value}"]
    return _tree_faults(given, claim.nodes, claim.bound)


def _read(given: Statement, edges: Sequence[int]) -> Score | str:
    """The joint score of a derivation; what is wrong with it."""
    stack, total, variables = [len(given.first) - 2], 0, []
    for e in edges:
        item = stack.pop() if stack else 0
        if not (item and given.first[item] <= e < given.first[item + 1]):
            return f"edge {e} makes no item that the derivation needs"
        total += given.weight[e]
        if given.var[e] < len(given.word):
            variables.append(given.var[e])
        stack += [tail for tail in (given.right[e], given.left[e]) if tail]
    if stack:
        return "the derivation is not complete"
    if [given.word[v] for v in variables] != list(dict.fromkeys(given.word)):
        return "the derivation does not give every word a variable, from left to right"
    for v in variables:
        emission = given.emission[v]
        if emission is None:
            return f"variable {v} is impossible"
        total += emission
    border = len(given.transition) - 1
    path = [border, *(given.tag[v] for v in variables), border]
    return total + sum(given.transition[a][b] for a, b in pairwise(path))


def _tree_faults(given: Statement, nodes: Sequence[Node], claimed: int) -> list[str]:
    """What keeps the nodes from proving the bound that is claimed."""
    allowed: list[set[int]] = []
    children: list[list[Node]] = []
    for i, node in enumerate(nodes):
        if (node.parent == -1) != (i == 0) or not -1 <= node.parent < i:
            return [f"node {i} has no parent before it"]
        if not all(0 <= v < len(given.word) for v in node.multipliers):
            return [f"node {i} has multipliers of variables that are not there"]
        kept = {v for v, emission in enumerate(given.emission) if emission is not None}
        if i:
            if not (0 <= node.variable < len(given.word) and node.value in (0, 1)):
                return [f"node {i} decides nothing"]
            word = given.word[node.variable]
            kept = {
                v for v in allowed[node.parent] if given.word[v] != word or (v == node.variable) == bool(node.value)
            }
            children[node.parent].append(node)
        allowed.append(kept)
        children.append([])
    if not allowed:
        return ["there is no node"]
    split: set[int] = set()  # nodes that are left to their children
    for i, node in enumerate(nodes):
        if i and node.parent not in split:
            continue
        bound = _bound(given, allowed[i], node.multipliers)
        if bound is None or bound <= claimed:
            continue
        if sorted(child.value for child in children[i]) != [0, 1] or len({child.variable for child in children[i]}) > 1:
            return [f"node {i} is open: its bound is {bound}, that of the claim {claimed}"]
        split.add(i)
    return []


def _bound(given: Statement, allowed: set[int], multipliers: Mapping[int, int]) -> Score:
    """Of all derivations with allowed variables; None where there is none."""
    value: list[Score] = [0] + [None] * (len(given.first) - 2)
    none = len(given.word)
    for i in range(1, len(value)):
        for e in range(given.first[i], given.first[i + 1]):
            left, right, v = value[given.left[e]], value[given.right[e]], given.var[e]
            if left is None or right is None or not (v == none or v in allowed):
                continue
            score = given.weight[e] + left + right - multipliers.get(v, 0)
            top = value[i]
            if top is None or score > top:
                value[i] = score
    border = len(given.transition) - 1
    ends: dict[int, int] = {border: 0}  # best sequences so far by their last tag
    for word in dict.fromkeys(given.word):
        new: dict[int, int] = {}
        for v in (v for v in allowed if given.word[v] == word):
            own = given.emission[v]
            assert own is not None
            best = max((score + given.transition[a][given.tag[v]] for a, score in ends.items()), default=None)
            if best is not None:
                score = best + own + multipliers.get(v, 0)
                new[given.tag[v]] = max(score, new.get(given.tag[v], score))
        ends = new
    goal = value[-1]
    if goal is None or not ends:
        return None
    return goal + max(score + given.transition[a][border] for a, score in ends.items())
