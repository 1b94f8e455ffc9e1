"""Hard linguistic constraints: accuracy and times by cross-validation, and what each family of constraints is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from studies.riedel_clarke_2006.constraints.jackknife import jackknife
from studies.riedel_clarke_2006.constraints.settings import Constraints
from studies.site import published
from studies.site.collect import Results

RIEDEL_CLARKE = "riedel_clarke_2006"
BASELINE, CONSTRAINTS, PUBLISHED_LOOP = "baseline", "constraints", "constraints, published loop"
#: what tables and figures of times call them
SOLVERS = {BASELINE: "Chu-Liu-Edmonds", CONSTRAINTS: "ours", PUBLISHED_LOOP: "as published"}


def folds(results: Results) -> list[dict[str, Any]]:
    """One entry a corpus and fold: corpus, fold, and what the stage wrote. None where no corpus is listed."""
    settings = results.params.section(Constraints)
    return [
        {"corpus": corpus, "fold": fold, **results.read("constraints", corpus, f"{fold}.json")}
        for corpus in settings.corpora
        for fold in settings.folds
    ]


def analyses(results: Results) -> list[dict[str, Any]]:
    """One entry a cross-validated corpus: what each family of constraints is worth on one fold."""
    corpora = results.params.section(Constraints).corpora
    return [{"corpus": corpus, **results.read("constraint-analysis", f"{corpus}.json")} for corpus in corpora]


def looped(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Map each corpus to the folds on which a model was trained with the program in the loop.

    An entry has `systems` and, trained in the loop, `in the loop`. Old runs have the analysed fold alone.
    """
    out: dict[str, list[dict[str, Any]]] = {}
    for fold in folds(results):
        if "in the loop" in fold:
            out.setdefault(fold["corpus"], []).append(fold)
    return out or {one["corpus"]: [one] for one in analyses(results) if "in the loop" in one}


def loop_gain(found: Sequence[dict[str, Any]], system: str = CONSTRAINTS) -> tuple[float, float, float]:
    """LAC of a system trained in the loop less LAC without; 95 % interval of the jackknife over folds, NaN for one."""
    pairs = [{"own": fold["in the loop"][system], "other": fold["systems"][system]} for fold in found]
    return jackknife(pairs, lambda sums: measures(sums["own"])["LAC"] - measures(sums["other"])["LAC"])


def converted(results: Results) -> list[dict[str, Any]]:
    """The conversion table of every cross-validated corpus."""
    return [results.read("convert", f"{corpus}.json") for corpus in results.params.section(Constraints).corpora]


# --- cross-validation


