"""Test limits and odd scores of the integer programs; tests/contract and tests/cross test everything else."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from oracles.score import scores
from strategies import FAMILIES, build_problem

from treebound.checker.certificates import check_parse
from treebound.core.errors import UnsupportedError
from treebound.decoders import DECODERS


@pytest.fixture(scope="module")
def hard():
    """Return a problem of 12 words that takes seconds: no pruning, large scores of either sign on every part."""
    families = [f for f in FAMILIES if f in DECODERS["branch-and-bound"]().supports]
    return build_problem(12, np.random.default_rng(0), families)


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_an_interrupted_search_has_the_status_limit(hard, space):
    parse = DECODERS["ilp"](space=space, time_limit=0.2).decode(hard)
    assert parse.status == "limit"
    assert not parse.certified
    assert check_parse(hard, parse, space=space) == []  # a tree, or no tree if none was found in time
    # The bound is at least the best score, and hence at least the score of any tree.
    projective = DECODERS["branch-and-bound"](max_dp_calls=200).decode(hard)
    assert parse.bound >= projective.value


def test_the_tree_of_an_interrupted_search_is_not_called_optimal():
    """Check a problem for which the solver finds a tree early, and needs long to prove that no tree is better."""
    problem = build_problem(12, np.random.default_rng(0), ("sibling",), space="non-projective")
    for seconds in (0.25, 1.0, 4.0, 16.0):  # a slow machine takes longer to find a tree
        parse = DECODERS["ilp"](space="non-projective", time_limit=seconds).decode(problem)
        if parse.value > -np.inf:
            break
    assert parse.status == "limit"
    assert -np.inf < parse.value < parse.bound
    assert check_parse(problem, parse, space="non-projective") == []


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_the_best_tree_without_given_trees(space):
    """Exclude the best tree again and again: all trees of the problem come in the order of their scores."""
    problem = build_problem(3, np.random.default_rng(3), ("sibling", "grandchild"), space=space)
    decoder, excluded = DECODERS["ilp"](space=space), []
    for value in sorted(scores(problem, space), reverse=True):
        parse = decoder.decode(problem, excluded)
        assert (parse.status, parse.value) == ("optimal", value)
        excluded.append(parse.heads)
    assert decoder.decode(problem, excluded).status == "infeasible"
    assert len({heads.tobytes() for heads in excluded}) == len(excluded)


def test_unknown_space():
    with pytest.raises(UnsupportedError, match="planar"):
        DECODERS["ilp"](space="planar")


@pytest.mark.parametrize("name", ["ilp", "stated-ilp", "incremental-ilp"])
def test_denormal_scores_are_scaled_to_finite_coefficients(name):
    """The factor that would scale scores of 5e-324 to the size of ordinary scores is infinite."""
    decoder = DECODERS[name]()
    problem = build_problem(3, np.random.default_rng(1), (), kind="tied", space=decoder.space)
    problem = replace(problem, arc=problem.arc * 5e-324, unit=0.0)
    parse = decoder.decode(problem)
    assert parse.status == "optimal"
    assert check_parse(problem, parse, space=decoder.space) == []


@pytest.mark.parametrize("name", ["ilp", "stated-ilp", "incremental-ilp"])
def test_a_program_writes_nothing_to_standard_output(name):
    """HiGHS 1.16 writes a banner when a process first starts it; pyproject.toml therefore excludes it."""
    code = f"import treebound; treebound.decode([[0, 1, 2], [0, 0, 1], [0, 1, 0]], decoder={name!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
