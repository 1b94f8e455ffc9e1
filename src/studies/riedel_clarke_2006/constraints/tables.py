"""Tables of hard linguistic constraints: accuracy and times by cross-validation, and the effect of each family."""

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
#: system -> its name in tables and figures of times
SOLVERS = {BASELINE: "Chu-Liu-Edmonds", CONSTRAINTS: "ours", PUBLISHED_LOOP: "as published"}
LONG = "CPU time over 120 s"  #: heading of the number of sentences whose CPU time is over two minutes
SLOW = 1.0  #: CPU seconds above which a sentence counts as slow
KEPT = "slow-constraints"  #: name under which a run stores `slow_sentences`


def folds(results: Results) -> list[dict[str, Any]]:
    """Return one entry per corpus and fold: corpus, fold, and the metrics of the stage.

    The list is empty if the settings list no corpus.
    """
    settings = results.params.section(Constraints)
    return [
        {"corpus": corpus, "fold": fold, **results.read("constraints", corpus, f"{fold}.json")}
        for corpus in settings.corpora
        for fold in settings.folds
    ]


def analyses(results: Results) -> list[dict[str, Any]]:
    """Return one entry per cross-validated corpus: the effect of each family of constraints on one fold."""
    corpora = results.params.section(Constraints).corpora
    return [{"corpus": corpus, **results.read("constraint-analysis", f"{corpus}.json")} for corpus in corpora]


