"""The tables of the report: every figure as published, in the reference run and in this run, never mixed."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from treebound.core.errors import InputError
from treebound.experiments.params import Params, Run
from treebound.report.collect import Results
from treebound.report.published import QIAN_LIU, table

#: row of the published comparison -> (our model, what is to be said about ours)
SYSTEMS = {
    "baseline": ("carreras", ""),
    "grandchild": ("carreras+grandchild", ""),
    "great-grandchild": (None, "not built yet"),
    "sibling": ("carreras+sibling", ""),
    "tri-sibling": (None, "not built yet"),
    "comb": (None, "not built yet"),
    "pattern": (None, "not built yet"),
    "combined": ("carreras+grandchild+sibling", "ours without comb and hand-crafted factors"),
    "third-order": (None, "not built yet"),
}
#: rows of ours that the paper does not have
OWN = {
    "arc": "first order (Eisner)",
    "eisner+grandchild+sibling": "B&B + all grandchild + all sibling, first-order backbone",
}
PUBLISHED = "published"


def corpora_of(results: Sequence[Results], wanted: Sequence[str]) -> dict[str, list[str]]:
    """Provenance -> its corpora among `wanted` (empty: all). Raises InputError for one that no run has."""
    every = list(dict.fromkeys(corpus for r in results for corpus in r.corpora))
    for corpus in wanted:
        if corpus not in every:
            raise InputError(f"no results for corpus {corpus!r}", hint="there are: " + ", ".join(every))
    return {r.name: [c for c in r.corpora if not wanted or c in wanted] for r in results}


def stacked(results: Sequence[Results], wanted: Sequence[str], frame: str) -> pd.DataFrame:
    """The frame `Results.<frame>()` of every provenance, one below the other, with a first column `provenance`."""
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        data = getattr(r, frame)()
        data.insert(0, "provenance", r.name)
        parts.append(data[data["corpus"].isin(keep[r.name])])
    return pd.concat(parts, ignore_index=True)


def main_rows(params: Params, learner: str) -> dict[str, Run]:
    """Model -> its row of the main comparison: decoded over the whole test set with the k of training."""
    rows: dict[str, Run] = {}
    for run in params.decode:
        whole = params.decoders[run.decoder].sentences is None
        if run.learner == learner and run.k == params.train.k and whole:
            rows.setdefault(run.model, run)
    return rows


def sweep(params: Params) -> list[Run]:
    """The rows that differ in k alone, from most to least pruned: the model with most of them."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in params.decode:
        groups.setdefault((run.model, run.learner, run.decoder), []).append(run)
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        raise InputError("no model is decoded with several k", path="params.yaml", hint="add rows under decode:")
    return sorted(best, key=lambda run: float("inf") if run.k == "none" else int(run.k))


def configurations(params: Params) -> tuple[Run, Run]:
    """The rows that decode the same scores with the published and the tuned configuration."""
    for published in params.decode:
        if params.decoders[published.decoder].config != "published":
            continue
        for tuned in params.decode:
            same = (tuned.model, tuned.learner, tuned.k) == (published.model, published.learner, published.k)
            if same and params.decoders[tuned.decoder].config == "tuned":
                return published, tuned
    raise InputError(
        "no row is decoded with both configurations", path="params.yaml", hint="add a decode row with config published"
    )


