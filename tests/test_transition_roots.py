"""Trees with a single root, for any classifier."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import synthetic_treebank
from test_transition_training import MODELS, SMALL, machine_and_words, random_weights, room, uas

from treebound.core.treebank import Treebank
from treebound.systems.transition.beam import make_beam, parse_with_beam
from treebound.systems.transition.classifiers import Perceptron
from treebound.systems.transition.configuration import SYSTEMS, configuration
from treebound.systems.transition.greedy import parse_greedily, parse_in_parallel
from treebound.systems.transition.training import train_model

TRAIN: Treebank = synthetic_treebank(200, seed=1)


def is_tree(heads: np.ndarray) -> bool:
    """Return whether every word reaches the root. Heads are counted from 1."""
    for m in range(1, len(heads) + 1):
        steps = 0
        while m > 0:
            m, steps = heads[m - 1], steps + 1
            if steps > len(heads):
                return False
    return True


@pytest.mark.parametrize("system", [name for name in SYSTEMS if name != "arc-eager-rooted"])
def test_every_search_finds_trees_with_one_root(system: str) -> None:
    machine, words, _, _ = machine_and_words(system)
    free, single = machine, machine._replace(system=machine.system._replace(single=True))
    longest, several = int(TRAIN.lengths.max()), 0
    for seed in range(6):
        linear = random_weights(machine, seed)
        unrestricted, greedy, beam, wide = room(words), room(words), room(words), room(words)
        parse_greedily(free, linear, words, configuration(longest), *unrestricted)
        parse_greedily(single, linear, words, configuration(longest), *greedy)
        parse_with_beam(single, linear, words, make_beam(single.system, 1, longest), *beam)
        parse_with_beam(single, linear, words, make_beam(single.system, 6, longest), *wide)
        perceptron = Perceptron(MODELS["F5"])
        perceptron.linear, perceptron.classes = linear, len(machine.classes.kind)
        in_step = parse_in_parallel(single, perceptron, words)
        assert greedy[0].tolist() == beam[0].tolist() == in_step[0].tolist()
        for a, b in zip(words.offsets[:-1], words.offsets[1:], strict=True):
            for heads in (greedy[0][a:b], wide[0][a:b]):
                assert (heads == 0).sum() == 1
                assert is_tree(heads)
            several += (unrestricted[0][a:b] == 0).sum() > 1
            if system == "arc-eager" and (unrestricted[0][a:b] == 0).sum() == 1:
                assert unrestricted[0][a:b].tolist() == greedy[0][a:b].tolist()  # there is nothing to repair
    assert several > 100


def test_it_is_a_setting_of_a_model() -> None:
    dev = synthetic_treebank(60, seed=2)
    model = train_model(SMALL, MODELS["F5"], TRAIN)
    assert model.single
    assert all((parse.heads == 0).sum() == 1 for parse in model.parse(dev))
    assert uas(model, dev) > 75
