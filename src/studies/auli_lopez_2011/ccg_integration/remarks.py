"""Sentences about the decoders of the joint model, computed from the tables' own data."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from studies.auli_lopez_2011.ccg.remarks import HOW, PARSER
from studies.auli_lopez_2011.ccg_integration.measure import column_named
from studies.auli_lopez_2011.ccg_integration.tables import ORDERS, RULES, titled
from studies.site.sentences import ONE_SEED, UNTESTED, Said, about, each, listing, share, told


@about(HOW)
def decoders(gains: pd.DataFrame) -> Said:
    """About `tables.differences`: what each way of decoding gains over the parser alone on test.

    Both have the same output rule. Older runs measured each decoder under the paper's rule alone: the sentence says so.
    """
    for (run, parser), of in each(gains, PARSER):
        for order in ORDERS:
            for rule, rows in _against_parser(of, order):
                rows = rows.set_axis([titled(what) for what in rows.index])
                yield (
                    f"Labelled F-score against the parser alone, {order}, {rule} ({parser}, {run}, "
                    f"{rows['sentences'].min()} sentences of test, 95 % intervals, one training): "
                    f"{told(rows, short=True)}.",
                    rows,
                )


def _against_parser(of: pd.DataFrame, order: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """(output rules, rows of the columns that are compared with the parser alone), of one parser and order."""
    baselines = set(of.index.get_level_values("than"))
    if f"{order} parser least-risk" not in baselines:
        yield "the paper's output rules", of.xs(f"{order} parser", level="than")
        return
    for output, baseline in (("least-risk", f"{order} parser least-risk"), ("viterbi", f"{order} parser")):
        rows = of.xs(baseline, level="than")
        same = [column_named(what)[1].output == output for what in rows.index]
        yield f"output rule {RULES[output]}", rows[same]


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
