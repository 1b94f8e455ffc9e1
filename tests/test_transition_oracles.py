"""Transition systems: derivations reproduce their trees, and costs are the losses that enumeration gives."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.trees import trees

from treebound.systems.transition.configuration import (
    KINDS,
    LEFT_ARC,
    RIGHT_ARC,
    SYSTEMS,
    System,
    allowed,
    configuration,
    start,
    take,
    tree,
)
from treebound.systems.transition.oracles import FORBIDDEN, costs, derive, has_dynamic_oracle, understand

ROOT_LABEL = 0
DYNAMIC = [name for name in SYSTEMS if has_dynamic_oracle(SYSTEMS[name])]


def labels_of(heads: np.ndarray) -> np.ndarray:
    """Return a label for every word. Roots have the label of roots."""
    return np.where(heads[1:] == 0, ROOT_LABEL, 1 + np.arange(len(heads) - 1) % 3).astype(np.int32)


def replay(system: System, moves: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Apply allowed transitions that end a derivation, and return its heads and labels."""
    c = configuration(n)
    start(system, c, n, ROOT_LABEL)
    for kind, label in moves:
        assert allowed(system, c) >> kind & 1
        take(system, c, kind, label)
    assert allowed(system, c) == 0
    heads, labels = np.empty(n, np.int32), np.empty(n, np.int32)
    tree(c, heads, labels)
    return heads, labels


def random_tree(rng: np.random.Generator, n: int, projective: bool) -> np.ndarray:
    """Return the heads of a random tree: int32[n + 1]. Non-projective trees attach words in random order."""
    heads = np.full(n + 1, -1, np.int32)
    if not projective:
        order = rng.permutation(n) + 1
        for i, word in enumerate(order):
            heads[word] = rng.choice(order[:i]) if i and rng.random() < 0.9 else 0
        return heads
    spans = [(1, n, 0)]
    while spans:
        low, high, head = spans.pop()
        while low <= high:  # dependents of `head`, each with a span of its own
            end = int(rng.integers(low, high + 1))
            word = int(rng.integers(low, end + 1))
            heads[word] = head
            spans += [(low, word - 1, word), (word + 1, end, word)]
            low = end + 1
    return heads


def check_derivation(name: str, heads: np.ndarray) -> None:
    system, n, labels = SYSTEMS[name], len(heads) - 1, labels_of(heads)
    moves, derivable = derive(system, configuration(n), understand(heads[1:], labels), ROOT_LABEL)
    derived, derived_labels = replay(system, moves, n)
    assert derivable
    assert derived.tolist() == heads[1:].tolist()
    assert derived_labels.tolist() == labels.tolist()
    assert len(moves) <= 2 * n or name == "swap"


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("n", [*range(1, 6), pytest.param(6, marks=pytest.mark.long)])
def test_derivations_give_back_every_projective_tree(name: str, n: int) -> None:
    for heads in trees(n, "projective", single_root=False):
        check_derivation(name, heads)


@pytest.mark.parametrize("n", range(1, 6))
def test_swap_derives_every_tree(n: int) -> None:
    for heads in trees(n, "non-projective", single_root=False):
        check_derivation("swap", heads)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from(list(SYSTEMS)))
def test_derivations_of_longer_trees(n: int, seed: int, name: str) -> None:
    check_derivation(name, random_tree(np.random.default_rng(seed), n, projective=name != "swap"))


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "swap"])
def test_trees_with_crossing_arcs_are_not_derivable_but_end(name: str) -> None:
    projective = {tuple(heads) for heads in trees(5, "projective", single_root=False)}
    for heads in trees(5, "non-projective", single_root=False):
        gold = understand(heads[1:], labels_of(heads))
        _, derivable = derive(SYSTEMS[name], configuration(5), gold, ROOT_LABEL)
        assert derivable == (tuple(heads) in projective)


def test_another_label_than_that_of_roots_is_not_derivable_without_an_arc_to_the_root() -> None:
    heads, labels = np.array([0, 1], np.int32), np.array([ROOT_LABEL + 1, 2], np.int32)
    derivable = {
        name: derive(SYSTEMS[name], configuration(2), understand(heads, labels), ROOT_LABEL)[1] for name in SYSTEMS
    }
    assert derivable == {name: name != "arc-eager" for name in SYSTEMS}


# --- the dynamic oracle ---


def key(c: np.ndarray) -> bytes:
    """Return the state that decides how a configuration can continue: stack, buffer and heads."""
    stack, buffer = c[-1, :2]
    return b"".join(part.tobytes() for part in (c[-1, :2], c[0, :stack], c[1, :buffer], c[2]))


@cache
def endings(name: str, n: int) -> tuple[dict[bytes, np.ndarray], dict[bytes, np.ndarray]]:
    """Return (configurations, endings), both by key: all reachable configurations, and the trees in which each can end.

    The trees of a configuration are heads[K, n].
    """
    system, seen, ends = SYSTEMS[name], {}, {}

    def visit(c: np.ndarray) -> np.ndarray:
        if key(c) not in ends:
            seen[key(c)] = c
            kinds = allowed(system, c)
            endings_after = [visit(after(system, c, kind)) for kind in range(5) if kinds >> kind & 1]
            ends[key(c)] = (
                np.unique(np.concatenate(endings_after), axis=0)
                if endings_after
                else np.maximum(c[2, None, 1 : n + 1], 0)
            )
        return ends[key(c)]

    c = configuration(n)
    start(system, c, n, ROOT_LABEL)
    visit(c)
    return seen, ends


def after(system: System, c: np.ndarray, kind: int) -> np.ndarray:
    c = c.copy()
    take(system, c, kind, 1)
    return c


def check_costs(name: str, heads: np.ndarray, c: np.ndarray) -> None:
    n, system = len(heads) - 1, SYSTEMS[name]
    _, ends = endings(name, n)

    def loss(c: np.ndarray) -> int:
        return int((ends[key(c)] != heads[1:]).sum(axis=1).min())

    computed = costs(system, c, heads, np.empty(5, np.int32))
    kinds = allowed(system, c)
    expected = [loss(after(system, c, k)) - loss(c) if kinds >> k & 1 else FORBIDDEN for k in range(5)]
    assert computed.tolist() == expected, dict(zip(KINDS, zip(computed, expected, strict=True), strict=True))


@pytest.mark.parametrize("name", DYNAMIC)
@pytest.mark.parametrize("n", range(1, 4))
def test_costs_are_losses_in_every_configuration(name: str, n: int) -> None:
    for heads in trees(n, "projective", single_root=False):
        for c in endings(name, n)[0].values():
            check_costs(name, heads, c)


@pytest.mark.parametrize("name", DYNAMIC)
@pytest.mark.parametrize("n", [4, 5])
def test_costs_are_losses_in_some_configurations_of_longer_sentences(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    golds, reached = trees(n, "projective", single_root=False), list(endings(name, n)[0].values())
    for _ in range(4000):
        check_costs(name, golds[rng.integers(len(golds))], reached[rng.integers(len(reached))])


def test_systems_with_a_dynamic_oracle() -> None:
    assert DYNAMIC == ["arc-eager", "arc-eager-rooted", "arc-hybrid"]
    assert {LEFT_ARC, RIGHT_ARC} == {3, 4}
