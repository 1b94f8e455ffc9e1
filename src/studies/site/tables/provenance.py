"""What was run, on what, at what cost; and what a parse says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.site.collect import Results
from studies.site.tables.rows import stacked
from treebound.core.parse import Parse


def provenance(results: Sequence[Results]) -> pd.DataFrame:
    """One column a run, one row a fact. Facts of this run come from its parameters and metrics files."""
    columns = {}
    for r in results:
        decoded, trained, timed = r.decode(), r.train(), r.benchmark()
        sums = decoded.groupby("corpus", sort=False)["corpus_checksum"].first()
        machine = dict(r.info.get("machine", {}))
        machine |= machine.pop("versions", {})
        columns[r.name] = {
            "commit": str(r.info["commit"])[:12] if "commit" in r.info else "the sources in this folder",
            "stages computed at other commits, with the same code": _elsewhere(r.info) or "none",
            "date": str(r.info.get("date", "not recorded: the same run gives the same pages")),
            "machine": ", ".join(f"{k} {v}" for k, v in machine.items()) or "the one that computed this report",
            "test sets (sha256)": ", ".join(f"{corpus} {total[:12]}" for corpus, total in sums.items()),
            "part of the data": f"the first {r.params.slice} sentences" if r.params.slice else "all of it",
            "seed": str(r.params.seed),
            "models trained": str(len(trained)),
            "training, CPU seconds": f"{trained['cpu_s'].sum():,.0f}",
            "systems tested": str(len(decoded)),
            "test sentences parsed": f"{decoded['sentences'].sum():,}",
            "parsing them once, CPU seconds": f"{timed['cpu_s'].sum():,.1f}",
        }
    return pd.DataFrame(columns)


def _elsewhere(info: dict[str, Any]) -> str:
    """How many stages of a reference were computed at which other commits."""
    return ", ".join(f"{count} at {commit[:12]}" for commit, count in info.get("other_commits", {}).items())


def time_spent(results: Sequence[Results]) -> pd.DataFrame:
    """Where the time of a run goes. Rows (provenance, kind of stage), dearest first: stages, CPU minutes, wall minutes.

    Stages of a kind run side by side, so their minutes by the clock add up to more than the run took.
    """
    found = [run.times().assign(provenance=run.name) for run in results]
    data = pd.concat(found).assign(kind=lambda d: d["stage"].str.split("@").str[0])
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
    """Every trained model. Rows (provenance, corpus, learner, model): epochs, the best one, its dev UAS and LAS, CPU s.

    LAS is left out where no model has labels.
    """
    data = stacked(results, wanted, "train").rename(columns={"provenance": ""})
    data = data.sort_values(["", "corpus", "learner"], kind="stable").set_index(["", "corpus", "learner", "model"])
    names = {"epochs": "epochs", "best_epoch": "best epoch", "dev_uas": "dev UAS", "dev_las": "dev LAS"}
    if data["dev_las"].isna().all():
        del names["dev_las"]
    names["cpu_s"] = "CPU s"
    return data[list(names)].rename(columns=names)


def certificate(parse: Parse, unit: float = 1.0) -> pd.DataFrame:
    """What one parse says about itself, in one column; scores are divided by `unit`."""
    facts = {
        "score of the tree": parse.value / unit,
        "upper bound on the score of any tree": parse.bound / unit,
        "gap": parse.gap / unit,
        "status": parse.status,
        "calls of the dynamic program": parse.work.get("dp_calls", 0),
        "nodes of the search tree": parse.work.get("nodes", 0),
    }
    return pd.DataFrame({"": pd.Series(facts, dtype=object)})
