"""The checker of proofs: honest proofs are accepted, and no proof makes it accept a claim that enumeration refutes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from oracles.score import best
from strategies import FAMILIES, random_problem
from tampering import claimed, damaged, faults, is_true
from valid_proofs import CHEATS, build_proof, changed_region, lower, random_case

import treebound
from attacks.scales import resized
from treebound.checker.proofs import line
from treebound.core.parse import Parse
from treebound.core.problem import PartTable, Problem
from treebound.decoders.exact.branch_and_bound.decoder import BranchAndBound
from treebound.decoders.exact.branch_and_bound.record import certificate

SPACES = ("projective", "non-projective")
DAMAGED = 8  #: number of damaged proofs and of changed claims of each problem
MOST_CALLS = 100  #: limit of dynamic programs; a longer proof of real scores takes seconds to check
Data = dict[str, Any]


def random_search(rng: np.random.Generator, space: str) -> BranchAndBound:
    """Return a search that records its proof; most searches have few steps, so that they branch."""
    stars, steps = int(rng.choice([0, 1, 8, 100])), int(rng.choice([1, 2, 3, 30]))
    scheme = str(rng.choice(["polyak", "momentum", "averaged", "block-coordinate"]))
    order = str(rng.choice(["depth-first", "best-first", "level"]))
    steps_of = {"root_steps": steps, "node_steps": steps, "stars": stars}
    return BranchAndBound(space=space, record=True, scheme=scheme, order=order, max_dp_calls=MOST_CALLS, **steps_of)


def problem_of(rng: np.random.Generator, space: str, largest: int) -> tuple[str, Problem]:
    """Return (name of the change of scores, random problem), half of them with few families."""
    share = float(rng.choice([0.15, 0.4]))
    families = [f for f in FAMILIES if rng.random() < share]
    scale, problem = resized(random_problem(rng, families, min_n=2, max_n=largest, space=space), rng)
    return scale, problem


def proof_of(problem: Problem, parse: Parse) -> Data:
    """Return the proof that a search recorded, as JSON data."""
    return json.loads(line(problem, certificate(parse.record)))


def spliced(rng: np.random.Generator, data: Data, other: Data) -> Data:
    """Return a proof with parts of the proof of another sentence with the same arcs."""
    data, other = json.loads(json.dumps(data)), json.loads(json.dumps(other))
    key = str(rng.choice(["nodes", "steps", "both", "tail", "numbers"]))
    if key in ("nodes", "steps"):
        data[key] = other[key]
    elif key == "both":
        data |= {"nodes": other["nodes"], "steps": other["steps"]}
    elif key == "tail":
        cut = int(rng.integers(len(data["nodes"]) + 1))
        data["nodes"] = data["nodes"][:cut] + other["nodes"][cut:]
    else:
        for step, foreign in zip(data["steps"], other["steps"], strict=False):
            if rng.random() < 0.5:
                step[3:] = foreign[3:]
    return data


def rescored(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem with its finite scores permuted: another sentence with the same arcs and parts."""

    def mixed(score: np.ndarray) -> np.ndarray:
        """Return the scores with their finite values in another order."""
        out, finite = score.copy(), score > -np.inf
        out[finite] = rng.permutation(score[finite])
        return out

    parts = {f: PartTable(f, table.arcs, mixed(table.score)) for f, table in problem.parts.items()}
    return problem.rescored(mixed(problem.arc), parts)


def check_honest(problem: Problem, parse: Parse, space: str, note: str) -> None:
    """Check that the checker accepts what a search proved."""
    note = f"{note}: {parse.value!r} <= {parse.bound!r}, {parse.status}"
    found_faults = faults(problem, parse, json.dumps(proof_of(problem, parse)).encode(), space)
    assert not found_faults, f"{note}: {found_faults}"
    assert not treebound.check(problem, replace(parse, record=None), space=space), f"{note}: without its proof"


