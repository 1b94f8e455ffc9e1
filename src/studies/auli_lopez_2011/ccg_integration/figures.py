"""Figures of the joint model of CCG supertagger and parser: accuracy and convergence by iteration, score by beam."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.auli_lopez_2011.ccg import figures
from treebound.plots.style import COLOURS, CYCLE, MARKERS, end_labels, log_axis, panels, style, text_colour

NAMES = {"bp": "BP", "dd": "DD", "dd-published": "DD, published steps"}
COLOUR = {"bp": COLOURS["blue"], "dd": COLOURS["vermilion"], "dd-published": COLOURS["green"]}
DASHES = {"AST": "--", "reverse": "-"}
PARSERS = len(CYCLE) - 1  #: largest number of parsers in the figure of proofs; one colour marks the slowest proof


def accuracy(data: pd.DataFrame, baselines: pd.DataFrame) -> Figure:
    """Draw figure 4: LF of each decoder by iteration, with horizontal lines for the parser alone and the optimum.

    data       table of one parser with the columns order, decoder, iterations and LF
    baselines  table with one row per order; the columns `parser alone` and `exact` hold LF
    """
    with style():
        figure, axes = panels(len(baselines), height=3.2, width=9.5)
        for panel, (order, row) in zip(axes, baselines.iterrows(), strict=True):
            last, ends = float(data.loc[data["order"] == order, "iterations"].max()), []
            for decoder in NAMES:
                curve = data[(data["order"] == order) & (data["decoder"] == decoder)]
                if not len(curve):  # older runs did not measure all decoders
                    continue
                panel.plot(curve["iterations"], curve["LF"], color=COLOUR[decoder], linewidth=1.4, label=NAMES[decoder])
                point = float(curve["iterations"].iloc[-1]), float(curve["LF"].iloc[-1])
                ends.append((*point, NAMES[decoder], COLOUR[decoder]))
            for column, name, colour, dashes in (
                ("parser alone", "parser alone", COLOURS["grey"], ":"),
                ("exact", "optimum", COLOURS["ink"], "--"),
            ):
                panel.axhline(row[column], color=colour, linestyle=dashes, linewidth=1.2)
                ends.append((last, float(row[column]), name, colour))
            log_axis(panel, "x")
            panel.margins(x=0)
            panel.set_title(f"{order} order")
            panel.set_xlabel("iterations (log scale)")
            panel.set_ylabel("labelled F-score, %")
            end_labels(panel, ends)
    return figure


def convergence(data: pd.DataFrame) -> Figure:
    """Draw figure 6: share of sentences (%) that have settled, by iteration on a logarithmic axis.

    A sentence has settled if its beliefs have converged, or if dual decomposition has proved its derivation.

    data  table of one parser with the columns order, decoder, iterations and settled
    """
    with style():
        figure, (panel,) = panels(1, height=3.4, width=7.5)
        ends = []
        for (order, decoder), curve in data.groupby(["order", "decoder"], sort=False):
            colour, dashes, name = COLOUR[str(decoder)], DASHES[str(order)], f"{NAMES[str(decoder)]}, {order}"
            panel.plot(curve["iterations"], curve["settled"], color=colour, linestyle=dashes, linewidth=1.4, label=name)
            ends.append((float(curve["iterations"].iloc[-1]), float(curve["settled"].iloc[-1]), name, colour))
        log_axis(panel, "x")
        panel.margins(x=0)
        panel.set_ylim(0, 102)
        panel.set_xlabel("iterations (log scale)")
        panel.set_ylabel("sentences that have settled, %")
        end_labels(panel, ends)
    return figure


def last_in_words(data: pd.DataFrame, measure: str) -> str:
    """Describe curves in words: a measure (%) at the last iteration by order and decoder, for an alt text.

    data  order, decoder, iterations and `measure` of one parser
    """
    last = data.sort_values("iterations").groupby(["order", "decoder"], sort=False).tail(1)
    values = (
        f"{NAMES[row['decoder']]} {row['order']} {row[measure]:.1f} % ({row['iterations']:,} iterations)"
        for row in last.to_dict("records")
    )
    return f"Last values: {', '.join(values)}."


def beams(data: pd.DataFrame) -> Figure:
    """Draw figure 5: joint score and LF by beam, one curve per decoder. Zero is the lowest score.

    data  table of one parser with the columns decoder, beam, joint score and LF
    """
    data = data.assign(**{"joint score": data["joint score"] - data["joint score"].min()})
    rows = {str(name): curve for name, curve in data.groupby("decoder", sort=False)}
    with style():
        figure, axes = panels(2, height=3.2, width=9.5)
        for panel, measure, label in zip(
            axes, ("joint score", "LF"), ("joint score above the lowest", "labelled F-score, %"), strict=True
        ):
            figures.curves(panel, rows, measure)
            panel.set_title("score of the joint model" if measure == "joint score" else "accuracy")
            panel.set_ylabel(label)
    return figure


def proof_times(proofs: pd.DataFrame) -> Figure:
    """Draw CPU ms of a proof by sentence length: the mean of each parser, and the slowest sentence of all parsers.

    There is one panel per order.

    proofs  rows of one run of `tables.lengths`; the first five parsers have curves

    The name of a curve that ends before the last bin stands above its last point.
    """
    data = proofs.reset_index()
    orders, parsers = (list(dict.fromkeys(data[name])) for name in ("order", "parser"))
    starts = sorted(set(data["words from"]))
    data["position"] = data["words from"].map(starts.index)
    with style():
        figure, axes = panels(len(orders), height=3.4, width=9.5)
        for panel, order in zip(axes, orders, strict=True):
            rows, ends = data[data["order"] == order], []
            slowest = rows.groupby("position")["CPU ms, most"].max()
            curves = [(slowest, "slowest sentence", COLOURS["ink"], ":")]
            for parser, colour in zip(parsers, CYCLE[:PARSERS], strict=False):
                mean = rows[rows["parser"] == parser].groupby("position")["CPU ms"].mean()
                curves.append((mean, str(parser), colour, "-"))
            for i, (curve, name, colour, dashes) in enumerate(curves):
                (line,) = panel.plot(curve.index, curve, color=colour, linestyle=dashes, linewidth=1.4, label=name)
                line.set(marker=MARKERS[i], markersize=4)
                if not len(curve):
                    continue
                end = (float(curve.index[-1]), float(curve.iloc[-1]), name, colour)
                if curve.index[-1] == len(starts) - 1:
                    ends.append(end)
                else:
                    _beside(panel, end)
            log_axis(panel, "y")
            panel.set_xticks(range(len(starts)), _bins(starts))
            panel.set_title(f"{order} order")
            panel.set_xlabel("words in the sentence")
            panel.set_ylabel("CPU ms per proof (log scale)")
            end_labels(panel, ends, size=8.5)
    return figure


def _bins(starts: Sequence[int]) -> list[str]:
    """Return the names of bins of sentence lengths, for example `1–10`, from the smallest length of each bin."""
    return [*(f"{start}–{following - 1}" for start, following in pairwise(starts)), *(f"≥ {x}" for x in starts[-1:])]


def _beside(panel: Axes, end: tuple[float, float, str, str]) -> None:
    """Write the name of a curve above its last point. end: (x, y, name, colour) of this point."""
    x, y, name, colour = end
    panel.annotate(
        name, (x, y), (0, 5), textcoords="offset points", color=text_colour(colour), fontsize=8.5, ha="center"
    )
