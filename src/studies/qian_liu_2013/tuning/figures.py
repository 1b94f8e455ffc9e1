"""Figures that compare the published search with the tuned search."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from studies.site.charts import _label
from treebound.plots.style import COLOURS, CYCLE, MARKERS, log_axis, panels, style


def tuning(data: pd.DataFrame, measures: dict[str, str]) -> Figure:
    """Draw the work of search configurations on the same scores: one panel per measure, one line per corpus, log scale.

    data      columns corpus, decoder and the columns that `measures` names. The first decoder of a corpus is the
              reference; each other decoder is labelled with the factor by which it needs less work.
    measures  column -> title of its panel
    """
    corpora, decoders = (list(dict.fromkeys(data[c])) for c in ("corpus", "decoder"))
    order = ["vermilion", "green", "blue", "purple", "brown"]
    with style():
        figure, axes = panels(
            len(measures), columns=len(measures), width=2.8 * len(measures) + 1.2, height=1.4 + 0.5 * len(corpora)
        )
        for panel, (column, title) in zip(axes, measures.items(), strict=True):
            for y, corpus in enumerate(corpora):
                values = data[data["corpus"] == corpus].set_index("decoder")[column]
                panel.plot([values.min(), values.max()], [y, y], color=COLOURS["pale"], linewidth=4, zorder=1)
                for i, (decoder, value) in enumerate(values.items()):
                    position = decoders.index(str(decoder))
                    panel.plot(
                        value, y, color=COLOURS[order[position]], marker=MARKERS[position], linestyle="none", zorder=2
                    )
                    if i:
                        ratio = f"{values.iloc[0] / value:.1f} ×"
                        above = (
                            0,
                            6 if i % 2 else -14,
                        )  # labels alternate, because neighbouring points are often close
                        _label(panel, value, y, ratio, COLOURS[order[position]], above, size=8, ha="center")
            log_axis(panel, "x")
            panel.set_yticks(range(len(corpora)), corpora if panel is axes[0] else [""] * len(corpora))
            panel.set_ylim(len(corpora) - 0.3, -0.7)
            panel.margins(x=0.2)
            panel.set_title(title, fontsize=9)
        keys = [
            Line2D([], [], color=COLOURS[order[i]], marker=MARKERS[i], linestyle="none", label=decoder)
            for i, decoder in enumerate(decoders)
        ]
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=8)
    return figure


def sentence_by_sentence(data: pd.DataFrame, label: str) -> Figure:
    """Draw the work of two configurations on the same sentences, one dot per sentence.

    A dot below the diagonal is a sentence for which the second configuration needs less work.

    data  two columns, named after the configurations, with one positive number per sentence, for example DP calls
    """
    with style():
        figure, (axes,) = panels(1, width=4.6, height=4.4)
        first, second = data.columns
        low, high = data.min().min(), data.max().max()
        axes.plot([low, high], [low, high], color=COLOURS["grey"], linewidth=1)
        axes.scatter(data[first], data[second], s=9, alpha=0.4, color=COLOURS["blue"], edgecolors="none")
        axes.set_xlabel(f"{label}, {first} (log scale)")
        axes.set_ylabel(f"{label}, {second} (log scale)")
        log_axis(axes, "x")
        log_axis(axes, "y")
        axes.set_aspect("equal", "box")
    return figure


def unproved(data: pd.DataFrame) -> Figure:
    """Draw the share of sentences without a proof against DP calls: one curve per configuration, one panel per corpus.

    data  columns corpus, configuration and curve (DP calls -> % of the sentences that are proved by then). The first
          configuration is drawn on top, in black. A curve ends where all sentences are proved, or at the last call that
          proves a sentence.
    """
    corpora, names = (list(dict.fromkeys(data[c])) for c in ("corpus", "configuration"))
    looks = {name: (CYCLE[i % 6], ("-", "--", ":", "-.")[i // 6 % 4]) for i, name in enumerate(names[1:])}
    with style():
        figure, axes = panels(len(corpora), height=4.2, width=8.5 if len(corpora) > 1 else 6.5)
        for panel, corpus in zip(axes, corpora, strict=True):
            for name, curve in data[data["corpus"] == corpus].set_index("configuration")["curve"].items():
                final = max(curve.values())
                calls = [c for c, share in curve.items() if share < final]
                calls += [c for c, share in curve.items() if share == final][:1] if final < 100 else []
                colour, dashes = looks.get(str(name), (COLOURS["ink"], "-"))
                front = 3 if name == names[0] else 2
                panel.plot(calls, [100 - curve[c] for c in calls], color=colour, ls=dashes, zorder=front, label=name)
            log_axis(panel, "x")
            log_axis(panel, "y")
            panel.set_title(corpus)
            panel.set_xlabel("DP calls (log scale)")
            panel.set_ylabel("sentences not yet proved, % (log scale)")
        handles = {name: line for panel in axes for line, name in zip(*panel.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return figure
