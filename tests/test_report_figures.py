"""Figures of the largest runs: small files, few curves a panel, names at the curves, level labels of axes."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from studies.across.approximations import figures as approximations_figures
from studies.across.approximations.anytime import MOMENTS, informative
from studies.across.approximations.contestants import CONTESTANTS
from studies.across.approximations.measure import WITHIN
from studies.across.verdicts import figures as verdicts_figures
from studies.auli_lopez_2011.ccg import figures as ccg_figures
from studies.auli_lopez_2011.ccg_integration import figures as integration_figures
from studies.hall_2006.classifiers import figures as classifiers_figures
from studies.hall_2006.transitions import figures as transitions_figures
from studies.site.claims.judge import Judged
from studies.site.claims.load import Claim, Paper
from studies.site.claims.measured import Measured
from studies.zhang_2014.score_time import figures as score_time_figures
from treebound.plots.style import CYCLE
from treebound.plots.svg import as_svg

CORPORA = [f"corpus_{i}" for i in range(6)]
SPACES = ("projective", "non-projective")
BETAS = (0.075, 0.03, 0.01, 0.005, 0.001, 0.0005, 0.0001)
LARGEST = 150_000  #: bytes of a figure
PAPER = Paper(key="p", cite="A & B (2000)", title="T")


def grid(**columns: object) -> pd.DataFrame:
    """Return a row for each combination of values. A column that is a number counts rows from there."""
    lists = {name: list(values) for name, values in columns.items()}  # type: ignore[call-overload]
    data = pd.MultiIndex.from_product(list(lists.values()), names=list(lists)).to_frame(index=False)
    return data.assign(position=np.arange(len(data)) % 97)


def anytime() -> Figure:
    data = grid(model=["first+second+third", "combined"], space=SPACES, solver=CONTESTANTS, ms=WITHIN)
    data = data.assign(best=data["position"] % 101, proved=data["position"] % 89)
    return approximations_figures.over_time(data, informative(data))


def training_cost() -> Figure:
    data = grid(corpus=CORPORA, learner=["a", "b", "c", "d", "e"], features=[f"F{i}" for i in range(1, 6)])
    return classifiers_figures.training_cost(
        data.assign(run="reference", uas=60.0 + data["position"] / 5, train_cpu_s=1.0 + data["position"])
    )


def error_rates() -> Figure:
    bins = [f"{i} to {i + 3}" for i in range(14)]
    table = pd.DataFrame({f"transition-{i}": np.linspace(2, 40 + i, len(bins)) for i in range(8)}, index=bins)
    return transitions_figures.error_rates(dict.fromkeys(("distance", "depth", "length"), table.assign(words=9)))


def score_time() -> Figure:
    keys = {"run": ["reference"], "corpus": CORPORA, "space": SPACES}
    sampled = grid(**keys, method=["greedy", "gibbs", "random-walk"], patience=[1, 2, 4, 8, 16, 32])
    data = pd.concat([grid(**keys, method=["branch-and-bound"], patience=[0]), sampled])
    data = data.assign(**{"optima found, %": 90.0 + data["position"] / 10, "CPU µs / word": 20.0 + data["position"]})
    return score_time_figures.score_against_time(data.set_index(["run", "corpus", "space", "method", "patience"]))


def beams() -> Figure:
    data = grid(parser=[f"corpus-{name}" for name in "abcdefgh"], beam=[f"{beta:g}:20" for beta in BETAS])
    scores = {"model score": 9000.0 + data["position"], "LF": 80.0 - data["position"] / 9, "oracle LF": 90.0}
    return ccg_figures.beams(data.assign(sentences=200, **scores))


def accuracy() -> Figure:
    data = grid(order=["AST", "reverse"], decoder=["bp", "dd", "dd-published"], iterations=range(1, 90))
    baselines = pd.DataFrame({"parser alone": 80.0, "exact": 84.0}, index=["AST", "reverse"])
    return integration_figures.accuracy(data.assign(LF=80 + data["position"] / 20), baselines)


def convergence() -> Figure:
    data = grid(order=["AST", "reverse"], decoder=["bp", "dd", "dd-published"], iterations=range(1, 90))
    return integration_figures.convergence(data.assign(settled=data["position"]))


def proof_times() -> Figure:
    data = grid(run=["reference"], parser=CORPORA, order=["AST", "reverse"], words_from=[1, 11, 21, 31, 41])
    data = data.rename(columns={"words_from": "words from"})
    data = data.assign(**{"CPU ms": 1.0 + data["position"], "CPU ms, most": 50.0 + data["position"]})
    return integration_figures.proof_times(data.set_index(["run", "parser", "order", "words from"]))


def forest() -> Figure:
    values = {"section": "4", "published": "1.0", "rows": ("a", "b"), "measure": "UAS", "than": 0}
    places = tuple(Measured(f"t{i}", 0.1 * i, 0.1 * i - 0.2, 0.1 * i + 0.2) for i in range(18))
    claims = (Claim.model_validate({"claim": "It helps.", "name": f"claim-{i}"} | values) for i in range(20))
    return verdicts_figures.forest([Judged(PAPER, claim, places) for claim in claims])


FIGURES = (anytime, training_cost, error_rates, score_time, beams, accuracy, convergence, proof_times, forest)


@pytest.mark.parametrize("make", FIGURES, ids=lambda make: make.__name__)
def test_a_figure_of_a_large_run_is_small_and_names_its_curves(make: Callable[[], Figure]) -> None:
    figure = make()
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
    assert len(panels) == len({axes.get_subplotspec() for axes in panels}), "one vertical axis per panel"
    assert not figure.legends
    assert all(axes.get_legend() is None for axes in panels)
    for axes in panels:
        assert all(label.get_rotation() == 0 for label in axes.get_xticklabels())
        assert axes.get_xlabel()
        colours = {line.get_color() for line in axes.lines} & set(CYCLE)
        written = {text.get_text() for text in axes.texts}
        assert make is forest or 1 <= len(colours) <= len(written), "every curve has a name"
    drawn = as_svg(figure, "a figure")
    for markup in (drawn.markup, drawn.narrow):
        assert ElementTree.fromstring(markup) is not None
        assert len(markup.encode()) < LARGEST


def test_the_times_of_the_tables_were_measured() -> None:
    assert set(MOMENTS) <= set(WITHIN)