def check_damage(rng: np.random.Generator, problem: Problem, parse: Parse, space: str, others: list[Data]) -> None:
    """Check that damaged proofs and changed claims prove nothing that is false."""
    data = proof_of(problem, parse)
    step = 1.0 if problem.unit else 1e-5 * max(1.0, abs(parse.bound))
    for _ in range(DAMAGED):
        change, wrong = damaged(rng, data, problem)
        if rng.random() < 0.3:
            change, wrong = "spliced", spliced(rng, data, others[int(rng.integers(len(others)))])
        texts = [json.dumps(proof).encode() for proof in (data, wrong)]
        claim, lie = claimed(rng, problem, parse, space)
        low = parse.bound - step
        for about, false in (
            (claim, lie),
            ("lower", replace(parse, bound=low)),
            ("none", Parse(parse.heads * 0 - (np.arange(problem.n + 1) == 0), -math.inf, low, "limit")),
        ):
            if not is_true(problem, false, space):
                for text in texts:
                    description = f"{about}, {change}: {false.value!r} <= {false.bound!r} {false.status}"
                    assert faults(problem, false, text, space), f"{description}, {false.heads.tolist()}"


def unlabelled_case(rng: np.random.Generator) -> list[str]:
    """Check honest and damaged proofs of one random problem; one in five is too long to be enumerated."""
    space = str(rng.choice(SPACES))
    long = rng.random() < 0.2
    scale, problem = problem_of(rng, space, 8 if long else 6 if space == "projective" else 5)
    search = random_search(rng, space)
    parse = search.decode(problem)
    note = f"{search.options}, {scale}, n {problem.n}, {sorted(problem.families)}"
    kinds = [f"{space}: {parse.status}", f"scores {scale}"]
    if parse.status != "optimal" and not (parse.status == "infeasible" and problem.finite):
        return kinds  # parts that forbid every tree end some searches without a proof
    check_honest(problem, parse, space, note)
    if problem.n > 6 or parse.status == "infeasible":
        return [*kinds, "honest"]
    others = []
    for _ in range(2):
        other = rescored(problem, rng)
        other_parse = search.decode(other)
        if other_parse.record is not None:
            others.append(proof_of(other, other_parse))
    if best(problem, space)[0] > -math.inf and others:
        check_damage(rng, problem, parse, space, others)
    return [*kinds, "damaged"]


def valid_case(rng: np.random.Generator) -> list[str]:
    """Check honest, dishonest and damaged proofs of the best valid tree of one random sentence."""
    space = str(rng.choice(SPACES))
    case = random_case(rng, space, max_n=3)
    if any(np.isneginf(table.score).any() for table in case.labelled.problem.parts.values()):
        return [f"valid, {space}: forbidden parts"]  # if they forbid a whole region, some searches have no proof
    honest = build_proof(case, case.best).proof
    parse = case.parse(case.best)
    assert case.faults(parse, honest) == [], case.faults(parse, honest)
    if case.best is None or not lower(case):
        return [f"valid, {space}: honest"]
    worse = lower(case)
    lie = case.parse(worse[int(rng.integers(len(worse)))])
    cheat = CHEATS[int(rng.integers(len(CHEATS)))]
    proofs = [honest, build_proof(case, case.best).proof, build_proof(case, worse[-1], cheat).proof]
    for _ in range(DAMAGED):
        change, proof = changed_region(rng, proofs[int(rng.integers(3))], case)
        for false in (lie, case.parse(None)):
            assert case.faults(false, proof), f"{change}: {false}"
    return [f"valid, {space}: damaged"]


def case(seed: int) -> list[str]:
    """Check the proofs of one random sentence."""
    rng = np.random.default_rng(seed)
    return valid_case(rng) if rng.random() < 0.3 else unlabelled_case(rng)


def cases(folder: Path) -> Callable[[int], list[str]]:
    """Return the function `case`, which needs no folder."""
    return case
