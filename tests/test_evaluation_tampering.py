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
from strategies import random_problem
from tampering import SPACES, claimed, damaged, faults, is_true, real_proof

from treebound.checker.proofs import proof
from treebound.core.errors import InputError
from treebound.core.parse import Parse


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