def comparison(results: Sequence[Results], learner: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Table 2: UAS (%) of every system. Rows (group, system); columns (provenance, corpus), at last a note.

    A row of ours is the model of the same name, trained with `learner`. NaN: no figure, and the note says why.
    """
    keep = corpora_of(results, wanted)
    printed = table(QIAN_LIU, "comparison")
    ours = {model for model, _ in SYSTEMS.values() if model}
    rows: list[tuple[tuple[str, str], dict, str | None, str]] = []
    for row in printed.itertuples():
        model, note = SYSTEMS.get(row.id, (None, "published figure only"))
        rows.append(((row.group, row.system), {(PUBLISHED, "PTB"): row.PTB, (PUBLISHED, "CTB"): row.CTB}, model, note))
    extra = dict.fromkeys(m for r in results for m in main_rows(r.params, learner) if m not in ours)
    after = 1 + max(i for i, row in enumerate(rows) if row[0][0] == "this paper")
    rows[after:after] = [(("ours besides", OWN.get(model, model)), {}, model, "not in the paper") for model in extra]

    decoded = {r.name: r.decode().set_index(["corpus", "model", "learner", "decoder", "k"])["uas"] for r in results}
    index, cells = [], []
    for label, figures, model, note in rows:
        notes = [note] if note else []
        for r in results:
            run = main_rows(r.params, learner).get(model) if model else None
            if model and run is None:
                notes.append(f"not run: {r.name} does not list it")
            for corpus in keep[r.name]:
                figures[r.name, corpus] = (
                    float("nan")
                    if run is None
                    else decoded[r.name][corpus, run.model, run.learner, run.decoder, str(run.k)]
                )
        index.append(label)
        cells.append({**figures, ("", "note"): "; ".join(notes)})
    data = pd.DataFrame(cells, index=pd.MultiIndex.from_tuples(index, names=["", "system"]))
    columns = [(PUBLISHED, "PTB"), (PUBLISHED, "CTB"), *((r.name, c) for r in results for c in keep[r.name])]
    return _columns(data, [*columns, ("", "note")])


def pruning_table(results: Sequence[Results], figure: str, wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Table 3, one figure at a time. Rows: systems, columns (provenance, corpus), at last a note.

    figure  "UAS", "w/s" (words per CPU second; published: per second) or "DP calls" (per sentence)
    """
    keep = corpora_of(results, wanted)
    printed = table(QIAN_LIU, "speed").set_index("id")
    calls = table(QIAN_LIU, "calls").set_index("corpus")["DP calls per sentence"]
    settings = [f"k-{run.k}" for run in reversed(sweep(results[-1].params))]
    ids = list(dict.fromkeys([*(i for i in printed.index if i.startswith("k-")), *settings]))
    if figure != "DP calls":
        ids += [i for i in printed.index if not i.startswith("k-")]
    measured = {r.name: _sweep_figures(r, figure) for r in results}
    index, cells = [], []
    for i in ids:
        row: dict[tuple[str, str], object] = {}
        for corpus in ("PTB", "CTB"):
            if figure != "DP calls":
                row[PUBLISHED, corpus] = printed[f"{corpus} {figure}"].get(i, float("nan"))
            else:
                row[PUBLISHED, corpus] = calls[corpus] if i == "k-none" else float("nan")
        notes = [] if i.startswith("k-") else ["published figure only"]
        for r in results:
            if i.startswith("k-") and i not in measured[r.name].index.get_level_values(1):
                notes.append(f"not run: {r.name} does not list it")
            for corpus in keep[r.name]:
                row[r.name, corpus] = measured[r.name].get((corpus, i), float("nan"))
        index.append(printed["system"].get(i, f"branch and bound, k = {i[2:]}"))
        cells.append({**row, ("", "note"): "; ".join(notes)})
    data = pd.DataFrame(cells, index=pd.Index(index, name="system"))
    columns = [(PUBLISHED, "PTB"), (PUBLISHED, "CTB"), *((r.name, c) for r in results for c in keep[r.name])]
    return _columns(data, [*columns, ("", "note")])


def _sweep_figures(results: Results, figure: str) -> pd.Series:
    """One figure of every (corpus, k) of the sweep, indexed (corpus, "k-<k>")."""
    run, *_ = sweep(results.params)
    data = results.decode() if figure != "w/s" else results.benchmark()
    data = data[(data["model"] == run.model) & (data["learner"] == run.learner) & (data["decoder"] == run.decoder)]
    values = {"UAS": "uas", "w/s": "words_per_cpu_s", "DP calls": "dp_calls"}[figure]
    series = data[values] / data["sentences"] if figure == "DP calls" else data[values]
    return pd.Series(series.to_numpy(float), index=pd.MultiIndex.from_arrays([data["corpus"], "k-" + data["k"]]))


def accuracy_and_speed(results: Results) -> pd.DataFrame:
    """Points of the accuracy-speed figure: corpus, system, group, uas, words_per_cpu_s; whole test sets only."""
    keys = ["corpus", "model", "learner", "decoder", "k"]
    data = results.decode()[[*keys, "uas"]].merge(results.benchmark()[[*keys, "words_per_cpu_s"]], on=keys)
    data = data[[results.params.decoders[d].sentences is None for d in data["decoder"]]]
    swept = {(run.model, run.learner, run.decoder) for run in sweep(results.params)[:1]}
    in_sweep = [key in swept for key in zip(data["model"], data["learner"], data["decoder"], strict=True)]
    points = data.assign(
        system=data["model"].where(~pd.Series(in_sweep, index=data.index), "k = " + data["k"]),
        group=data["learner"].where(~pd.Series(in_sweep, index=data.index), "all factors, by pruning"),
    )
    return points.sort_values("group", kind="stable")


def length_curves(results: Results) -> pd.DataFrame:
    """Figures 4 and 5: the length bins of the rows that differ in k alone, most pruned first."""
    runs = sweep(results.params)
    data = results.by_length()
    parts = [
        data[
            (data["model"] == run.model)
            & (data["learner"] == run.learner)
            & (data["decoder"] == run.decoder)
            & (data["k"] == str(run.k))
        ]
        for run in runs
    ]
    return pd.concat(parts, ignore_index=True)


def tuning(results: Results) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both configurations on the same sentences (those that both rows decoded).

    Returns (summary, sentences). Summary: one row a corpus and configuration with sentences, certified, means a
    sentence of dp_calls, nodes and seconds, the largest dp_calls, and `worse`: sentences whose tree scores less than
    the other configuration's. Sentences: corpus, published and tuned DP calls of every sentence.
    """
    pair = dict(zip(("published", "tuned"), configurations(results.params), strict=True))
    rows, dots = [], []
    for corpus in results.corpora:
        found = {name: results.sentences(corpus, run) for name, run in pair.items()}
        timed = {name: results.timed_sentences(corpus, run) for name, run in pair.items()}
        common = found["published"].index.intersection(found["tuned"].index)
        if common.empty:
            raise InputError(f"{corpus}: the two configurations share no sentence", path="params.yaml")
        for name, other in (("published", "tuned"), ("tuned", "published")):
            part, time = found[name].loc[common], timed[name].loc[common]
            rows.append(
                {
                    "corpus": corpus,
                    "decoder": name,
                    "sentences": len(common),
                    "certified": int((part["status"] == "optimal").sum()),
                    "worse": int((part["value"] < found[other].loc[common, "value"]).sum()),
                    "dp_calls": part["dp_calls"].mean(),
                    "most_dp_calls": int(part["dp_calls"].max()),
                    "nodes": part["nodes"].mean(),
                    "seconds": time["seconds"].mean(),
                }
            )
        calls = {name: found[name].loc[common, "dp_calls"] for name in pair}
        dots.append(pd.DataFrame({"corpus": corpus, **calls}))
    return pd.DataFrame(rows), pd.concat(dots, ignore_index=True)


def _columns(data: pd.DataFrame, columns: list[tuple[str, str]]) -> pd.DataFrame:
    data.columns = pd.MultiIndex.from_tuples(list(data.columns))
    return data[columns]
