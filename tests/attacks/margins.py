"""Lists of k best trees, margins and marginals against the enumeration of all trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from exact_marginals import expected, random_arcs
from masked_scores import MASKS, random_masked, with_masks
from oracles.score import scores
from oracles.trees import trees
from own_scores import winners
from strategies import FAMILIES, random_problem

import treebound
from attacks.problems import DYNAMIC_PROGRAMS, random_search
from attacks.scales import resized
from treebound.core.errors import InputError
from treebound.core.problem import Problem
from treebound.core.protocols import Decoder
from treebound.decoders import DECODERS
from treebound.decoders.confidence import arc_marginals
from treebound.decoders.exact.branch_and_bound.decoder import BACKBONES, smallest_backbone
from treebound.decoders.kbest import kbest, margins

SPACES = ("projective", "non-projective")


def exact_decoder(rng: np.random.Generator) -> tuple[str, Decoder]:
    """Return (description, decoder): branch and bound with random options, or a dynamic program."""
    if rng.random() < 0.3:
        name = str(rng.choice(DYNAMIC_PROGRAMS))
        return name, DECODERS[name]()
    options = random_search(rng)
    return f"branch-and-bound {options}", DECODERS["branch-and-bound"](**options)


def slack_of(problem: Problem) -> float:
    """Return the error that a difference of two scores may have."""
    return 0.0 if problem.unit else 1e-8 * max(1.0, problem.total)


def list_case(rng: np.random.Generator) -> list[str]:
    """Compare a list of k best trees and the margins of a random problem with the scores of all trees."""
    name, decoder = exact_decoder(rng)
    families = [f for f in FAMILIES if f in decoder.supports and rng.random() < 0.3]
    scale, problem = resized(random_problem(rng, families, max_n=5, space=decoder.space), rng)
    every, score = trees(problem.n, decoder.space, problem.single_root), scores(problem, decoder.space)
    k, slack = int(rng.choice([1, 2, 3, 7, 30])), slack_of(problem)
    best = kbest(decoder, problem, k)
    top = np.sort(score[score > -np.inf])[::-1][:k]
    note = f"{name}, {scale}, k {k}, n {problem.n}, {sorted(problem.families)}"
    values = np.array([parse.value for parse in best.parses])
    limited = "max_dp_calls" in name or "max_nodes" in name
    assert best.complete or limited or not problem.unit, note
    assert (np.diff(values) <= 0.0).all(), f"{note}: {values} are not in order"
    assert len({parse.heads.tobytes() for parse in best.parses}) == len(values), f"{note}: a tree occurs twice"
    if best.complete:
        assert len(values) == len(top), f"{note}: {values} and not {top}"
        assert (np.abs(values - top) <= slack).all(), f"{note}: {values} and not {top}"
    for parse in best.parses:
        own = score[(every == parse.heads).all(axis=1)]
        assert len(own) == 1, f"{note}: {parse.heads} is no tree"
        assert abs(own[0] - parse.value) <= slack, f"{note}: {parse.heads} scores {own[0]}, not {parse.value}"
    if best.parses:
        parse = decoder.decode(problem)
        assert parse.status != "optimal" or abs(parse.value - score.max()) <= slack, note
        margin = margins(decoder, problem, parse, best.parses if rng.random() < 0.5 else ())
        for m in range(1, problem.n + 1):
            without = score[every[:, m] != parse.heads[m]].max(initial=-np.inf)
            unknown = np.isnan(margin[m]) and (limited or not problem.unit)
            right = margin[m] == parse.value - without or abs(margin[m] - (parse.value - without)) <= slack
            assert unknown or right, f"{note}: margin {margin[m]} of word {m}, not {parse.value - without}"
    return [f"lists, {decoder.space}, complete {best.complete}", f"scores {scale}"]


def marginal_case(rng: np.random.Generator) -> list[str]:
    """Compare the marginals of random arc scores of any size with decimal arithmetic."""
    space, single_root = str(rng.choice(SPACES)), bool(rng.random() < 0.5)
    size = float(rng.choice([0.0, 5e-324, 1e-300, 1e-9, 1.0, 30.0, 300.0, 1e4, 1e6, 1e9, 1e12]))
    arc = random_arcs(rng, 1.0)
    arc = np.where(np.isneginf(arc), -np.inf, np.where(np.isneginf(arc), 0.0, arc) * size)
    log_z, marginal = expected(arc, space, single_root)
    kind = f"marginals, {space}, size {size}"
    try:
        problem = treebound.problem(arc, space=space, single_root=single_root)
    except InputError:
        assert log_z is None, f"{kind}: {arc.tolist()}"
        return [f"{kind}, no tree"]
    right = marginal[problem.head, problem.mod]
    result = arc_marginals(problem, space)
    if log_z is None:
        assert np.isnan(result).all(), f"{kind}: {arc.tolist()}"
        return [f"{kind}, no tree"]
    kept = np.zeros(arc.shape)
    kept[problem.head, problem.mod] = 1.0
    assert np.abs((marginal * (1 - kept)).sum()) < 1e-9, f"{kind}: a mask has a probability {arc.tolist()}"
    error = np.abs(result - right).max(initial=0.0)
    assert error <= 1e-9 + size * 1e-15, f"{kind}: error {error} for {arc.tolist()}"
    return [kind]


def family_case(rng: np.random.Generator) -> list[str]:
    """Compare the marginals of a problem with parts with the probabilities of all trees."""
    space = str(rng.choice(SPACES))
    families = [f for f in FAMILIES if rng.random() < 0.3]
    problem = random_problem(rng, families, max_n=5, space=space)
    counted = BACKBONES[smallest_backbone(problem.families, space)].families
    summed = replace(problem, parts={f: t for f, t in problem.parts.items() if f in counted})
    factor = float(rng.choice([0.1, 10.0, 100.0])) / max(1.0, summed.total)
    marginal = arc_marginals(problem, space, factor * (problem.unit or 1.0))
    log = scores(summed, space) * factor
    kind = f"marginals with parts, {space}"
    if log.max() == -np.inf:
        assert np.isnan(marginal).all(), f"{kind}: {marginal}"
        return [f"{kind}, no tree"]
    weight = np.exp(log - log.max())
    every = trees(problem.n, space, problem.single_root)
    arcs = zip(problem.head.tolist(), problem.mod.tolist(), strict=True)
    right = np.array([weight[every[:, m] == h].sum() for h, m in arcs]) / weight.sum()
    assert np.abs(marginal - right).max(initial=0.0) < 1e-7, f"{kind} {sorted(problem.families)}: {marginal - right}"
    return [kind]


def masked_case(rng: np.random.Generator) -> list[str]:
    """Compare the confidence of scores with masks with the same scores with -inf."""
    arguments = ("labels", "siblings", "grandparents", "adjacent_siblings")
    names = tuple(name for name in arguments if rng.random() < 0.3)
    drawn, masked = random_masked(rng, names)
    mask = float(rng.choice(MASKS))
    infinite, finite = with_masks(drawn, masked, -np.inf), with_masks(drawn, masked, mask)
    how = {"space": str(rng.choice(SPACES)), "single_root": bool(rng.random() < 0.5)}
    kind = f"masks {mask:g}"
    best_first = winners(infinite, **how)
    if not best_first:
        return [f"{kind}, no tree"]
    more = {"k_best": int(rng.integers(1, 6)), "margins": True, "marginals": True}
    parse, right = treebound.decode(**finite, **how, **more), treebound.decode(**infinite, **how, **more)
    note = f"{kind}, {how}, {names}, {parse.status}: {parse.value} {parse.heads}, not {best_first[0]}"
    assert abs(parse.value - best_first[0][0]) <= 1e-8, note
    assert parse.heads.tolist() == right.heads.tolist(), note
    sure, known = parse.confidence, right.confidence
    assert [t.heads.tolist() for t in sure.trees] == [t.heads.tolist() for t in known.trees], note
    for name in ("margins", "marginals"):
        assert np.array_equal(getattr(sure, name), getattr(known, name), equal_nan=True), f"{note}: {name}"
    for m in range(1, len(parse.heads)):
        others = [value for value, heads in best_first if heads[m] != parse.heads[m]]
        margin = parse.value - max(others, default=-np.inf)
        assert sure.margins[m] == margin or abs(sure.margins[m] - margin) <= 1e-8, f"{note}: margin of {m}"
    assert not treebound.check(treebound.problem(**finite, **how), parse), note
    return [kind]


def case(seed: int) -> list[str]:
    """Check the confidence of one random sentence."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(4, p=[0.5, 0.2, 0.15, 0.15])
    return (list_case, marginal_case, family_case, masked_case)[chosen](rng)


def cases(folder: Path) -> Callable[[int], list[str]]:
    """Return the function `case`, which needs no folder."""
    return case
