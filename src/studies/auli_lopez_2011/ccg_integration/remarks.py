"""Sentences about the decoders of the joint model, computed from the tables' own data."""

from __future__ import annotations

import pandas as pd

from studies.auli_lopez_2011.ccg.remarks import HOW, PARSER
from studies.auli_lopez_2011.ccg_integration.tables import ORDERS, name
from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, share, told


@about(HOW)
def decoders(gains: pd.DataFrame) -> Said:
    """About `tables.differences`: what each way of decoding gains over the parser alone on test."""
    for (run, parser), of in each(gains, PARSER):
        for order in ORDERS:
            rows = of.xs(f"{order} parser", level="than")
            ways = [what.removeprefix(f"{order} ").split() for what in rows.index]
            rows = rows.set_axis([name(first, *map(int, rest)) for first, *rest in ways])
            yield (
                f"Labelled F-score against the parser alone, {order} ({parser}, {run}, {rows['sentences'].min()} "
                f"sentences of test, 95 % intervals, one training): {told(rows, short=True)}.",
                rows,
            )


@about(HOW)
def proofs(lengths: pd.DataFrame) -> Said:
    """Describe `tables.lengths`: how many optima are proved, of dev and test together."""
    counts = lengths["sentences"]
    proved, at_once = ((lengths[name] * counts / 100).round() for name in ("proved, %", "at once, %"))
    data = pd.DataFrame({"sentences": counts, "proved": proved, "at once": at_once})
    for (run, parser, order), of in data.groupby(level=["run", "parser", "order"], sort=False):
        total, sure, first = (int(of[name].sum()) for name in ("sentences", "proved", "at once"))
        yield (
            f"Of the sentences of dev and test with a chart, the best derivation of {share(sure, total)} is proved, of "
            f"{first:,} without branching ({parser}, {run}, {order}).",
            of,
        )


@about(HOW)
def errors(data: pd.DataFrame) -> Said:
    """About `tables.errors`: who misses the optimum most rarely."""
    for (run, parser), of in each(data, PARSER):
        for order in ORDERS:
            worse, whole = (of["test", order, column] for column in ("worse, %", "of"))
            others = worse.drop("exact")
            best = listing(others.index[others == others.min()])
            yield (
                f"{worse['baseline']:.1f} % of the {whole['baseline']:.0f} derivations of the parser alone score less "
                f"than the proved best one; of all decoders but the exact one {best} misses it "
                f"most rarely, in {others.min():.1f} % ({parser}, {run}, test, {order}).",
                of,
            )
    yield f"{ONE_SEED} {UNTESTED}"