def cross_validated(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Sums over the folds: a row a run, corpus and system; `by_length` stays a list, one entry a bin.

    reading, features: CPU seconds beside `seconds`, those of the solver; NaN in runs from before they were measured.
    """
    rows = []
    for r in results:
        every = [fold for fold in folds(r) if not wanted or fold["corpus"] in wanted]
        for corpus in dict.fromkeys(fold["corpus"] for fold in every):
            here = [fold for fold in every if fold["corpus"] == corpus]
            reading = sum(fold.get("reading_cpu_s", float("nan")) for fold in here)
            for name in here[0]["systems"]:
                parts = [fold["systems"][name] for fold in here]
                about = {"run": r.name, "corpus": corpus, "system": name, "folds": len(parts)}
                rows.append({**about, "reading": reading, "features": float("nan"), **_sum(parts)})
    return pd.DataFrame(rows, columns=None if rows else ["run", "corpus", "system"])


def _sum(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures of several folds added up; of `slowest` the largest."""
    out: dict[str, Any] = {}
    for key, first in parts[0].items():
        if key == "by_length":
            bins = sorted({one["longer_than"] for part in parts for one in part[key]})
            out[key] = [
                {"longer_than": low}
                | {
                    name: sum(one[name] for part in parts for one in part[key] if one["longer_than"] == low)
                    for name in first[0]
                    if name != "longer_than"
                }
                for low in bins
            ]
        elif key == "status":
            out[key] = dict(sum((Counter(part[key]) for part in parts), Counter()))
        else:
            values = [part[key] for part in parts]
            out[key] = max(values) if key == "slowest" else sum(values)
    return out


def binomial(a: int, b: int) -> float:
    """Two-sided p of `a` successes among a + b fair tosses: the sign test, and McNemar's exact test."""
    from scipy.stats import binomtest

    return float(binomtest(a, a + b).pvalue) if a + b else 1.0


def measures(row: pd.Series | dict[str, Any]) -> dict[str, float]:
    """LAC, UAC (% of all words), LC, UC (% of the sentences)."""
    return {
        "LAC": 100 * row["labelled"] / row["n"],
        "UAC": 100 * row["heads"] / row["n"],
        "LC": 100 * row["complete_labelled"] / row["sentences"],
        "UC": 100 * row["complete"] / row["sentences"],
    }


def constraint_accuracy(data: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 1 beside ours; `data`: `cross_validated`. Tests compare with the baseline of the same run.

    better, worse: sentences with more, fewer words right (head and label), and the sign test on them; gained, lost:
    words, and McNemar's test.
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in published.table(RIEDEL_CLARKE, "accuracy").to_dict("records"):
        rows["published", row["system"]] = {name: row[name] for name in ("LAC", "UAC", "LC", "UC")}
    for row in data[data["system"].isin([BASELINE, CONSTRAINTS])].to_dict("records"):
        name = "Chu-Liu-Edmonds" if row["system"] == BASELINE else CONSTRAINTS
        found = measures(row)
        if row["system"] == CONSTRAINTS:
            found |= {"better": row["better"], "worse": row["worse"], "p, sign": binomial(row["better"], row["worse"])}
            found |= {"gained": row["gained"], "lost": row["lost"], "p, McNemar": binomial(row["gained"], row["lost"])}
        rows[f"{row['corpus']}, {row['run']}", name] = found
    return _frame(rows, ["", "system"])


def solver_times(data: pd.DataFrame) -> pd.DataFrame:
    """As `site.charts.times` takes them: CPU ms of a sentence by run, corpus and length, a column a solver."""
    rows: dict[tuple, dict[str, float]] = {}
    for one in data[data["system"].isin(SOLVERS)].to_dict("records"):
        for of in one["by_length"]:
            at = one["run"], one["corpus"], "labelled arcs", "non-projective", of["longer_than"]
            rows.setdefault(at, {})[SOLVERS[one["system"]]] = 1e3 * of["seconds"] / max(of["sentences"], 1)
    names = ["run", "corpus", "model", "space", "longer_than"]
    index = pd.MultiIndex.from_tuples(list(rows) or [("",) * len(names)], names=names)[: len(rows)]
    return pd.DataFrame(list(rows.values()), index=index)


def constraint_times(data: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 2 by length: CPU ms of a sentence, iterations and ms of the first one, for each solver."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        by_name = systems.set_index("system")["by_length"]
        bins = by_name[BASELINE]
        for i, low in enumerate(one["longer_than"] for one in bins):
            high = bins[i + 1]["longer_than"] if i + 1 < len(bins) else None
            cells: dict[Any, Any] = {("", "sentences"): bins[i]["sentences"]}
            for name, short in SOLVERS.items():
                one, count = by_name[name][i], by_name[name][i]["sentences"]
                cells[short, "ms"] = 1e3 * one["seconds"] / count
                if name != BASELINE:
                    cells[short, "over 120 s"] = one["long"]
                    cells[short, "iterations"] = one["iterations"] / count
                    cells[short, "first, ms"] = 1e3 * one["first"] / count
            rows[f"{corpus}, {run}", f"{low + 1}-{high}" if high else f"over {low}"] = cells
    return _frame(rows, ["", "words"])


FIRST = "share of the solve time in the first iteration, more than, %"


def claims() -> pd.Series:
    """What the paper says of its solving in figures: claim -> figure."""
    return published.table(RIEDEL_CLARKE, "claims").set_index("claim")["published"]


def constraint_targets(data: pd.DataFrame) -> pd.DataFrame:
    """What the paper claims of its solving, and what we measure. A published bound is a text that says so."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in data[data["system"].isin([CONSTRAINTS, PUBLISHED_LOOP])].to_dict("records"):
        rows[f"{row['corpus']}, {row['run']}", SOLVERS[row["system"]]] = {
            "fewer than 20 iterations, %": 100 * row["few_iterations"] / row["sentences"],
            "under 0.5 s, %": 100 * row["short"] / row["sentences"],
            "over 120 s": row["long"],
            "slowest, s": row["slowest"],
            "mean, s": row["seconds"] / row["sentences"],
            "mean iterations": row["iterations"] / row["sentences"],
            "share of the first iteration, %": 100 * row["first"] / row["seconds"],
            "fallbacks": sum(count for status, count in row["status"].items() if status != "optimal"),
        }
    if rows:
        cells = {
            "fewer than 20 iterations, %": claims()["sentences solved in fewer than 20 iterations, %"],
            "mean, s": f"under {claims()['mean solve time of a sentence, at most, s']:g}",
            "share of the first iteration, %": f"over {claims()[FIRST]:g}",
        }
        rows = {("published", "lp_solve"): cells} | rows
    return _frame(rows, ["", "loop"])


def approximation(data: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 3: the q best variables of every word. No tree: sentences in which they leave none."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        every = systems[systems["system"] == CONSTRAINTS].iloc[0]
        shown = [s for s in systems["system"] if s.startswith(f"{CONSTRAINTS}, q")]
        shown.sort(key=lambda name: int(name.rpartition(" ")[2]))
        for name in (BASELINE, *shown, CONSTRAINTS):
            row = systems[systems["system"] == name].iloc[0]
            short = {BASELINE: "Chu-Liu-Edmonds", CONSTRAINTS: "all"}.get(name, name.removeprefix(f"{CONSTRAINTS}, "))
            rows[f"{corpus}, {run}", short] = {
                "CPU s": row["seconds"],
                "time saved, %": 100 * (1 - row["seconds"] / every["seconds"]),
                "iterations": row["iterations"] / row["sentences"],
                "LAC": measures(row)["LAC"],
                "UAC": measures(row)["UAC"],
                "no tree": row["status"].get("infeasible", 0),
            }
    if rows:
        nothing = dict.fromkeys(next(iter(rows.values())), float("nan"))
        base = nothing | {"CPU s": claims()["Chu-Liu-Edmonds, solve time of the corpus, s"]}
        ten = nothing | {"time saved, %": claims()["solve time saved by q = 10, %"]}
        rows = {("published", "Chu-Liu-Edmonds"): base, ("published", "q = 10"): ten} | rows
    return _frame(rows, ["", "variables a word"])


# --- one fold, family by family


def _analyses(r: Results, wanted: Sequence[str]) -> list[dict[str, Any]]:
    return [found for found in analyses(r) if not wanted or found["corpus"] in wanted]


def family_worth(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Families of constraints on one fold: trees that break each, and the accuracy with it alone and without it.

    alone: LAC less that of the baseline; left out: LAC with all families less that without this one. gained and lost:
    words, of the family alone.
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for r in results:
        for found in _analyses(r, wanted):
            systems, where = found["systems"], f"{found['corpus']}, {r.name}"
            lac = {name: measures(system)["LAC"] for name, system in systems.items()}
            for row in found["broken"]:
                alone = systems[f"only {row['family']}"]
                rows[where, row["family"]] = {
                    ("", "fold"): found["fold"],
                    ("", "sentences"): found["sentences"],
                    ("trees that break it, %", "gold"): 100 * row["gold"] / found["sentences"],
                    ("trees that break it, %", "baseline"): 100 * row["baseline"] / found["sentences"],
                    ("trees that break it, %", "both"): 100 * row["both"] / found["sentences"],
                    ("LAC", "alone"): lac[f"only {row['family']}"] - lac[BASELINE],
                    ("LAC", "left out"): lac[CONSTRAINTS] - lac[f"without {row['family']}"],
                    ("words, alone", "changed"): alone["changed"],
                    ("words, alone", "gained"): alone["gained"],
                    ("words, alone", "lost"): alone["lost"],
                }
    return _frame(rows, ["", "family"])


def in_the_loop(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Training with Chu-Liu-Edmonds against training with the integer program, each decoded by both, over folds."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for r in results:
        for corpus, found in looped(r).items():
            if wanted and corpus not in wanted:
                continue
            for training, key in (("Chu-Liu-Edmonds", "systems"), ("constraints", "in the loop")):
                for name, short in ((BASELINE, "Chu-Liu-Edmonds"), (CONSTRAINTS, "constraints")):
                    row = _sum([fold[key][name] for fold in found])
                    cells = {"folds": len(found), "sentences": row["sentences"], **measures(row)}
                    cells |= {"fallbacks": row["status"].get("infeasible", 0)}
                    cells["iterations"] = row["iterations"] / row["sentences"]
                    rows[f"{corpus}, {r.name}", training, short] = cells
    return _frame(rows, ["", "trained with", "decoded with"])


def loop_gains(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Rows (corpus and run): folds, sentences, and what training in the loop gains in LAC with its interval."""
    rows = {}
    for r in results:
        for corpus, found in looped(r).items():
            if not wanted or corpus in wanted:
                about = {"folds": len(found), "sentences": sum(f["systems"][CONSTRAINTS]["sentences"] for f in found)}
                gain = dict(zip(("difference", "low", "high"), loop_gain(found), strict=True))
                rows[f"{corpus}, {r.name}"] = about | gain
    return pd.DataFrame.from_dict(rows, orient="index")


def folded_corpora(results: Sequence[Results]) -> pd.DataFrame:
    """The corpora of the cross-validation: sentences, words, mean length and arcs that others cross, all splits."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    paper = published.table(RIEDEL_CLARKE, "corpus").iloc[0].to_dict()
    rest = {name: value for name, value in paper.items() if name != "sentences"}
    for r in results:
        for found in converted(r):
            rows["Alpino of CoNLL-X", "published"] = {
                "sentences": int(paper["sentences"]),
                "words": float("nan"),
                **rest,
            }
            splits = found["splits"].values()
            words = sum(s["tokens"] for s in splits)
            sentences = sum(s["sentences"] for s in splits)
            rows[found["meta"]["title"], r.name] = {
                "sentences": sentences,
                "words": words,
                "words a sentence": words / sentences,
                "arcs crossed by another, %": 100 * sum(s["crossing_arcs"] for s in splits) / words,
            }
    return _frame(rows, ["corpus", "run"])


def _frame(rows: dict[Any, dict[Any, Any]], names: Iterable[str]) -> pd.DataFrame:
    """A table from its rows by the levels of its index."""
    if not rows:
        return pd.DataFrame()
    data = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=list(names)))
    if all(isinstance(column, tuple) for column in data.columns):
        data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data.replace({None: np.nan})
