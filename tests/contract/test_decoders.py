"""Check the contract of every registered decoder with every factor family that it scores.

The module `cells` lists the pairs of decoder and family to be tested, which are called cells.
"""

from __future__ import annotations

import copy
import dataclasses
from itertools import islice, product

import numpy as np
import pytest
from cells import BUDGET, SPACES, Cell, K, cells, check_against_enumeration, families, make, makers, problems, slack
from oracles.score import best, scores
from oracles.trees import trees
from strategies import KINDS, build_problem, random_problem, rescored

from treebound.checker.certificates import check_parse
from treebound.core.errors import TreeboundError, UnsupportedError
from treebound.core.problem import PartTable, Problem
from treebound.core.protocols import Decoder
from treebound.core.registry import Registry
from treebound.decoders import DECODERS
from treebound.decoders.base import CheckedDecoder
from treebound.decoders.confidence import arc_marginals
from treebound.decoders.exact.branch_and_bound import decoder as backbones
from treebound.decoders.kbest import kbest, margins
from treebound.factors import FAMILIES

#: number of problems of a cell whose k best trees and margins are checked in every run, if not 3
LISTS = dict.fromkeys(BUDGET, 1)
CELLS = list(cells())
BACKBONES = [name for name, b in backbones.BACKBONES.items() if b.space == "projective"]


def _id(value: object) -> str:
    return ",".join(f"{v}" for v in value.values()) or "default" if isinstance(value, dict) else str(value)


every_decoder = pytest.mark.parametrize(("name", "options"), list(makers()), ids=_id)
every_cell = pytest.mark.parametrize("cell", CELLS, ids=str)


def in_rounds(long: int) -> pytest.MarkDecorator:
    """Parametrise a test by `rounds`: 0 in every run, and `long` rounds in tests marked long."""
    return pytest.mark.parametrize("rounds", [0, pytest.param(long, marks=pytest.mark.long)], ids=["few", "many"])


def draw(decoder: Decoder, seed: int, **fixed) -> Problem:
    """Return a random problem that the decoder supports: n <= 6, any scores, roots, forbidden arcs and parts.

    It may be infeasible unless `fixed` requires a feasible one. It is smaller if trees are many or if every part is a
    column of a general solver.
    """
    rng = np.random.default_rng(seed)
    share = (
        0.3 if decoder.name == "incremental-ilp" else 0.7
    )  # each part is a column of the linear program, which is solved repeatedly
    chosen = [f for f in families(decoder) if rng.random() < share]
    max_n = 5 if decoder.space == "non-projective" or decoder.name in BUDGET else 6
    return random_problem(rng, chosen, max_n=max_n, space=decoder.space, **fixed)


@in_rounds(10)
@every_cell
def test_every_cell_against_enumeration(cell, rounds):
    for note, problem in problems(cell, rounds):
        check_against_enumeration(cell.decoder, problem, note)


@in_rounds(3)
@every_cell
def test_k_best_and_margins_of_every_cell(cell, rounds):
    """Check the k-best lists and the margins of every exact decoder against enumeration."""
    decoder = cell.decoder
    if not decoder.exact:
        return
    for note, problem in islice(problems(cell, rounds), None if rounds else LISTS.get(decoder.name, 3)):
        every, score = trees(problem.n, decoder.space, problem.single_root), scores(problem, decoder.space)
        top = np.sort(score[score > -np.inf])[::-1][:K]
        result = kbest(decoder, problem, K)
        assert result.complete, note
        assert [p.value for p in result.parses] == pytest.approx(
            top.tolist(), abs=slack(problem, top.max(initial=0))
        ), note
        assert len({p.heads.tobytes() for p in result.parses}) == len(top), note
        for parse in result.parses[:1]:
            margin = margins(decoder, problem, parse)
            for m in range(1, problem.n + 1):
                without = score[every[:, m] != parse.heads[m]].max(initial=-np.inf)
                tolerance = slack(problem, parse.value) + slack(problem, max(without, -abs(parse.value)))
                assert margin[m] == pytest.approx(parse.value - without, abs=tolerance, rel=0), note


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("family", FAMILIES)
def test_marginals_with_every_family(family, space):
    """Check that marginals depend on the families of the smallest backbone and ignore all other families."""
    rng = np.random.default_rng(3)
    for kind, single_root in product(KINDS, (True, False)):
        chosen = () if family == "arc" else (family,)
        problem = random_problem(rng, chosen, min_n=2, max_n=5, space=space, kind=kind, single_root=single_root)
        counted = backbones.BACKBONES[backbones.smallest_backbone(problem.families, space)].families
        parts = {f: t for f, t in problem.parts.items() if f in counted}
        largest = max(1.0, dataclasses.replace(problem, parts=parts).total)
        scale = 10.0 * (problem.unit or 1.0) / largest
        marginal = arc_marginals(problem, space, scale)
        log = scores(dataclasses.replace(problem, parts=parts), space) * 10.0 / largest
        if log.max() == -np.inf:
            assert np.isnan(marginal).all()
            continue
        p = np.exp(log - np.logaddexp.reduce(log))
        every = trees(problem.n, space, problem.single_root)
        expected = [p[every[:, m] == h].sum() for h, m in zip(problem.head, problem.mod, strict=True)]
        assert marginal == pytest.approx(expected, abs=1e-7)


