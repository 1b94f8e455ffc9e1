"""Generated sentences about the decoders of the joint model, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.auli_lopez_2011.ccg.remarks import HOW
from studies.site.sentences import ONE_SEED, UNTESTED, Sentences, about, each, from_to, share, significance_counts, span


@about(HOW)
def decoders(gains: pd.DataFrame) -> Sentences:
    """Count the decoders that are better than the parser alone on test, for each order of attempts.

    gains  `summaries.against_parser`
    """
    for order, rows in each(gains, "order"):
        parsers = rows.index.get_level_values("parser").nunique()
        best = rows["difference"].idxmax()
        yield (
            f"Order {order}, labelled F-score of a decoder of the joint model minus labelled F-score of the parser "
            f"alone, for {parsers} {'parser' if parsers == 1 else 'parsers'} ({from_to(rows['sentences'])} sentences "
            f"of test, 95 % intervals, one training each): {significance_counts(rows)} The largest gain is "
            f"{rows['difference'].max():+.2f} ({best[-1]}, {best[1]}).",
            rows,
        )


@about(HOW)
def proofs(totals: pd.DataFrame) -> Sentences:
    """Report how many optima are proved, for dev and test together. totals: `summaries.proof_totals`."""
    sentences = int(totals["sentences"].sum())
    proved = int((totals["proved, %"] * totals["sentences"] / 100).round().sum())
    yield (
        f"The best derivation is proved for {share(proved, sentences)} sentences of dev and test that have a chart, "
        f"and for {share(int(totals['proved without branching'].sum()), sentences)} without branching. Each sentence "
        "counts once for each parser and order.",
        totals,
    )


@about(HOW)
def errors(data: pd.DataFrame) -> Sentences:
    """Report how often the parser alone misses the optimum, and which decoder comes closest.

    data  `summaries.closest`
    """
    alone, nearest = data["parser alone, below optimum, %"], data["closest, below optimum, %"]
    named = pd.Series([name for names in data["closest decoders"] for name in names.split("; ")]).value_counts()
    yield (
        f"On test, {span(alone, '{:.1f} %')} of the derivations of the parser alone score less than the proved optimum "
        f"({from_to(data['proved optima'])} proved optima).",
        data,
    )
    yield (
        f"The approximate decoder that misses the optimum least often is {named.index[0]}, for {named.iloc[0]} of "
        f"{len(data)} combinations of parser and order. The closest decoders miss {span(nearest, '{:.1f} %')} of the "
        f"optima. {ONE_SEED} {UNTESTED}",
        data,
    )
