"""What only the integer program has: a time limit. The rest is in tests/contract and tests/cross."""

import numpy as np
import pytest
from strategies import FAMILIES, build_problem

from treebound.checker.certificates import check_parse
from treebound.core.errors import UnsupportedError
from treebound.decoders import DECODERS


@pytest.fixture(scope="module")
def hard():
    """12 words without pruning and with large scores of either sign on every part: seconds of work."""
    families = [f for f in FAMILIES if f in DECODERS["branch-and-bound"]().supports]
    return build_problem(12, np.random.default_rng(0), families)


@pytest.mark.parametrize("space", ["projective", "non-projective"])
def test_a_search_cut_short_says_so(hard, space):
    parse = DECODERS["ilp"](space=space, time_limit=0.2).decode(hard)
    assert parse.status == "limit"
    assert not parse.certified
    assert check_parse(hard, parse, space=space) == []  # a tree, or none if the time was up before there was one
    # No bound below the best tree, of which any tree is a lower bound.
    projective = DECODERS["branch-and-bound"](max_dp_calls=200).decode(hard)
    assert parse.bound >= projective.value


def test_unknown_space():
    with pytest.raises(UnsupportedError, match="planar"):
        DECODERS["ilp"](space="planar")
