"""Decoders with random options against the enumeration of all trees."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from disguises import disguised
from masked_scores import MASKS, random_masked, with_masks
from oracles.score import scores
from oracles.trees import trees
from own_scores import random_scores, winners
from strategies import FAMILIES, random_problem

import treebound
from attacks.scales import resized
from treebound.checker.certificates import check_parse
from treebound.core.errors import InputError
from treebound.core.parse import Parse
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, NAMED, SIBLINGS, STARTS

sys.path.append(str(Path(__file__).parents[1] / "contract"))
from cells import BUDGET, OPTIONS

SPACES = ("projective", "non-projective")
DYNAMIC_PROGRAMS = ("eisner", "carreras", "grandparent-sibling", "koo-model0", "koo-model1", "chu-liu-edmonds")
#: options of the search that `treebound.decode` takes
PUBLIC = frozenset(
    {"start", "order", "scheme", "branching", "eliminate", "root_steps", "node_steps", "rho", "patience"}
)
TOLERANCE = 1e-9  #: relative error that `optimal` permits for real scores


def random_search(rng: np.random.Generator) -> dict[str, Any]:
    """Return random options of branch and bound; a third of them set limits, which may stop the search."""
    space = str(rng.choice(SPACES))
    published = space == "projective" and rng.random() < 0.15
    candidates: dict[str, list[Any]] = {
        "backbone": [name for name, b in BACKBONES.items() if b.space == space],
        "start": list(STARTS),
    }
    if not published:
        candidates |= {name: list(values) for name, values in NAMED.items()}
        candidates |= {"siblings": list(SIBLINGS), "eliminate": [True, False], "record": [True]}
        candidates |= {"root_steps": [1, 3, 30], "node_steps": [1, 3], "rho": [0.1, 0.5, 1.0, 1.9]}
        candidates |= {"patience": [1, 3], "stars": [0, 1, 8, 100]}
    options = {name: values[rng.integers(len(values))] for name, values in candidates.items() if rng.random() < 0.3}
    if rng.random() < 0.3:
        options |= {str(rng.choice(["max_dp_calls", "max_nodes"])): int(rng.integers(1, 8))}
    return {"space": space, **({"config": "published"} if published else {}), **options}


def random_decoder(rng: np.random.Generator) -> tuple[str, dict[str, Any], Decoder]:
    """Return (name, options, decoder): mostly branch and bound and dynamic programs, sometimes slower decoders."""
    chance = rng.random()
    if chance < 0.65:
        name, options = "branch-and-bound", random_search(rng)
    elif chance < 0.9:
        name, options = str(rng.choice(DYNAMIC_PROGRAMS)), {}
    else:
        others = sorted(set(DECODERS) - {"branch-and-bound", *DYNAMIC_PROGRAMS})
        name = str(rng.choice(others))
        every = OPTIONS.get(name, [{}])
        options = every[rng.integers(len(every))]
    return name, options, DECODERS[name](**options)


def check(problem: Problem, parse: Parse, decoder: Decoder, total: np.ndarray, limited: bool, note: str) -> None:
    """Compare what a parse claims with the scores of all trees.

    total    scores of all trees, in the order of `trees`
    limited  whether the decoder may stop before it has a proof
    """
    value = float(total.max())
    rounding = 0.0 if problem.unit else 2.0**-46 * problem.total
    slack = 0.0 if problem.unit else TOLERANCE * max(1.0, abs(value))
    note = f"{note}: best {value!r}, {parse.value!r} <= {parse.bound!r}, {parse.status}, {parse.heads.tolist()}"
    faults = check_parse(problem, parse, space=decoder.space)
    assert not faults, f"{note}: {faults}"
    if value == -np.inf:
        assert parse.value == -np.inf, note
        assert parse.status == "infeasible" or (parse.status == "limit" and (limited or not decoder.exact)), note
        return
    assert parse.status != "infeasible", note
    assert parse.bound >= value - slack - rounding, note
    if decoder.exact and not limited:
        assert parse.status in ("optimal",) if problem.unit else ("optimal", "gap"), note
    if parse.value == -np.inf:
        assert parse.status == "limit", note
        return
    row = (trees(problem.n, decoder.space, problem.single_root) == parse.heads).all(axis=1)
    assert row.any(), note
    assert abs(float(total[row][0]) - parse.value) <= slack + rounding, f"{note}: its tree scores {total[row][0]!r}"
    if parse.status == "optimal":
        assert parse.value >= value - slack, note


def check_above(problem: Problem, decoder: Any, total: np.ndarray, rng: np.random.Generator, note: str) -> None:
    """Compare the search for trees above a random floor with the scores of all trees."""
    value = float(total.max())
    floor = float(rng.choice([*total[total > -np.inf][:20], value - 1, value + 1, 0.0]))
    if floor == -np.inf:
        return
    parse = decoder.decode_above(problem, floor)
    note = f"{note}: floor {floor!r}, best {value!r}, {parse and (parse.value, parse.status)}"
    if parse is None:
        assert value <= floor + 1e-9 * max(1.0, abs(value)) + 2.0**-46 * problem.total, note
    elif parse.status == "optimal":
        assert abs(parse.value - value) <= 1e-9 * max(1.0, abs(value)), note
        assert parse.value > floor, note


def own_case(rng: np.random.Generator) -> list[str]:
    """Check `treebound.decode` on random scores of a user, with labels, tensors of parts, and masks."""
    names = [name for name in ("labels", "siblings", "grandparents", "adjacent_siblings") if rng.random() < 0.3]
    how = {"space": str(rng.choice(SPACES)), "single_root": bool(rng.random() < 0.5)}
    integer = bool(rng.random() < 0.5)
    if rng.random() < 0.5:
        drawn, masked = random_masked(rng, tuple(names))
        scored, right = (with_masks(drawn, masked, mask) for mask in (float(rng.choice(MASKS)), -np.inf))
        kind = "masks"
    else:
        names += ["allowed"] if rng.random() < 0.3 else []
        scored = right = random_scores(rng, tuple(names), integer)
        kind = "integers" if integer else "real numbers"
        how |= {"unit": 1.0} if integer else {}
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options = {name: x for name, x in random_search(rng).items() if name in PUBLIC}
    best_first = winners(right, how["space"], how["single_root"])
    parse = None
    with suppress(InputError):  # there is no tree
        parse = treebound.decode(**scored, **how, **options)
    note = (
        f"{kind} {names} {how} {options}: {parse and (parse.value, parse.heads, parse.status)}, best {best_first[:2]}"
    )
    if not best_first:
        assert parse is None or kind == "masks", note  # a mask that every tree needs is an ordinary score
        return [f"own scores, {kind}: no tree"]
    assert parse is not None, note
    slack = 1e-8 * max(1.0, abs(best_first[0][0]))
    assert parse.status in ("optimal", "gap"), note
    assert abs(parse.value - best_first[0][0]) <= slack, note
    assert any(heads == tuple(parse.heads.tolist()) for value, heads in best_first if value >= parse.value - slack), (
        note
    )
    if parse.labels is not None:
        chosen = right["labels"][parse.heads[1:], np.arange(1, len(parse.heads))]
        assert (chosen[np.arange(len(chosen)), parse.labels[1:]] == chosen.max(axis=1)).all(), f"{note}: {parse.labels}"
    assert not treebound.check(treebound.problem(**scored, **how), parse), note
    return [f"own scores, {kind}: {parse.status}"]


def case(seed: int) -> list[str]:
    """Decode one random problem with one random decoder and check the parse."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.2:
        return own_case(rng)
    name, options, decoder = random_decoder(rng)
    slow = name in BUDGET
    supported = [f for f in FAMILIES if f in decoder.supports]
    families = [f for f in supported if rng.random() < (0.2 if slow else rng.choice([0.1, 0.4, 0.8]))]
    largest = 5 if slow or decoder.space == "non-projective" else 6
    problem = random_problem(rng, families, max_n=largest, space=decoder.space)
    scale, problem = resized(problem, rng)
    total = scores(problem, decoder.space)
    if rng.random() < 0.3 and scale in ("as drawn", "integers"):
        plain, problem = disguised(problem, rng, decoder.space)
        total, scale = scores(plain, decoder.space), f"{scale}, disguised"
    note = f"{name} {options}, {scale}, n {problem.n}, {sorted(problem.families)}"
    limited = bool({"max_dp_calls", "max_nodes", "calls"} & options.keys())
    parse = decoder.decode(problem)
    check(problem, parse, decoder, total, limited, note)
    if name == "branch-and-bound" and rng.random() < 0.3:
        check_above(problem, decoder, total, rng, note)
    return [f"{name}, {decoder.space}: {parse.status}", f"scores {scale}"]


def cases(folder: Path) -> Callable[[int], list[str]]:
    """Return the function `case`, which needs no folder."""
    return case
