"""Memory-based learning against support vector machines: accuracy, time and tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from studies.hall_2006.classifiers.settings import Classifiers
from studies.site.collect import Results

LEVEL = 0.01  #: of McNemar's test, as in the paper


def cells(results: Results) -> pd.DataFrame:
    """One row a corpus and cell of the stage `classifiers`: section, features, learner, share, accuracy, seconds.

    `missing` names a package that was not installed. No rows where no corpus is listed.
    """
    rows = []
    for corpus in results.params.section(Classifiers).corpora:
        seconds = results.read("timing", "classifiers", f"{corpus}.json")
        figures = results.read("classifiers", f"{corpus}.json")["rows"]
        rows += [{"corpus": corpus, "missing": "", **a, **b} for a, b in zip(figures, seconds, strict=True)]
    names = ["corpus", "section", "features", "learner", "share", "missing", "uas", "las", "complete"]
    more = ["complete_labelled", "words", "sentences", "trained_words", "train_cpu_s", "parse_cpu_s"]
    return pd.DataFrame(rows, columns=[*names, *more])


def tests(results: Results) -> pd.DataFrame:
    """One row a corpus and two cells of `classifiers` that were compared: a, b, scored, only_a, only_b, p."""
    rows = [
        {"corpus": corpus, **test}
        for corpus in results.params.section(Classifiers).corpora
        for test in results.read("classifiers", f"{corpus}.json")["tests"]
    ]
    return pd.DataFrame(rows, columns=["corpus", "a", "b", "scored", "only_a", "only_b", "p"])


def summed(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, features, learner, share) over all sections; accuracy weighted by words, seconds added up."""
    parts = []
    for r in results:
        data = cells(r)
        data = data[data["corpus"].isin(wanted or set(data["corpus"]))]
        for key, of in data.groupby(["corpus", "features", "learner", "share"], sort=False):
            gone, weights = of["missing"].max(), of["words"].to_numpy(float)
            mean = lambda name, of=of, w=weights: float(np.average(of[name].astype(float), weights=w))  # noqa: E731
            names = ("uas", "las", "complete", "complete_labelled")
            figures = dict.fromkeys(names, float("nan")) if gone else {name: mean(name) for name in names}
            added = {name: float(of[name].sum()) for name in ("words", "trained_words", "train_cpu_s", "parse_cpu_s")}
            parts.append(dict(zip(("corpus", "features", "learner", "share"), key, strict=True)) | figures | added)
            parts[-1] |= {"run": r.name, "missing": gone, "sections": len(of)}
    return pd.DataFrame(parts, columns=None if parts else ["run", "corpus", "features", "learner", "share", "missing"])


def table(data: pd.DataFrame) -> pd.DataFrame:
    """The paper's table, of `summed`: unlabelled and labelled attachment and exact match, times."""
    if not len(data):
        return data
    data = data[data["share"] == 100].set_index(["run", "corpus", "features", "learner"])
    names = {"uas": "AS_U", "las": "AS_L", "complete": "EM_U", "complete_labelled": "EM_L"}
    out = data[list(names)].rename(columns=names)
    out["training, CPU s"] = data["train_cpu_s"]
    out["words / CPU s"] = data["words"] / data["parse_cpu_s"].where(data["parse_cpu_s"] > 0)
    out[""] = [f"{package} not installed" if package else "" for package in data["missing"]]
    return out if data["missing"].any() else out.drop(columns="")


def significance(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, features, one, other): words that one alone attaches rightly, p, and who wins at LEVEL."""
    rows = []
    for r in results:
        data = tests(r)
        for test in data[data["corpus"].isin(wanted or set(data["corpus"]))].itertuples():
            (one, features), (other, also) = str(test.a).split(), str(test.b).split()
            if features == also:
                better = one if test.only_a > test.only_b else other
                key = {"run": r.name, "corpus": test.corpus, "features": features, "one": one, "other": other}
                counts = {"only one": test.only_a, "only other": test.only_b, "p": test.p}
                rows.append(key | counts | {"better": better if test.p < LEVEL else "–"})
    keys = ["run", "corpus", "features", "one", "other"]
    return pd.DataFrame(rows, columns=[*keys, "only one", "only other", "p", "better"]).set_index(keys)