class Hasty(CheckedDecoder):
    """A wrong decoder: it calls the tree with the best arc scores optimal for all families."""

    name, space, exact, supports, cite = "hasty", "projective", True, frozenset({"arc", "sibling", "pair"}), "2026"

    def _decode(self, problem):
        parse = DECODERS["eisner"]().decode(dataclasses.replace(problem, parts={}))
        if parse.status == "infeasible":
            return parse
        value = scores(problem)[(trees(problem.n, "projective", problem.single_root) == parse.heads).all(axis=1)][0]
        return dataclasses.replace(parse, value=value, bound=value)


def test_registered_decoders_and_families_are_in_the_table():
    """Register a decoder, then a family that it scores; `cells` must list both without an edit."""
    decoders, registered = Registry("decoder"), Registry("factor family")
    for name in DECODERS:
        decoders.register(name, DECODERS[name])
    for name in FAMILIES:
        registered.register(name, FAMILIES[name])
    decoders.register("hasty", Hasty)
    before = [cell.family for cell in cells(decoders, registered) if cell.decoder.name == "hasty"]
    registered.register("pair", FAMILIES["sibling"])
    after = [cell.family for cell in cells(decoders, registered) if cell.decoder.name == "hasty"]
    assert (before, after) == (["arc", "sibling"], ["arc", "sibling", "pair"])
    assert {cell.decoder.name for cell in cells(decoders, registered)} == {*DECODERS, "hasty"}


def test_a_decoder_that_is_wrong_about_a_family_fails_in_its_cell():
    arcs_alone = Hasty()
    arcs_alone.supports = frozenset({"arc"})
    test_every_cell_against_enumeration(Cell(arcs_alone, (), "arc"), 0)
    with pytest.raises(AssertionError):
        test_every_cell_against_enumeration(Cell(Hasty(), (), "sibling"), 0)


def test_the_table_is_the_whole_product():
    """Check that `cells` lists every decoder with every family that it scores.

    It must list branch and bound with every family in both spaces, with and without head stars.
    """
    present = {(c.decoder.name, c.decoder.space, dict(c.options).get("stars"), c.family) for c in CELLS}
    for space, stars, family in product(SPACES, (0, 20, None), FAMILIES):
        assert ("branch-and-bound", space, stars, family) in present
    assert {c.decoder.name for c in CELLS} == set(DECODERS)
    for cell in CELLS:
        assert {c.family for c in CELLS if c.decoder is cell.decoder} == cell.decoder.supports & set(FAMILIES)


@every_decoder
def test_only_zeros(name, options):
    """Check that a decoder proves its tree optimal if all scores are zero, since every tree is optimal then."""
    decoder = make(name, options)
    for n in range(1, 6):
        problem = build_problem(n, np.random.default_rng(n), families(decoder))
        problem = rescored(problem, 0.0, **dict.fromkeys(problem.parts, 0.0))
        check_against_enumeration(decoder, problem, f"n = {n}")


@every_decoder
def test_is_a_decoder(name, options):
    decoder = make(name, options)
    missing = [member for member in (*Decoder.__annotations__, "decode") if not hasattr(decoder, member)]
    assert not missing, f"{name} lacks attributes of treebound.core.protocols.Decoder"
    assert isinstance(decoder, Decoder)
    assert decoder.name == name
    assert decoder.space in ("projective", "non-projective")
    assert "arc" in decoder.supports
    assert any(c.isdigit() for c in decoder.cite), "the source has no year"


