"""Test that no false claim is accepted, whatever its proof; enumeration decides which claims are true.

Hundreds of false claims and damaged proofs are made from real ones.
`make test-long TESTS=tests/test_evaluation_tampering.py` tries many more.
"""

import dataclasses
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
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
    if math.isinf(parse.value) or not abs(score - parse.value) <= slack or top > parse.bound + slack:
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


def tamper(seed, space, stars, sentences, times):
    """Return (refused, accepted): the numbers of refused false claims by kind of change, and the number of accepted
    damaged proofs of true claims.
    """
    rng = np.random.default_rng(seed)
    refused, accepted = Counter(), 0
    others = []
    for _ in range(sentences):
        problem, parse, data = real_proof(rng, space, stars)
        text = json.dumps(data).encode()
        assert faults(problem, parse, text, space) == []
        for _ in range(times):
            change, wrong = damaged(rng, data, problem)
            if others and rng.random() < 0.05:
                change, wrong = "another sentence's", others[int(rng.integers(len(others)))]
            changed = json.dumps(wrong).encode()
            accepted += faults(problem, parse, changed, space) == []
            # no proof may prove a false claim
            low = parse.bound - (1 if problem.unit else 1e-5 * max(1.0, abs(parse.bound)))
            for lie in (dataclasses.replace(parse, bound=low), Parse(parse.heads * 0, -math.inf, low, "limit")):
                assert faults(problem, lie, changed, space), (change, wrong, problem)
                refused[change] += 1
            change, lie = claimed(rng, problem, parse, space)
            if not is_true(problem, lie, space):
                for proof_text in (text, changed):
                    assert faults(problem, lie, proof_text, space), (change, lie, problem)
                    refused["claim: " + change] += 1
        others.append(data)
    return refused, accepted


@pytest.mark.parametrize("stars", [False, True], ids=["shares", "stars"])
@pytest.mark.parametrize("space", SPACES)
def test_nothing_false_is_accepted(space, stars):
    refused, accepted = tamper(1, space, stars, sentences=12, times=12)
    assert refused.total() > 400
    assert len(refused) >= 14
    assert accepted < 12 * 12 / 2  # most damage is noticed; other damage leaves a valid proof


@pytest.mark.long
@pytest.mark.parametrize("stars", [False, True], ids=["shares", "stars"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "seed", range(2, 62)
)  # many short tests, so that a random sample of the long tests ends in time
def test_nothing_false_is_accepted_in_long_runs(space, stars, seed):
    assert tamper(seed, space, stars, sentences=20, times=50)[0].total() > 1_000


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"{",
        b"\xff\xfe",
        b"null null",
        b"NaN",
        b'{"words": Infinity}',
        b'{"words": 1, "words": 2}',
        b'{"words": ' + b"9" * 6000 + b"}",
        b"[1, 2]",
        b'"words"',
        b"7",
        b"true",
        b"{}",
        b"\x00",
        b'{"words":1e999}',
    ],
    ids=lambda text: text[:20].decode("latin1"),
)
def test_an_invalid_line_is_a_one_line_error(text):
    problem = random_problem(np.random.default_rng(0), ["sibling"], max_n=5, feasible=True)
    with pytest.raises(InputError, match=r"^proofs:7: [^\n]{1,200}$"):
        proof(problem, Path("proofs"), 7, text)
