"""Make tables that describe the runs (settings, data, cost) and single parses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import stacked
from treebound.core.parse import Parse

#: column of `training`: share of training sentences whose decoding reached the limit on dynamic-program calls
CAPPED = "at the limit, %"
MORE = "reference, more corpora"  #: heading of `provenance` for the reference's run on more corpora


def times(results: Results) -> pd.DataFrame:
    """Return stage, wall_s and cpu_s of the last execution of each stage, as `pipeline.run` recorded them.

    The table may be empty.
    """
    path = results.folder / "stages.csv"
    names = ["stage", "wall_s", "cpu_s"]
    data = pd.read_csv(path, names=names) if path.is_file() else pd.DataFrame(columns=names)
    return data.drop_duplicates("stage", keep="last").reset_index(drop=True)


def provenance(results: Sequence[Results], more: Results | None = None) -> pd.DataFrame:
    """Return facts about the runs (commit, data, machine, cost), one column per run and one row per fact.

    Facts about this run come from its parameters and metrics files.

    more  the reference's run on more corpora, whose parsing was not timed; None adds no column
    """
    columns = {}
    named = [(r.name, r) for r in results] + ([(MORE, more)] if more is not None else [])
    for name, r in named:
        decoded = frames.decode(r)
        parsing = "not timed" if r is more else f"{frames.benchmark(r)['cpu_s'].sum():,.1f}"
        trained = [r.read("timing", "train", corpus, f"{model}.json") for corpus, model in models(r)]
        sums = decoded.groupby("corpus", sort=False)["corpus_checksum"].first()
        machine = dict(r.info.get("machine", {}))
        machine |= machine.pop("versions", {})
        described = ", ".join(f"{key} {value}" for key, value in machine.items())
        if r.info.get("continued"):  # every table of times compares rows of one corpus, which one machine measured
            described += " (this machine finished the run; others may have run earlier stages)"
        columns[name] = {
            "commit": str(r.info["commit"])[:12] if "commit" in r.info else "the sources in this folder",
            "pages made at commit": "none" if r is more else _pages(r.info),
            "date": str(r.info.get("date", "not recorded, so that the same run gives the same pages")),
            "machine": described or "the machine that computed this report",
            "test sets (sha256)": ", ".join(f"{corpus} {total[:12]}" for corpus, total in sums.items()),
            "part of the data": f"the first {r.params.slice} sentences" if r.params.slice else "all sentences",
            "seed": str(r.params.seed),
            "models trained": str(len(trained)),
            "training these models, CPU seconds": f"{sum(seconds['cpu_s'] for seconds in trained):,.0f}",
            "graph-based rows selected for all corpora, tested": str(len(decoded)),
            "test sentences that these rows parsed": f"{decoded['sentences'].sum():,}",
            "parsing these sentences once, CPU seconds (timed rows only)": parsing,
        }
    return pd.DataFrame(columns)


def _pages(info: dict[str, Any]) -> str:
    """Return the commit whose sources made the pages of a run. A reference run may be shown by newer sources."""
    made = info.get("pages", info.get("commit", ""))
    return made[:12] or "the sources in this folder"


def models(results: Results) -> list[tuple[str, str]]:
    """List the pairs (corpus, trained model) of all rows in the parameters, for all systems and seeds."""
    pairs = ((corpus, row.trained) for corpus in results.corpora for row in results.params.rows_of(corpus))
    return list(dict.fromkeys(pairs))


def time_spent(results: Sequence[Results]) -> pd.DataFrame:
    """Return the time that each kind of stage took: one row per run and kind, largest CPU time first.

    Columns: stages, CPU minutes, minutes by the clock. Stages of a kind run in parallel, so their minutes by the clock
    add up to more than the duration of the run. The CPU time of a stage includes starting Python, reading files and
    compiling; for `train` it is therefore more than the seconds in `provenance`.
    """
    tables = [times(run).assign(provenance=run.name) for run in results]
    data = pd.concat(tables).assign(kind=lambda d: d["stage"].str.split("@").str[0])
    data = data.groupby(["provenance", "kind"], sort=False)[["cpu_s", "wall_s"]].agg(["count", "sum"])
    data = pd.DataFrame(
        {
            "stages": data["cpu_s", "count"],
            "CPU minutes": data["cpu_s", "sum"] / 60,
            "minutes by the clock": data["wall_s", "sum"] / 60,
        }
    )
    return data.sort_values(["provenance", "CPU minutes"], ascending=[True, False]).rename_axis(["", "kind of stage"])


def training(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per trained model: epochs, best epoch with its dev UAS and LAS, CPU seconds.

    The index is provenance, corpus, learner, model. CAPPED is the share of training sentences whose decoding reached
    the limit on dynamic-program calls in the last epoch. The column of LAS is left out if no model has labels. The
    column CAPPED is left out if no training counted these sentences.
    """
    data = stacked(results, wanted, frames.train).rename(columns={"provenance": ""})
    data = data.sort_values(["", "corpus", "learner"], kind="stable").set_index(["", "corpus", "learner", "model"])
    names = {"epochs": "epochs", "best_epoch": "best epoch", "dev_uas": "dev UAS", "dev_las": "dev LAS"}
    if data["dev_las"].isna().all():
        del names["dev_las"]
    names["cpu_s"] = "CPU s"
    if data["capped"].notna().any():
        names["capped"] = CAPPED
    return data[list(names)].rename(columns=names)


def certificate(parse: Parse, unit: float = 1.0) -> pd.DataFrame:
    """Return score, bound, gap, status and work of a parse in one column; scores are divided by `unit`."""
    facts = {
        "score of the tree": parse.value / unit,
        "upper bound on the score of any tree": parse.bound / unit,
        "gap": parse.gap / unit,
        "status": parse.status,
        "calls of the dynamic program": parse.work.get("dp_calls", 0),
        "nodes of the search tree": parse.work.get("nodes", 0),
    }
    return pd.DataFrame({"": pd.Series(facts, dtype=object)})


def word_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """Return one row per word of a parse: head, margin, marginal and the next best head.

    The next best head is the first different head of the word in the k-best list. Raises ValueError for a parse without
    margins and marginals.
    """
    confidence = parse.confidence
    if confidence is None or confidence.margins is None or confidence.marginals is None:
        raise ValueError("the parse has no margins and marginals: request both from the parser")
    names = ["(root)", *words]
    rows = []
    for m, word in enumerate(words, 1):
        other_heads = [tree.heads[m] for tree in confidence.trees if tree.heads[m] != parse.heads[m]]
        rows.append(
            {
                "word": word,
                "head": names[parse.heads[m]],
                "margin": float(confidence.margins[m]) / unit,
                "marginal": float(confidence.marginals[m]),
                "next head": names[other_heads[0]] if other_heads else "–",
            }
        )
    return pd.DataFrame(rows).set_index("word")


def tree_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """Return one row per tree of the k-best list: score difference from the best tree, and changed heads.

    Raises ValueError for a parse without a k-best list.
    """
    if parse.confidence is None or not parse.confidence.trees:
        raise ValueError("the parse has no k-best list: request one from the parser")
    names = ["(root)", *words]
    rows = []
    for tree in parse.confidence.trees:
        changed_words = [m for m in range(1, len(names)) if tree.heads[m] != parse.heads[m]]
        heads = ((names[m], names[parse.heads[m]], names[tree.heads[m]]) for m in changed_words)
        changes = "; ".join(f"{word}: head {before} becomes {after}" for word, before, after in heads)
        rows.append({"below the best": (parse.value - tree.value) / unit, "changed heads": changes or "–"})
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="tree"))
