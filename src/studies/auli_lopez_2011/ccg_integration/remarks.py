"""Generated sentences about the decoders of the joint model, computed from the data of the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from studies.auli_lopez_2011.ccg.remarks import HOW, PARSER
from studies.auli_lopez_2011.ccg_integration.measure import column_named
from studies.auli_lopez_2011.ccg_integration.tables import ORDERS, RULES, titled
from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, each, share, significance_text


@about(HOW)
def decoders(gains: pd.DataFrame) -> Sentences:
    """Report the gain of each decoder over the parser alone on test, with the same output rule.

    Older runs measured each decoder only under the output rule of the paper; the sentence then states this.

    gains  `tables.differences`
    """
    for (run, parser), table in each(gains, PARSER):
        for order in ORDERS:
            for rule, rows in _against_parser(table, order):
                rows = rows.set_axis([titled(what) for what in rows.index])
                yield (
                    f"Labelled F-score minus labelled F-score of the parser alone, {order}, {rule} ({parser}, {run}, "
                    f"{rows['sentences'].min()} sentences of test, 95 % intervals, one training): "
                    f"{significance_text(rows, short=True)}.",
                    rows,
                )


def _against_parser(table: pd.DataFrame, order: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (output rules in words, rows of the comparisons with the parser alone) for one parser and order."""
    baselines = set(table.index.get_level_values("baseline"))
    if f"{order} parser least-risk" not in baselines:
        yield "the paper's output rules", table.xs(f"{order} parser", level="baseline")
        return
    for output, baseline in (("least-risk", f"{order} parser least-risk"), ("viterbi", f"{order} parser")):
        rows = table.xs(baseline, level="baseline")
        has_same_rule = [column_named(what)[1].output == output for what in rows.index]
        yield f"output rule {RULES[output]}", rows[has_same_rule]


@about(HOW)
def proofs(lengths: pd.DataFrame) -> Sentences:
    """Report how many optima are proved, for dev and test together. lengths: `tables.lengths`."""
    counts = lengths["sentences"]
    proved, at_once = ((lengths[name] * counts / 100).round() for name in ("proved, %", "at once, %"))
    data = pd.DataFrame({"sentences": counts, "proved": proved, "at once": at_once})
    for (run, parser, order), rows in data.groupby(level=["run", "parser", "order"], sort=False):
        total, optima, unbranched = (int(rows[name].sum()) for name in ("sentences", "proved", "at once"))
        yield (
            f"The best derivation is proved for {share(optima, total)} sentences of dev and test that have a chart, "
            f"and for {unbranched:,} sentences without branching ({parser}, {run}, {order}).",
            rows,
        )


@about(HOW)
def errors(data: pd.DataFrame) -> Sentences:
    """Name the approximate decoder that misses the optimum least often. data: `tables.errors`."""
    for (run, parser), rows in each(data, PARSER):
        for order in ORDERS:
            worse, proved = (rows["test", order, column] for column in ("below optimum, %", "proved"))
            others = worse[[not str(name).startswith("exact") for name in worse.index]]
            best = "; ".join(map(str, others.index[others == others.min()]))
            yield (
                f"{worse['baseline']:.1f} % of the {proved['baseline']:.0f} derivations of the parser alone score less "
                f"than the proved optimum. These approximate decoders miss the optimum least often: {best} (in "
                f"{others.min():.1f} % of the sentences; {parser}, {run}, test, {order}).",
                rows,
            )
    yield f"{ONE_SEED} {UNTESTED}"
