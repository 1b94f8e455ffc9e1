"""Check the proof that no derivation of a chart, together with a chain over its variables, scores more than a bound.

The code uses Python integers and shares nothing with the search (`systems.ccg.joint_search`). A proof is a tree of
nodes, each of which requires or forbids a variable. Let f be the scores of the chart, g the scores of the chain, and u
multipliers of the variables. The best derivation under f - u and the best sequence under g + u together bound every
derivation that a node allows (Rush et al. 2010).

A file holds proofs in the form of `encoded`. Chart and chain are computed anew from the model, so that the check does
not rely on the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Score = int | None  #: None means impossible


class Statement(NamedTuple):
    """A chart and a chain over its V variables, in integers of one unit.

    first, left, right, var, weight  fields of a `kernels.chart.hypergraph.Hypergraph`; variable V means none
    word        word of every variable, ascending; every word has a variable
    tag         tag of every variable: its row and column in `transition`
    emission    emission score of every variable
    transition  square matrix of scores; the last row and column are for the two ends of the sentence
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
    """A node of the proof, which restricts the variables of one word that its parent allows.

    parent       index of the parent, before this node; -1 for the root, which comes first
    variable     the variable of the decision; -1 for the root
    value        1 allows only `variable` for its word, 0 allows all other variables of the word
    multipliers  multipliers of variables; absent ones are 0
    """

    parent: int
    variable: int
    value: int
    multipliers: Mapping[int, int]


class Claim(NamedTuple):
    """A derivation with its score, a bound, and the proof of the bound.

    edges  edges of the derivation, from the goal down, left before right
    value  score of the derivation
    bound  bound on all derivations; None claims nothing about other derivations
    nodes  nodes of the proof
    """

    edges: Sequence[int]
    value: int
    bound: Score
    nodes: Sequence[Node]


class Proof(NamedTuple):
    """A derivation and the proof of its bound, as stored in a file.

    words             number of words of the sentence
    variables, edges  numbers of variables and edges of its chart; a check compares the three numbers with the sentence,
                      to recognise the proof of another sentence
    """

    words: int
    variables: int
    edges: int
    derivation: list[int]
    nodes: list[Node]


def encoded(proof: Proof) -> dict[str, Any]:
    """Return a proof as JSON data.

    A node is [parent, variable, value, variables with multipliers, multipliers].
    """
    nodes = [[*node[:3], list(node.multipliers), list(node.multipliers.values())] for node in proof.nodes]
    return proof._asdict() | {"nodes": nodes}


def decoded(data: Any) -> Proof:
    """Return the proof that `encoded` encoded. Raises TypeError, ValueError or KeyError for other data."""
    if data.keys() != set(Proof._fields):
        raise ValueError(f"its entries are {', '.join(map(str, data))}"[:80])
    nodes = []
    for parent, variable, value, places, multipliers in data["nodes"]:
        _require_integers([parent, variable, value, *places, *multipliers])
        nodes.append(Node(parent, variable, value, dict(zip(places, multipliers, strict=True))))
        if len(nodes[-1].multipliers) < len(places):
            raise ValueError("a multiplier given twice")
    proof = Proof(**data | {"nodes": nodes})
    _require_integers([*proof[:3], *proof.derivation])
    return proof


def _require_integers(numbers: list[Any]) -> None:
    """Raise TypeError unless all numbers are integers."""
    if not all(type(x) is int for x in numbers):
        raise TypeError("not all entries are integers")


def claim_faults(statement: Statement, claim: Claim) -> list[str]:
    """Return the faults of a claim as sentences; an empty list if there are none.

    Takes O(nodes (E + sum c_i c_i+1)) operations in Python. E is the number of edges of the chart, and c_i the number
    of variables of word i.
    """
    score = _joint_score(statement, claim.edges)
    if isinstance(score, str):
        return [score]
    if score != claim.value:
        return [f"the derivation scores {score}, not {claim.value}"]
    if claim.bound is None:
        return []
    if claim.bound < claim.value:
        return [f"the bound {claim.bound} is less than the score {claim.value}"]
    return _tree_faults(statement, claim.nodes, claim.bound)


