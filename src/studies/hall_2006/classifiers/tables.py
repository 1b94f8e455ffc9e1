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

    `trainings` are the CPU seconds of each training, NaN in runs from before several were timed. `missing` names a
    package that was not installed. No rows where no corpus is listed.
    """
    rows = []
    for corpus in results.params.section(Classifiers).corpora:
        seconds = results.read("timing", "classifiers", f"{corpus}.json")
        figures = results.read("classifiers", f"{corpus}.json")["rows"]
        rows += [{"corpus": corpus, "missing": "", **a, **b} for a, b in zip(figures, seconds, strict=True)]
    names = ["corpus", "section", "features", "learner", "share", "missing", "uas", "las", "complete"]
    more = ["complete_labelled", "words", "sentences", "trained_words", "train_cpu_s", "parse_cpu_s", "trainings"]
    return pd.DataFrame(rows, columns=[*names, *more])


def tests(results: Results) -> pd.DataFrame:
    """One row a corpus and two cells of `classifiers` that were compared: a, b, scored, only_a, only_b, p.

    difference, low, high: UAS and its 95 % interval over sentences, NaN in runs from before it was stored.
    """
    rows = [
        {"corpus": corpus, **test}
        for corpus in results.params.section(Classifiers).corpora
        for test in results.read("classifiers", f"{corpus}.json")["tests"]
    ]
    names = ["corpus", "a", "b", "scored", "only_a", "only_b", "p", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=names)


def trainings(of: pd.DataFrame) -> np.ndarray:
    """Return the CPU seconds of each training float64[n], added up over the sections; n is 1 where one was timed.

    of  rows of `cells`, one a section, for the same learner and features
    """
    if of["trainings"].map(lambda each: isinstance(each, list)).all():
        return np.sum(np.array(of["trainings"].tolist(), float), axis=0)
    return np.array([of["train_cpu_s"].sum()], float)


def chosen(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, learner): the parameters that the search chose, and what it tried on how many sentences.

    points: tried; UAS, LAS: of the chosen point on the development sentences. No rows where nothing was searched.
    """
    rows = {}
    for r in results:
        for corpus in r.params.section(Classifiers).corpora:
            found = r.read("classifiers", f"{corpus}.json")
            if (wanted and corpus not in wanted) or not found.get("chosen"):
                continue
            search = found["search"]
            for learner, point in found["chosen"].items():
                tried = [one for one in search["points"] if one["learner"] == learner]
                last = [one for one in tried if one["round"] == tried[-1]["round"]]
                top = next(one for one in last if all(one[name] == value for name, value in point.items()))
                rows[r.name, corpus, learner] = {
                    "parameters": ", ".join(f"{name} {value:g}" for name, value in point.items()),
                    "points": sum(one["round"] == 1 for one in tried),
                    "features": search["features"],
                    "training sentences": search["train"]["sentences"],
                    "dev sentences": search["dev"]["sentences"],
                    "dev UAS": top["uas"],
                    "dev LAS": top["las"],
                }
    if not rows:
        return pd.DataFrame()
    return pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(rows, names=["run", "corpus", "learner"]))


def summed(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (run, corpus, features, learner, share) over all sections; accuracy weighted by words, seconds added up.

    tags: gold or predicted; tested: the sentences that are parsed, in words; trainings: how many were timed
    """
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
            parts[-1] |= {"run": r.name, "missing": gone, "sections": len(of), "trainings": len(trainings(of))}
            parts[-1] |= {"tags": r.params.tags_of(str(key[0])), "tested": _tested(of)}
    return pd.DataFrame(parts, columns=None if parts else ["run", "corpus", "features", "learner", "share", "missing"])


def _tested(of: pd.DataFrame) -> str:
    """Words for the sentences that some cells parse; rows of `cells`."""
    sections = sorted(of["section"])
    count = f"{int(of['sentences'].sum()):,} sentences" if of["sentences"].notna().all() else "sentences"
    if sections == [-1]:
        return f"{count} of the test split"
    return f"{count} of section{'s' * (len(sections) > 1)} {', '.join(map(str, sections))} of ten"


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
    """Rows (run, corpus, features, one, other): UAS of the first less the second with its interval over sentences.

    only one, only other: words that one alone attaches rightly; p: McNemar's test; better: who wins at LEVEL.
    """
    rows = []
    for r in results:
        data = tests(r)
        for test in data[data["corpus"].isin(wanted or set(data["corpus"]))].itertuples():
            (one, features), (other, also) = str(test.a).split(), str(test.b).split()
            if features == also:
                better = one if test.only_a > test.only_b else other
                key = {"run": r.name, "corpus": test.corpus, "features": features, "one": one, "other": other}
                counts = {name: getattr(test, name) for name in ("difference", "low", "high")}
                if np.isnan(test.difference):
                    counts["difference"] = 100 * (test.only_a - test.only_b) / test.scored
                counts |= {"only one": test.only_a, "only other": test.only_b, "p": test.p}
                rows.append(key | counts | {"better": better if test.p < LEVEL else "–"})
    keys = ["run", "corpus", "features", "one", "other"]
    names = ["difference", "low", "high", "only one", "only other", "p", "better"]
    return pd.DataFrame(rows, columns=[*keys, *names]).set_index(keys)