@every_decoder
def test_unsupported_families_are_refused_by_name(name, options):
    decoder = make(name, options)
    for family in [f for f in FAMILIES if f not in decoder.supports]:
        problem = build_problem(3, np.random.default_rng(0), (family,))
        with pytest.raises(UnsupportedError, match=family):
            decoder.decode(problem)
    problem = build_problem(3, np.random.default_rng(0), ())
    unknown = PartTable("unknown-family", np.array([[0, 1]], np.int32), np.zeros(1))
    with pytest.raises(UnsupportedError, match="unknown-family"):
        decoder.decode(dataclasses.replace(problem, parts={"unknown-family": unknown}))


@every_decoder
def test_is_deterministic_and_does_not_change_the_problem(name, options):
    decoder, second_decoder = make(name, options), DECODERS[name](**options)
    for seed in range(BUDGET.get(name, 10)):
        problem = draw(decoder, seed, kind="tied")
        before = copy.deepcopy(problem)
        first, second, fresh = decoder.decode(problem), decoder.decode(problem), second_decoder.decode(problem)
        for parse in (second, fresh):
            assert parse.heads.tolist() == first.heads.tolist()
            assert (parse.value, parse.bound, parse.status, parse.work) == (
                first.value,
                first.bound,
                first.status,
                first.work,
            )
        assert problem.arc.tolist() == before.arc.tolist()
        for family, table in problem.parts.items():
            assert table.score.tolist() == before.parts[family].score.tolist()


@every_decoder
def test_infeasible_problems_are_reported(name, options):
    """Check that a problem without a tree gets the status `infeasible`, and no heads.

    The causes are a word without candidate heads, a root without candidate arcs, and forbidden arcs or parts.
    """
    decoder = make(name, options)
    rng = np.random.default_rng(0)

    def status(allowed: np.ndarray, change=None) -> str:
        problem = build_problem(3, rng, families(decoder), allowed=allowed)
        if change is not None:
            problem = change(problem)
        assert best(problem, decoder.space)[0] == -np.inf
        parse = decoder.decode(problem)
        assert not parse.heads[1:].any()
        return parse.status

    full = np.ones((4, 4), bool)
    no_head, no_root, chain = full.copy(), full.copy(), np.eye(4, k=1, dtype=bool)
    no_head[:, 2] = False
    no_root[0] = False
    assert status(no_head) == "infeasible"
    assert status(no_root) == "infeasible"
    assert status(chain, lambda p: rescored(p, np.where(np.arange(p.arcs) == 1, -np.inf, p.arc))) == "infeasible"
    for family in ("grandchild", "adjacent-sibling", "outermost-grandchild"):
        if family in decoder.supports:
            assert status(chain, lambda p, f=family: rescored(p, **{f: -np.inf})) == "infeasible"
    assert status(full, lambda p: rescored(p, -np.inf)) == "infeasible"


@every_decoder
def test_a_constant_for_all_heads_of_a_word_changes_nothing_else(name, options):
    """Check that a constant per word shifts the best score by the sum of the constants.

    Every tree has exactly one arc into each word.
    """
    decoder = make(name, options)
    for seed in range(BUDGET.get(name, 15)):
        problem = draw(decoder, seed, integer=True, feasible=True)
        constant = np.arange(problem.n + 1) * 1000.0
        moved = dataclasses.replace(problem, arc=problem.arc + constant[problem.mod])
        original, shifted = decoder.decode(problem), decoder.decode(moved)
        if decoder.exact:
            assert shifted.value == original.value + constant.sum()
            assert (original.status, shifted.status) == ("optimal", "optimal")


def test_an_unknown_name_lists_the_known_names():
    with pytest.raises(TreeboundError, match="branch-and-bound"):
        DECODERS["eisner-carreras"]


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("config", ["tuned", "published"])
def test_limits_are_respected_and_never_called_optimal_without_proof(config, backbone):
    limited = 0
    for seed in range(100):
        unlimited = make("branch-and-bound", {"config": config, "backbone": backbone})
        capped = make("branch-and-bound", {"config": config, "backbone": backbone, "max_dp_calls": 2})
        problem = draw(unlimited, seed, kind="mixed", integer=True, feasible=True)
        value, _ = best(problem)
        parse = capped.decode(problem)
        assert check_parse(problem, parse) == []
        assert parse.value <= value <= parse.bound
        assert parse.status in ("optimal", "limit")
        assert parse.status == "limit" or parse.value == value
        limited += parse.status == "limit"
    assert limited > 3