def _joint_score(statement: Statement, edges: Sequence[int]) -> Score | str:
    """Return the joint score of a derivation, or the reason why the edges are no derivation."""
    stack, total, variables = [len(statement.first) - 2], 0, []
    for e in edges:
        item = stack.pop() if stack else 0
        if not (item and statement.first[item] <= e < statement.first[item + 1]):
            return f"edge {e} builds no item that the derivation needs"
        total += statement.weight[e]
        if statement.var[e] < len(statement.word):
            variables.append(statement.var[e])
        stack += [tail for tail in (statement.right[e], statement.left[e]) if tail]
    if stack:
        return "the derivation is not complete"
    if [statement.word[v] for v in variables] != list(dict.fromkeys(statement.word)):
        return "the derivation does not give every word a variable, from left to right"
    for v in variables:
        emission = statement.emission[v]
        if emission is None:
            return f"variable {v} is impossible"
        total += emission
    border = len(statement.transition) - 1
    path = [border, *(statement.tag[v] for v in variables), border]
    return total + sum(statement.transition[a][b] for a, b in pairwise(path))


def _tree_faults(statement: Statement, nodes: Sequence[Node], claimed: int) -> list[str]:
    """Return the reasons why the nodes do not prove the claimed bound."""
    allowed: list[set[int]] = []
    children: list[list[Node]] = []
    for i, node in enumerate(nodes):
        if (node.parent == -1) != (i == 0) or not -1 <= node.parent < i:
            return [f"node {i} has no parent before it"]
        if not all(0 <= v < len(statement.word) for v in node.multipliers):
            return [f"node {i} has multipliers of unknown variables"]
        kept = {v for v, emission in enumerate(statement.emission) if emission is not None}
        if i:
            if not (0 <= node.variable < len(statement.word) and node.value in (0, 1)):
                return [f"node {i} decides nothing"]
            word = statement.word[node.variable]
            kept = {
                v for v in allowed[node.parent] if statement.word[v] != word or (v == node.variable) == bool(node.value)
            }
            children[node.parent].append(node)
        allowed.append(kept)
        children.append([])
    if not allowed:
        return ["there is no node"]
    split: set[int] = set()  # open nodes, which their children must close
    for i, node in enumerate(nodes):
        if i and node.parent not in split:
            continue
        bound = _bound(statement, allowed[i], node.multipliers)
        if bound is None or bound <= claimed:
            continue
        if sorted(child.value for child in children[i]) != [0, 1] or len({child.variable for child in children[i]}) > 1:
            return [f"node {i} is open: its bound is {bound}, but the claimed bound is {claimed}"]
        split.add(i)
    return []


def _bound(statement: Statement, allowed: set[int], multipliers: Mapping[int, int]) -> Score:
    """Return a bound on all derivations with allowed variables, or None if there is no such derivation."""
    value: list[Score] = [0] + [None] * (len(statement.first) - 2)
    none = len(statement.word)
    for i in range(1, len(value)):
        for e in range(statement.first[i], statement.first[i + 1]):
            left, right, v = value[statement.left[e]], value[statement.right[e]], statement.var[e]
            if left is None or right is None or not (v == none or v in allowed):
                continue
            score = statement.weight[e] + left + right - multipliers.get(v, 0)
            top = value[i]
            if top is None or score > top:
                value[i] = score
    border = len(statement.transition) - 1
    ends: dict[int, int] = {border: 0}  # last tag -> score of the best sequence so far
    for word in dict.fromkeys(statement.word):
        new: dict[int, int] = {}
        for v in (v for v in allowed if statement.word[v] == word):
            own = statement.emission[v]
            assert own is not None
            best = max((score + statement.transition[a][statement.tag[v]] for a, score in ends.items()), default=None)
            if best is not None:
                score = best + own + multipliers.get(v, 0)
                new[statement.tag[v]] = max(score, new.get(statement.tag[v], score))
        ends = new
    goal = value[-1]
    if goal is None or not ends:
        return None
    return goal + max(score + statement.transition[a][border] for a, score in ends.items())
