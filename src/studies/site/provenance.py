"""What was run, on what, at what cost; and what a parse says about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from studies.site import frames
from studies.site.collect import Results
from studies.site.rows import stacked
from treebound.core.parse import Parse

#: column of `training`
CAPPED = "at the limit, %"


def times(results: Results) -> pd.DataFrame:
    """stage, wall_s, cpu_s: what `pipeline.run` noted, the last time that each stage ran. May be empty."""
    path = results.folder / "stages.csv"
    names = ["stage", "wall_s", "cpu_s"]
    data = pd.read_csv(path, names=names) if path.is_file() else pd.DataFrame(columns=names)
    return data.drop_duplicates("stage", keep="last").reset_index(drop=True)


def provenance(results: Sequence[Results]) -> pd.DataFrame:
    """One column a run, one row a fact. Facts of this run come from its parameters and metrics files."""
    columns = {}
    for r in results:
        decoded, timed = frames.decode(r), frames.benchmark(r)
        trained = [r.read("timing", "train", corpus, f"{name}.json") for corpus, name in models(r)]
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
            "training these models, CPU seconds": f"{sum(seconds['cpu_s'] for seconds in trained):,.0f}",
            "graph-based rows that all corpora have, tested": str(len(decoded)),
            "test sentences that these rows parsed": f"{decoded['sentences'].sum():,}",
            "parsing them once, as far as they were timed, CPU seconds": f"{timed['cpu_s'].sum():,.1f}",
        }
    return pd.DataFrame(columns)


def models(results: Results) -> list[tuple[str, str]]:
    """List (corpus, trained model) of every row that the stages `train` and `decode` have, of all systems and seeds."""
    found = ((corpus, row.trained) for corpus in results.corpora for row in results.params.rows_of(corpus))
    return list(dict.fromkeys(found))


def _elsewhere(info: dict[str, Any]) -> str:
    """How many stages of a reference were computed at which other commits."""
    return ", ".join(f"{count} at {commit[:12]}" for commit, count in info.get("other_commits", {}).items())


def time_spent(results: Sequence[Results]) -> pd.DataFrame:
    """Return where the time of a run goes. Rows (provenance, kind of stage), dearest first: stages, minutes.

    Stages of a kind run side by side, so their minutes by the clock add up to more than the run took. CPU time
    of a stage includes starting, reading and compiling; that of `train` is hence more than the seconds of `provenance`.
    """
    found = [times(run).assign(provenance=run.name) for run in results]
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
    """Every trained model. Rows (provenance, corpus, learner, model): epochs, best one, its dev UAS and LAS, CPU s.

    CAPPED is the share of training sentences whose decoding reached the limit on dynamic programs in the last epoch.
    LAS is left out where no model has labels, CAPPED where no training counted them.
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


def word_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """One row a word of a parse with margins and marginals: its head, how sure it is, and its head in the next tree
    of the k-best list that attaches it elsewhere.
    """
    found = parse.confidence
    if found is None or found.margins is None or found.marginals is None:
        raise ValueError("the parse has no margins and marginals")
    names = ["(root)", *words]
    rows = []
    for m, word in enumerate(words, 1):
        others = [tree.heads[m] for tree in found.trees if tree.heads[m] != parse.heads[m]]
        rows.append(
            {
                "word": word,
                "head": names[parse.heads[m]],
                "margin": float(found.margins[m]) / unit,
                "marginal": float(found.marginals[m]),
                "next head": names[others[0]] if others else "–",
            }
        )
    return pd.DataFrame(rows).set_index("word")


def tree_table(words: Sequence[str], parse: Parse, unit: float) -> pd.DataFrame:
    """One row a tree of the k-best list: what it scores less than the best, and what it attaches elsewhere."""
    if parse.confidence is None or not parse.confidence.trees:
        raise ValueError("the parse has no k-best list")
    names = ["(root)", *words]
    rows = []
    for tree in parse.confidence.trees:
        moved = [m for m in range(1, len(names)) if tree.heads[m] != parse.heads[m]]
        what = ", ".join(f"{names[m]} → {names[tree.heads[m]]}" for m in moved)
        rows.append({"below the best": (parse.value - tree.value) / unit, "words elsewhere": what or "–"})
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="tree"))
