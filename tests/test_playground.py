"""The playground only changes the problem: its results equal the enumeration of the changed problem."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from oracles.score import scores
from oracles.trees import trees
from synthetic import synthetic_treebank

from studies.site.playground import Buttons, Playground, tagged, typed
from treebound.core.errors import InputError
from treebound.decoders.canonical import canonical
from treebound.learning.pruner import train_pruner
from treebound.systems.graph.settings import Settings
from treebound.systems.graph.trainer import train
from treebound.systems.tagging.several import Taggers, train_taggers

TYPED = "d1 d1 D D\nn1 n1 N N\nv1 v1 V V\na2 _ A A\n. . . .\n"


@pytest.fixture(scope="module")
def play() -> Playground:
    learn = synthetic_treebank(60, 1, 12)
    spec = Settings(("adjacent-sibling", "sibling"), epochs=1, bits=14, k=4)
    return Playground(train(spec, learn, learn.select(np.arange(10)), train_pruner(learn, epochs=1, bits=12)), TYPED)


@pytest.mark.parametrize("without", [(), ("sibling",), ("adjacent-sibling", "sibling")])
@pytest.mark.parametrize("changes", [{}, {"require": [(3, 1)]}, {"forbid": [(0, 3), (2, 1)]}, {"k": 2}])
def test_the_best_tree_is_that_of_the_changed_problem(play: Playground, without: tuple, changes: dict) -> None:
    result = play.explore(without=without, **changes)
    whole = play.problem(changes.get("k") or play.k, without, (), ())
    arcs = set(zip(whole.head.tolist(), whole.mod.tolist(), strict=True))
    best = -np.inf
    for heads, value in zip(trees(5).tolist(), scores(canonical(whole, "projective").problem), strict=True):
        own = set(zip(heads[1:], range(1, 6), strict=True))
        if own <= arcs and own >= set(changes.get("require", ())) and not own & set(changes.get("forbid", ())):
            best = max(best, value)
    assert result.parse.status == "optimal"
    assert result.parse.value == best > -np.inf


def test_a_forbidden_arc_costs_its_margin(play: Playground) -> None:
    best = play.explore(trees=3)
    for m in range(1, 6):
        margin = best.parse.confidence.margins[m]
        if np.isfinite(margin):
            less = play.explore(forbid=[(int(best.parse.heads[m]), m)])
            assert best.parse.value - less.parse.value == margin
            lost = margin / best.unit
            description = str(less.lost(best, m, lost))
            assert f"scores {lost:.4f} less (optimal). The margin of the arc is {lost:.4f}." in description
    assert "The best trees" in repr(best.alternatives)
    small = play.explore(root_steps=1, node_steps=1, stars=0, eliminate=False)
    assert f"With these options, it needs {small.parse.work['dp_calls']} call" in str(small.work(best))
    assert "<svg" in best.tree.markup
    assert "<svg" in best.search(1).markup


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"without": ["comb"]}, "no factors 'comb'; choose from adjacent-sibling, sibling"),
        ({"require": [(9, 1)]}, "no arc 9 → 1; words are numbered 1 to 5"),
        ({"forbid": [(1, 1)]}, "no arc 1 → 1"),
        ({"k": 1, "require": [(5, 1), (4, 1)]}, "the pruner removed . → 1; raise k"),
        ({"require": [(0, 3)], "forbid": [(0, 3)]}, "no tree has all required arcs"),
    ],
)
def test_impossible_requests_are_explained(play: Playground, changes: dict, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        play.explore(**changes)


@pytest.mark.parametrize(("text", "reason"), [(" \n", "no words"), ("a b c d e f", "word 1 has 6 columns")])
def test_typed_lines_are_checked(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        typed(text)
    assert typed("a\nb _ N\n")[0].strings("upos") == ["_", "N"]


def test_buttons_have_the_effect_of_the_method(play: Playground) -> None:
    buttons = Buttons(play)
    best = play.explore()
    assert buttons.found is not None
    assert (buttons.found.parse.value, buttons.said.value.split(":")[0]) == (best.parse.value, "optimal")
    assert buttons.shown.value.count("<svg") == 3
    m = int(np.flatnonzero(np.isfinite(best.parse.confidence.margins[1:]))[0]) + 1
    arc = int(best.parse.heads[m]), m
    for box, value in zip(buttons.forbid, arc, strict=True):
        box.value = value
    assert buttons.found.parse.value == play.explore(forbid=[arc]).parse.value < best.parse.value
    buttons.factors.value = ["sibling"]
    assert buttons.found.parse.value == play.explore(forbid=[arc], without=["adjacent-sibling"]).parse.value
    for box, value in zip(buttons.require, arc, strict=True):
        box.value = value
    assert buttons.found is None
    assert not buttons.shown.value
    assert buttons.said.value.startswith("no tree has all required arcs")
    buttons.forbid[1].value = -1
    assert buttons.found is not None
    assert play.widgets().children[-1] is not None


@pytest.fixture(scope="module")
def taggers() -> Taggers:
    learn = synthetic_treebank(60, 1, 12)
    return train_taggers(learn, learn.select(np.arange(10)), ("upos", "xpos"), epochs=2, bits=12, seed=1)


def test_a_plain_sentence_gets_the_taggers_tags(taggers: Taggers) -> None:
    sentence = tagged("d1 n1, v1 a2's.", taggers)[0]
    assert sentence.strings("form") == ["d1", "n1", ",", "v1", "a2's", "."]
    assert "_" not in sentence.strings("xpos")
    retagged = taggers.apply(typed("d1\nn1\n,\nv1\na2's\n."))[0]
    assert sentence.strings("xpos") == retagged.strings("xpos")
    with pytest.raises(InputError, match="no words"):
        tagged("  ", taggers)


def test_a_typed_sentence_takes_the_place_of_the_other(play: Playground, taggers: Taggers) -> None:
    assert len(play.widgets().children) + 1 == len(play.widgets(taggers).children)
    buttons = Buttons(play, taggers)
    buttons.forbid[0].value, buttons.forbid[1].value = 0, 1
    buttons.text.value = "n1 v1 d1 n2 ."
    assert buttons.found is not None
    assert list(buttons.found.words) == ["n1", "v1", "d1", "n2", "."]
    assert buttons.found.parse.value == Playground(play.model, tagged("n1 v1 d1 n2 .", taggers)).explore().parse.value
    assert [box.value for box in (*buttons.require, *buttons.forbid)] == [-1] * 4
    assert len(buttons.require[0].options) == 7
    buttons.text.value = " "
    assert buttons.said.value.startswith("no words")
    assert buttons.found is not None  # the previous sentence is still available


@pytest.mark.skipif(find_spec("jupyterlab") is None or find_spec("websocket") is None, reason="no JupyterLab")
def test_the_notebook_and_its_buttons_work_in_jupyterlab() -> None:
    import lab_playground

    if lab_playground.CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    assert lab_playground.main() == 0
