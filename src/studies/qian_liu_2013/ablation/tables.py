"""Tables of the ablation: configurations of the search on the same scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.common.metrics import RERUN
from studies.qian_liu_2013.ablation.settings import Ablation
from studies.site import frames, ratios
from studies.site.collect import Results
from studies.site.rows import corpora_of
from studies.site.show import NOTHING
from treebound.core.errors import InputError

MEASURES = {"dp_calls": "DP calls", "nodes": "nodes", "ms": "ms"}


def measured(results: Results) -> pd.DataFrame:
    """Return the metrics of the stage `ablation`, one row per corpus and configuration.

    The column `changed` describes the options of the configuration in words.
    """
    settings = results.params.section(Ablation)
    path = results.folder / "metrics" / "ablation"
    rows = []
    for corpus in results.corpora:
        rows_by_name = {row["configuration"]: row for row in results.read("ablation", f"{corpus}.json")}
        for name, options in settings.configurations.items():
            if name not in rows_by_name:
                raise InputError(f"no row for {name}", path=path / f"{corpus}.json", hint=RERUN)
            changed = ", ".join(f"{key} = {value}" for key, value in options.items()) or NOTHING
            rows.append({"corpus": corpus, "changed": changed, **rows_by_name[name]})
    return frames.frame(rows, path)


def ablations(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the work and success of every configuration. The first configuration of a run is the reference.

    There is one row per corpus (its name contains the run) and configuration. Columns: changed (its options in words);
    sentences; dp_calls, nodes and ms (means per sentence); at_root and proved (% of the sentences); curve (DP calls ->
    % proved by then). Runs without an ablation are left out. Raises InputError if no run remains.
    """
    keep = corpora_of(results, wanted)
    rows: list[dict] = []
    for r in results:
        if not r.params.section(Ablation).configurations:
            continue
        for metrics in measured(r).to_dict("records"):
            if metrics["corpus"] in keep[r.name]:
                n = metrics["sentences"]
                curve = sorted((int(calls), 100 * proved / n) for calls, proved in metrics["proved_within"].items())
                rows.append(
                    {
                        "corpus": r.place(metrics["corpus"]),
                        "configuration": metrics["configuration"],
                        "changed": metrics["changed"],
                        "sentences": n,
                        "dp_calls": metrics["dp_calls"] / n,
                        "nodes": metrics["nodes"] / n,
                        "ms": 1e3 * metrics["cpu_s"] / n,
                        "at_root": 100 * metrics["root_solved"] / n,
                        "proved": 100 * metrics["certified"] / n,
                        "curve": dict(curve),
                    }
                )
    if not rows:
        raise InputError("no run has an ablation", path="params.yaml", hint="add a block ablation:")
    return pd.DataFrame(rows)


def ablation_table(data: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `ablations`, with the work also as a multiple of the first configuration's work."""
    first = data.groupby("corpus", sort=False)[list(MEASURES)].transform("first")
    columns = {("", "changed"): data["changed"]}
    columns |= {("per sentence", name): data[column] for column, name in MEASURES.items()}
    columns |= {("% of sentences", "proved at the root"): data["at_root"], ("% of sentences", "proved"): data["proved"]}
    not_first = data["corpus"].duplicated()
    columns |= {("this / first", name): (data[c] / first[c]).where(not_first) for c, name in MEASURES.items()}
    index = pd.MultiIndex.from_arrays([data["corpus"], data["configuration"]], names=["corpus", "configuration"])
    return pd.DataFrame(columns).set_axis(index)


def ablation_calls(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the DP calls of every sentence. Columns: corpus (its name contains the run), configuration, dp_calls.

    There are no rows if a run has no sentences, as a reference that is committed without them.
    """
    keep = corpora_of(results, wanted)
    parts = []
    for r in results:
        configurations = r.params.section(Ablation).configurations
        if configurations and not r.keeps_sentences:
            return pd.DataFrame(columns=["corpus", "configuration", "dp_calls"])
        for corpus in keep[r.name] if configurations else ():
            data = r.predicted(corpus, "ablation.csv", usecols=["configuration", "dp_calls"])
            parts.append(data.assign(corpus=r.place(corpus)))
    return pd.concat(parts, ignore_index=True)


def ablation_ranking(data: pd.DataFrame, calls: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the configurations over all corpora, fastest first.

    Columns: DP calls, nodes and ms as multiples of the first configuration's numbers (geometric means over corpora),
    and the smallest share of proved sentences on any corpus. Configurations that some corpus lacks are left out.

    data   result of `ablations`
    calls  result of `ablation_calls`; if it has rows, the ends of the 95 % interval of DP calls follow them (low, high;
           `site.ratios.of_means`)
    """
    first = data.groupby("corpus", sort=False)[list(MEASURES)].transform("first")
    ratio = np.log(data[list(MEASURES)] / first)
    ratio = ratio.assign(configuration=data["configuration"], proved=data["proved"])
    groups = ratio.groupby("configuration", sort=False)
    everywhere = groups.size()[lambda size: size == data["corpus"].nunique()].index
    means = np.exp(groups[list(MEASURES)].mean()).rename(columns=MEASURES)
    means["proved, % (least)"] = groups["proved"].min()
    means = means.loc[everywhere].sort_values("ms", kind="stable")
    if calls is None or calls.empty:
        return means
    by_corpus = [dict(iter(rows.groupby("configuration")["dp_calls"])) for _, rows in calls.groupby("corpus")]
    base = data["configuration"].iloc[0]
    intervals = [ratios.of_means([(rows[name], rows[base]) for rows in by_corpus]) for name in means.index]
    for position, end in enumerate(("low", "high"), 1):
        means.insert(position, end, [getattr(interval, end) for interval in intervals])
    return means
