"""Damaged proofs, and claims with another score, bound, status or tree; enumeration decides which claims are true."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
from oracles.score import best, scores
from oracles.trees import trees
from strategies import FAMILIES, random_problem

from treebound.checker.certificates import CHART_FAMILIES, check_parse
from treebound.checker.majorants import TOLERANCE
from treebound.checker.proofs import line, proof
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate

SPACES = ("projective", "non-projective")


STATUSES = ("optimal", "gap", "limit", "heuristic", "infeasible", "nonsense", "Optimal", "")


def real_proof(rng, space, stars):
    """Return (problem, parse, proof as JSON data) of a random feasible problem; the search branches if possible."""
    while True:
        families = [f for f in FAMILIES if rng.random() < 0.4]
        kind = str(rng.choice(["mixed", "dense", "tied"]))
        problem = random_problem(rng, families, max_n=6 if space == "projective" else 5, space=space, kind=kind)
        decoder = BranchAndBound(space=space, record=True, root_steps=3, node_steps=2, stars=8 if stars else 0)
        parse = decoder.decode(problem)
        if parse.status == "optimal" and problem.n > 2:
            return problem, parse, json.loads(line(problem, certificate(parse.record)))


def is_true(problem, parse, space):
    """Return whether enumeration confirms a claim; real scores are compared with the tolerance of the checker."""
    slack = 0 if problem.unit or math.isinf(parse.bound) else 4 * TOLERANCE * max(1.0, abs(parse.bound))
    rounding = 0 if problem.unit else 4 * TOLERANCE * problem.total
    top = best(problem, space)[0]
    if parse.status not in STATUSES[:5] or parse.value != parse.value or parse.bound != parse.bound:
        return False
    if parse.status == "infeasible":
        return top == parse.value == parse.bound == -math.inf and not parse.heads[1:].any()
    if parse.status == "limit" and parse.value == -math.inf:
        return top <= parse.bound + slack and not parse.heads[1:].any()
    rows = np.flatnonzero((trees(problem.n, space, problem.single_root) == parse.heads).all(axis=1)).tolist()
    if not rows:
        return False
    score = scores(problem, space)[rows[0]]
    if math.isinf(parse.value) or not abs(score - parse.value) <= slack + rounding or top > parse.bound + slack:
        return False
    if parse.status == "heuristic":
        return parse.bound == math.inf
    return parse.status != "optimal" or abs(parse.bound - parse.value) <= slack


def number(rng, old):
    """Return a random value to replace the number `old`: a close or extreme number, or a value of another type."""
    close = old + rng.choice([-1000, -7, -1, 1, 2, 50]).item() if isinstance(old, (int, float)) else 1
    candidates = [
        0,
        -old,
        close,
        2**62,
        2**63,
        -(10**30),
        0.5,
        -0.0,
        1e300,
        math.nan,
        math.inf,
        True,
        None,
        "1",
        [1],
        {},
    ]
    return close if rng.random() < 0.6 else candidates[int(rng.integers(len(candidates)))]


def damaged(rng, data, problem):
    """Return (change, proof): the name of a random change, and the proof with this change."""
    data = json.loads(json.dumps(data))
    nodes, steps = data["nodes"], data["steps"]
    change = str(rng.choice(["number"] * 6 + ["gap", "node", "nodes", "step", "steps", "family", "exact", "header"]))
    filled_steps = [s for s in steps if s[4]]
    if change == "number" and filled_steps:
        numbers = filled_steps[int(rng.integers(len(filled_steps)))][4]
        index = int(rng.integers(len(numbers)))
        numbers[index] = number(rng, numbers[index])
    elif change == "gap" and filled_steps:
        gaps = filled_steps[int(rng.integers(len(filled_steps)))][3]
        index = int(rng.integers(len(gaps)))
        gaps[index] = number(rng, gaps[index])
    elif change == "node":
        node = nodes[int(rng.integers(len(nodes)))]
        index = int(rng.integers(3))
        node[index] = int(rng.integers(-2, max(4, problem.arcs))) if rng.random() < 0.7 else number(rng, node[index])
    elif change == "nodes":
        index = int(rng.integers(len(nodes)))
        operation = int(rng.integers(4))
        if operation == 0:
            del nodes[index]
        elif operation == 1:
            nodes.insert(index, list(nodes[index]))
        elif operation == 2:
            nodes.append([index, int(rng.integers(problem.arcs)), int(rng.integers(2))])
        else:
            nodes.reverse()
    elif change == "step" and steps:
        step = steps[int(rng.integers(len(steps)))]
        step[int(rng.integers(3))] = rng.choice(
            ["shift", "slope", "child", "parent", "sibling", "comb*", "", "7"]
        ).item()
    elif change == "steps" and steps:
        a, b = rng.integers(0, len(steps), 2).tolist()
        if rng.random() < 0.5:
            del steps[a : max(a, b) + 1]
        else:
            steps[a], steps[b] = steps[b], steps[a]
    elif change == "family" and steps:
        step = steps[int(rng.integers(len(steps)))]
        step[2] = str(rng.choice([*FAMILIES, "cousin", step[2] + "*"]))
    elif change == "exact":
        data["exact"] = [f for f in sorted({*CHART_FAMILIES, *data["exact"], "sibling"}) if rng.random() < 0.5]
    else:
        key = str(rng.choice(sorted(data)))
        if rng.random() < 0.5:
            del data[key]
        else:
            data[key] = number(rng, data[key] if isinstance(data[key], int) else 3)
    return change, data


def claimed(rng, problem, parse, space):
    """Return (change, claim): the name of a random change, and the claim with another score, bound, status or tree."""
    every = trees(problem.n, space, problem.single_root)
    heads = every[int(rng.integers(len(every)))]
    true_score = scores(problem, space)[(every == heads).all(axis=1)][0]
    delta = float(rng.choice([-100, -1, 1, 3, 1e9])) * (1 if problem.unit else float(rng.choice([1e-6, 1.0])))
    value = float(rng.choice([math.nan, math.inf, -math.inf, -1e300, 1e300, 0.0, -0.0]))
    change = str(rng.choice(["bound", "both", "score", "odd bound", "odd score", "status", "other", "heads", "none"]))
    zero = np.array([-1] + [0] * problem.n, np.int32)
    return (
        change,
        {
            "bound": dataclasses.replace(parse, bound=parse.bound + delta, status=str(rng.choice(STATUSES[:5]))),
            "both": dataclasses.replace(parse, bound=parse.bound + delta, value=parse.value + delta),
            "score": dataclasses.replace(parse, value=parse.value + delta),
            "odd bound": dataclasses.replace(parse, bound=value, status=str(rng.choice(STATUSES[:5]))),
            "odd score": dataclasses.replace(parse, value=value),
            "status": dataclasses.replace(parse, status=str(rng.choice(STATUSES[1:]))),
            "other": Parse(heads, true_score, true_score, str(rng.choice(STATUSES[:3]))),  # type: ignore[arg-type]
            "heads": dataclasses.replace(parse, heads=rng.integers(-1, problem.n + 1, problem.n + 1).astype(np.int32)),
            "none": Parse(
                zero, -math.inf, float(rng.choice([-math.inf, parse.value - 1])), str(rng.choice(STATUSES[:5]))
            ),
        }[change],
    )  # type: ignore[arg-type]


def faults(problem, parse, text, space):
    """Return the faults that the checker finds in a claim. Its proof is `text`, a line of a certificate file."""
    try:
        stored = proof(problem, Path("proofs"), 2, text)
    except InputError as error:
        good = str(error).startswith("proofs:2: ") and "\n" not in str(error)
        return [str(error)] if good else []
    return check_parse(problem, parse, stored, space) if stored is not None else ["no proof"]