def looped(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Map each corpus to the folds on which a model was also trained with the integer program in the loop.

    Each fold has the results of the usual model under `systems`, and the results of the model trained in the loop under
    `in the loop`. Old runs have only the fold on which families are left out one at a time.
    """
    by_corpus: dict[str, list[dict[str, Any]]] = {}
    for fold in folds(results):
        if "in the loop" in fold:
            by_corpus.setdefault(fold["corpus"], []).append(fold)
    return by_corpus or {analysis["corpus"]: [analysis] for analysis in analyses(results) if "in the loop" in analysis}


def loop_gain(entries: Sequence[dict[str, Any]], system: str = CONSTRAINTS) -> tuple[float, float, float]:
    """Return the gain in LAC of a system from training in the loop, and the ends of its 95 % jackknife interval.

    LAC is the share (%) of words with the right head and label. The gain is the system's LAC after training with the
    integer program in the loop minus its LAC after training with Chu-Liu-Edmonds. The ends of the interval are NaN for
    one fold.

    entries  folds of one corpus, as `looped` returns them
    """
    pairs = [{"own": fold["in the loop"][system], "other": fold["systems"][system]} for fold in entries]
    return jackknife(pairs, lambda sums: measures(sums["own"])["LAC"] - measures(sums["other"])["LAC"])


def converted(results: Results) -> list[dict[str, Any]]:
    """Return the report of the conversion of every cross-validated corpus."""
    return [results.read("convert", f"{corpus}.json") for corpus in results.params.section(Constraints).corpora]


# --- cross-validation


def cross_validated(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return sums over the folds: one row per run, corpus and system. `by_length` stays a list with one entry per bin.

    reading, features  CPU seconds for reading, and for features and scores; NaN in older runs, which did not measure
                       them. `seconds` is the time of the solver alone
    slow               sentences whose solver takes more than SLOW CPU seconds; NaN if the run does not store it
    """
    rows = []
    for r in results:
        slow = slow_sentences(r)
        selected = [fold for fold in folds(r) if not wanted or fold["corpus"] in wanted]
        for corpus in dict.fromkeys(fold["corpus"] for fold in selected):
            in_corpus = [fold for fold in selected if fold["corpus"] == corpus]
            reading = sum(fold.get("reading_cpu_s", float("nan")) for fold in in_corpus)
            for name in in_corpus[0]["systems"]:
                parts = [fold["systems"][name] for fold in in_corpus]
                about = {"run": r.name, "corpus": corpus, "system": name, "folds": len(parts)}
                about["slow"] = slow.get((corpus, name), float("nan"))
                rows.append({**about, "reading": reading, "features": float("nan"), **_sum(parts)})
    return pd.DataFrame(rows, columns=None if rows else ["run", "corpus", "system"])


def slow_sentences(results: Results) -> pd.Series:
    """Count the sentences whose solver takes more than SLOW CPU seconds, over all folds. May have no rows.

    Index: (corpus, system). The models are trained without the program in the loop. For a reference run without
    sentences, the stored counts are returned.
    """
    keys = ["corpus", "system"]
    if not results.keeps_sentences:
        stored = results.kept_table(KEPT)
        return stored.set_index(keys)["slow"] if len(stored) else pd.Series(dtype=float, name="slow")
    settings = results.params.section(Constraints)
    parts = []
    for corpus in settings.corpora:
        for fold in settings.folds:
            data = results.predicted(corpus, f"constraints.{fold}.csv")
            parts.append(data[data["training"] == BASELINE].assign(corpus=corpus))
    if not parts:
        return pd.Series(dtype=float, name="slow")
    data = pd.concat(parts)
    return (data["seconds"] > SLOW).groupby([data[name] for name in keys], sort=False).sum().rename("slow")


def _sum(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add up the sums of several folds. The largest value of `slowest` is returned instead of a sum."""
    sums: dict[str, Any] = {}
    for key, first in parts[0].items():
        if key == "by_length":
            bins = sorted({entry["longer_than"] for part in parts for entry in part[key]})
            sums[key] = [
                {"longer_than": low}
                | {
                    name: sum(entry[name] for part in parts for entry in part[key] if entry["longer_than"] == low)
                    for name in first[0]
                    if name != "longer_than"
                }
                for low in bins
            ]
        elif key == "status":
            sums[key] = dict(sum((Counter(part[key]) for part in parts), Counter()))
        else:
            values = [part[key] for part in parts]
            sums[key] = max(values) if key == "slowest" else sum(values)
    return sums


def binomial(a: int, b: int) -> float:
    """Return the two-sided binomial p of `a` successes and `b` failures, as the sign test and McNemar's exact test do.

    Under the null hypothesis, success and failure are equally probable.
    """
    from scipy.stats import binomtest

    return float(binomtest(a, a + b).pvalue) if a + b else 1.0


def measures(row: pd.Series | dict[str, Any]) -> dict[str, float]:
    """Return the labelled and unlabelled accuracies in %.

    LAC and UAC are shares of all words. LC and UC are shares of sentences that are completely correct.
    """
    return {
        "LAC": 100 * row["labelled"] / row["n"],
        "UAC": 100 * row["heads"] / row["n"],
        "LC": 100 * row["complete_labelled"] / row["sentences"],
        "UC": 100 * row["complete"] / row["sentences"],
    }


def constraint_accuracy(data: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's Table 1 and our results, with significance tests against the baseline of the same run.

    data  result of `cross_validated`

    better, worse  sentences with more, or fewer, right words (head and label), followed by the sign test
    gained, lost   words that become right, or wrong, followed by McNemar's test
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in published.table(RIEDEL_CLARKE, "accuracy").to_dict("records"):
        rows["published", row["system"]] = {name: row[name] for name in ("LAC", "UAC", "LC", "UC")}
    for row in data[data["system"].isin([BASELINE, CONSTRAINTS])].to_dict("records"):
        name = "Chu-Liu-Edmonds" if row["system"] == BASELINE else CONSTRAINTS
        cells = measures(row)
        if row["system"] == CONSTRAINTS:
            cells |= {"better": row["better"], "worse": row["worse"], "p, sign": binomial(row["better"], row["worse"])}
            cells |= {"gained": row["gained"], "lost": row["lost"], "p, McNemar": binomial(row["gained"], row["lost"])}
        rows[f"{row['corpus']}, {row['run']}", name] = cells
    return _frame(rows, ["", "system"])


def solver_times(data: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU ms per sentence by run, corpus and length, with a column per solver.

    The table has the form that `site.charts.times` takes.
    """
    rows: dict[tuple, dict[str, float]] = {}
    for row in data[data["system"].isin(SOLVERS)].to_dict("records"):
        for length_bin in row["by_length"]:
            place = row["run"], row["corpus"], "labelled arcs", "non-projective", length_bin["longer_than"]
            rows.setdefault(place, {})[SOLVERS[row["system"]]] = (
                1e3 * length_bin["seconds"] / max(length_bin["sentences"], 1)
            )
    names = ["run", "corpus", "model", "space", "longer_than"]
    index = pd.MultiIndex.from_tuples(list(rows) or [("",) * len(names)], names=names)[: len(rows)]
    return pd.DataFrame(list(rows.values()), index=index)


def constraint_times(data: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's Table 2 by length: CPU ms, sentences over two CPU minutes, and iterations, by solver."""
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        by_name = systems.set_index("system")["by_length"]
        bins = by_name[BASELINE]
        for i, low in enumerate(entry["longer_than"] for entry in bins):
            high = bins[i + 1]["longer_than"] if i + 1 < len(bins) else None
            cells: dict[Any, Any] = {("", "sentences"): bins[i]["sentences"]}
            for name, short in SOLVERS.items():
                entry, count = by_name[name][i], by_name[name][i]["sentences"]
                cells[short, "ms"] = 1e3 * entry["seconds"] / count
                if name != BASELINE:
                    cells[short, LONG] = entry["long"]
                    cells[short, "iterations"] = entry["iterations"] / count
                    cells[short, "first, ms"] = 1e3 * entry["first"] / count
            rows[f"{corpus}, {run}", f"{low + 1}-{high}" if high else f"over {low}"] = cells
    return _frame(rows, ["", "words"])


FIRST = "share of the solve time in the first iteration, more than, %"


def claims() -> pd.Series:
    """Return the published times and numbers of iterations of the solver, indexed by the name of the claim."""
    return published.table(RIEDEL_CLARKE, "claims").set_index("claim")["published"]


def constraint_targets(data: pd.DataFrame) -> pd.DataFrame:
    """Return the times and numbers of iterations that the paper claims for its solver, and our measurements.

    A published bound is a text such as "under 0.5".
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for row in data[data["system"].isin([CONSTRAINTS, PUBLISHED_LOOP])].to_dict("records"):
        rows[f"{row['corpus']}, {row['run']}", SOLVERS[row["system"]]] = {
            "fewer than 20 iterations, %": 100 * row["few_iterations"] / row["sentences"],
            "under 0.5 s, %": 100 * row["short"] / row["sentences"],
            LONG: row["long"],
            "slowest, s": row["slowest"],
            "mean, s": row["seconds"] / row["sentences"],
            "mean iterations": row["iterations"] / row["sentences"],
            "share of the first iteration, %": 100 * row["first"] / row["seconds"],
            "stopped at the limit": row["status"].get("limit", 0),
            "no tree": row["status"].get("infeasible", 0),
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
    """Return the paper's Table 3: results with the q best variables of every word.

    The column `no tree` counts the sentences in which these variables allow no tree.
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for (run, corpus), systems in data.groupby(["run", "corpus"], sort=False):
        full = systems[systems["system"] == CONSTRAINTS].iloc[0]
        shown = [s for s in systems["system"] if s.startswith(f"{CONSTRAINTS}, q")]
        shown.sort(key=lambda name: int(name.rpartition(" ")[2]))
        for name in (BASELINE, *shown, CONSTRAINTS):
            row = systems[systems["system"] == name].iloc[0]
            short = {BASELINE: "Chu-Liu-Edmonds", CONSTRAINTS: "all"}.get(name, name.removeprefix(f"{CONSTRAINTS}, "))
            rows[f"{corpus}, {run}", short] = {
                "CPU s": row["seconds"],
                "time saved, %": 100 * (1 - row["seconds"] / full["seconds"]),
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
    """Return the analyses of a run for the wanted corpora."""
    return [analysis for analysis in analyses(r) if not wanted or analysis["corpus"] in wanted]


def family_worth(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return, for each family of constraints on one fold, the share of trees that break it, and its effect on accuracy.

    alone         LAC with the family alone minus LAC of the baseline
    left out      LAC with all families minus LAC without the family
    gained, lost  words that become right, or wrong, with the family alone
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    for r in results:
        for analysis in _analyses(r, wanted):
            systems, place = analysis["systems"], r.place(analysis["corpus"])
            lac = {name: measures(system)["LAC"] for name, system in systems.items()}
            for row in analysis["broken"]:
                alone = systems[f"only {row['family']}"]
                rows[place, row["family"]] = {
                    ("", "fold"): analysis["fold"],
                    ("", "sentences"): analysis["sentences"],
                    ("trees that break it, %", "gold"): 100 * row["gold"] / analysis["sentences"],
                    ("trees that break it, %", "baseline"): 100 * row["baseline"] / analysis["sentences"],
                    ("trees that break it, %", "both"): 100 * row["both"] / analysis["sentences"],
                    ("LAC", "alone"): lac[f"only {row['family']}"] - lac[BASELINE],
                    ("LAC", "left out"): lac[CONSTRAINTS] - lac[f"without {row['family']}"],
                    ("words, alone", "changed"): alone["changed"],
                    ("words, alone", "gained"): alone["gained"],
                    ("words, alone", "lost"): alone["lost"],
                }
    return _frame(rows, ["", "family"])


def in_the_loop(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Compare models trained with Chu-Liu-Edmonds and with the integer program. Both decoders parse with each model."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for r in results:
        for corpus, entries in looped(r).items():
            if wanted and corpus not in wanted:
                continue
            for training, key in (("Chu-Liu-Edmonds", "systems"), ("constraints", "in the loop")):
                for name, short in ((BASELINE, "Chu-Liu-Edmonds"), (CONSTRAINTS, "constraints")):
                    row = _sum([fold[key][name] for fold in entries])
                    cells = {"folds": len(entries), "sentences": row["sentences"], **measures(row)}
                    cells |= {"fallbacks": sum(row["status"].get(status, 0) for status in ("limit", "infeasible"))}
                    cells["iterations"] = row["iterations"] / row["sentences"]
                    rows[r.place(corpus), training, short] = cells
    return _frame(rows, ["", "trained with", "decoded with"])


def loop_gains(results: Sequence[Results], wanted: Sequence[str] = ()) -> pd.DataFrame:
    """Return the gain in LAC from training in the loop, with its interval: one row per corpus and run.

    The columns `folds` and `sentences` state on how many folds and sentences the gain is measured.
    """
    rows = {}
    for r in results:
        for corpus, entries in looped(r).items():
            if not wanted or corpus in wanted:
                about = {
                    "folds": len(entries),
                    "sentences": sum(fold["systems"][CONSTRAINTS]["sentences"] for fold in entries),
                }
                gain = dict(zip(("difference", "low", "high"), loop_gain(entries), strict=True))
                rows[r.place(corpus)] = about | gain
    return pd.DataFrame.from_dict(rows, orient="index")


def folded_corpora(results: Sequence[Results]) -> pd.DataFrame:
    """Describe the corpora of the cross-validation, counted over all splits together.

    Columns: sentences, words, mean length, and the share of arcs that another arc crosses.
    """
    rows: dict[tuple[str, str], dict[Any, Any]] = {}
    paper = published.table(RIEDEL_CLARKE, "corpus").iloc[0].to_dict()
    other_figures = {name: value for name, value in paper.items() if name != "sentences"}
    for r in results:
        for conversion in converted(r):
            rows["Alpino of CoNLL-X", "published"] = {
                "sentences": int(paper["sentences"]),
                "words": float("nan"),
                **other_figures,
            }
            splits = conversion["splits"].values()
            words = sum(s["tokens"] for s in splits)
            sentences = sum(s["sentences"] for s in splits)
            rows[conversion["meta"]["title"], r.name] = {
                "sentences": sentences,
                "words": words,
                "words a sentence": words / sentences,
                "arcs crossed by another, %": 100 * sum(s["crossing_arcs"] for s in splits) / words,
            }
    return _frame(rows, ["corpus", "run"])


def _frame(rows: dict[Any, dict[Any, Any]], names: Iterable[str]) -> pd.DataFrame:
    """Build a table from a mapping of index tuples to rows. names: names of the index levels."""
    if not rows:
        return pd.DataFrame()
    data = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=list(names)))
    if all(isinstance(column, tuple) for column in data.columns):
        data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data.replace({None: np.nan})
