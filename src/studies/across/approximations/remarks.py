"""Generated sentences about the tables of approximations, computed from the data of the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from studies.across.approximations.anytime import approximations, highest
from studies.across.approximations.contestants import EXACT
from studies.across.approximations.synthetic import SYNTHETIC
from studies.across.approximations.tables import FASTER, SAME
from studies.site.sentences import Sentences, about, each, listing, share, span
from studies.site.show import NOTHING

HOW = "No run on this page compares approximations. Run `python -m studies.pipeline.run approximations`."
CROSSING = (
    "The models were trained with projective trees only. In the non-projective space, the tree with the best score can "
    "be less accurate than the tree of a search that stops early. A higher UAS of such a search does not show "
    "that the search is better."
)
ONE_RUN = (
    "The speeds come from one run, with one seed for decoders that draw random numbers, and were not tested. Decoders "
    "with similar speeds may change places in another run."
)


@about(HOW)
def answer(table: pd.DataFrame) -> Sentences:
    """Tell which approximations are both faster than exact search and as accurate. table: `tables.worth`."""
    worthwhile = table.groupby(level=["model", "space"], sort=False)["worth it"].agg(["sum", "size"])
    synthetic = worthwhile.index.get_level_values("model").isin(SYNTHETIC)
    on_synthetic = (
        "With synthetic scores, a decoder counts as accurate if it finds as many best trees as branch and bound: "
        f"{_how_many(worthwhile[synthetic])}. "
        if synthetic.any()
        else ""
    )
    corpora = listing(dict.fromkeys(name for names in table["corpora"] for name in names.split(", ")))
    yield (
        f"On the test sentences of {corpora} together, this many approximations are at least "
        f"{FASTER:g} times as fast "
        f"as {EXACT} and as accurate, to within {SAME} points of UAS: {_how_many(worthwhile[~synthetic])}. "
        f"{on_synthetic}{ONE_RUN}"
    )
    if (
        "non-projective"
        in table.index.get_level_values("space")[~table.index.get_level_values("model").isin(SYNTHETIC)]
    ):
        yield CROSSING
    for (model, space), rows in each(table, ["model", "space"]):
        yield _answer(str(model), str(space), rows), rows


def _how_many(worthwhile: pd.DataFrame) -> str:
    """Return in words how many approximations are worthwhile in each space."""
    return listing(
        f"{span(rows['sum'], '{:.0f}') if rows['sum'].nunique() > 1 else rows['sum'].iloc[0]} of {rows['size'].max()} "
        f"for {space} trees"
        for space, rows in worthwhile.groupby(level="space", sort=False)
    )


def _answer(model: str, space: str, rows: pd.DataFrame) -> str:
    """Name the three fastest approximations that are as good as exact search.

    If there are none, name the best of the approximations that are faster.
    """
    synthetic = model in SYNTHETIC
    best = rows[rows["worth it"]].sort_values("times as fast", ascending=False)
    faster = rows[rows["times as fast"] >= FASTER].sort_values("best tree, %" if synthetic else "UAS", ascending=False)
    none_as_good = ", but none as good. The best of them"
    chosen, ending = (best.head(3), " and as good") if len(best) else (faster.head(1), none_as_good)
    listed = listing(
        f"{name} ({row['times as fast']:.1f} times as fast, {'' if synthetic else f'{row.UAS:+.2f} UAS, '}the best "
        f"tree in {row['best tree, %']:.1f} % of the sentences)"
        for name, row in chosen.iterrows()
    )
    sentences, proved = int(rows["sentences"].max()), int(rows["proved"].max())
    lengths = "sentences with the lengths of test sentences of" if synthetic else "test sentences of"
    scores = f"{model} scores" if synthetic else f"the scores of the model {model}"
    fewer = f"{len(best) or len(faster)} of {len(rows)} approximations are faster"
    return (
        f"With {scores} and {space} trees, {EXACT} proves {proved} of {sentences} {lengths} {rows['corpora'].iloc[0]}; "
        f"{fewer}{f'{ending}: {listed}' if len(chosen) else ''}."
    )


@about(HOW)
def synthetic(table: pd.DataFrame) -> Sentences:
    """Tell up to which sentence length exact search is the fastest on synthetic scores. table: `tables.synthetic`."""
    for (model, space), rows in each(table, ["model", "space"]):
        yield _proofs(str(model), str(space), rows), rows
        beaten = rows[rows["as good and faster"] != NOTHING]
        setting = f"With {model} scores and {space} trees, {EXACT}"
        if beaten.empty:
            longest = rows.index[-1]
            limit = f", including sentences of over {longest} words" if longest else ""
            yield f"{setting} is the fastest decoder that finds as many best trees, at all lengths{limit}.", rows
            continue
        low, row = beaten.index[0], beaten.iloc[0]
        yield (
            f"{setting} is no longer the fastest in sentences {_bin(rows.index, low)}. There, "
            f"{row['as good and faster']} finds as many best trees ({row['sentences']:.0f} sentences) and is "
            f"{row['times as fast']:.1f} times as fast.",
            rows,
        )
    yield ONE_RUN


def _proofs(model: str, space: str, rows: pd.DataFrame) -> str:
    """Report how many trees exact search proves with synthetic scores, in total and by sentence length."""
    counts = (rows["proved, %"] * rows["sentences"] / 100).round().astype(int)
    total, sentences = int(counts.sum()), int(rows["sentences"].sum())
    parts = listing(
        f"{count} of {size:.0f} sentences {_bin(rows.index, low)}"
        for (low, count), size in zip(counts.items(), rows["sentences"], strict=True)
    )
    return (
        f"With {model} scores and {space} trees, {EXACT} proves {share(total, sentences)} sentences within its limit: "
        f"{parts}."
    )


def _bin(lows: pd.Index, low: int) -> str:
    """Describe in words the bin of sentence lengths whose lower end is `low`."""
    upper = min((end for end in lows if end > low), default=0)
    if not upper:
        return f"over {low} words" if low else "of any length"
    return f"of {low + 1} to {upper} words"


@about(HOW)
def over_time(curves: pd.DataFrame, chosen: Sequence[str], ms: float = 10.0) -> Sentences:
    """Tell which decoders the anytime figure shows, and what exact search reaches within a CPU time.

    curves  result of `tables.over_time`
    chosen  result of `anytime.informative`
    ms      CPU time per sentence
    """
    everything = approximations(curves)
    some, best = highest(curves, chosen), highest(curves, everything)
    yield (
        f"The figure shows {EXACT} and {len(chosen)} of {len(everything)} approximations: {'; '.join(chosen)}. "
        f"The set was chosen by computation. Its best decoder finds {some:.1f} % of the best trees, as a mean over "
        f"all panels and times, and no other set of {len(chosen)} different methods finds more. "
        f"The best of all {len(everything)} approximations finds {best:.1f} %.",
        curves,
    )
    rows = curves[curves["ms"] == ms]
    for space in dict.fromkeys(rows["space"]):
        table = rows[rows["space"] == space].pivot_table(
            index="solver", columns="model", values=["best", "proved"], sort=False
        )
        yield (
            f"Within {ms:g} ms of CPU time per sentence, {EXACT} has the best tree for "
            f"{span(table.loc[EXACT, 'best'], '{:.1f} %')} of the sentences with {space} trees and proves "
            f"{span(table.loc[EXACT, 'proved'], '{:.1f} %')}.",
            table,
        )
