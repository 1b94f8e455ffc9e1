"""Tables of CCG supertagging and parsing (Auli & Lopez 2011, tables 1 to 3 and figure 1).

Every function accepts several runs. Without metrics, a table has only the published rows, or no rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg.settings import CCG
from studies.site import published
from studies.site.collect import Results

PAPER = "auli_lopez_2011"
PRINTED = "published"  #: value of the column `run` in the rows with figures of the paper
CORPUS = "CCGbank 00"
PARSER = ["run", "parser"]
ORDERS = ("AST", "reverse")
FIGURES = ("LF", "LP", "LR")


def parsers(results: Results) -> list[str]:
    """Return the names of the parsers, from the largest to the smallest limit on training sentences.

    Parsers trained on all sentences come first, because pages report the first parser.
    """
    settings = results.params.section(CCG).parsers
    return sorted(settings, key=lambda name: -(settings[name].sentences or math.inf))


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Return the metrics of the stage `ccg` by parser, with the keys `speed`, `treebank`, `training` and `seconds`."""
    return {
        name: results.read("ccg", f"{name}.json")
        | {"speed": results.read("timing", "ccg", f"{name}.json")}
        | {"treebank": results.read("ccg-treebank", f"{name}.json")}
        | {"training": results.read("ccg-train", f"{name}.json")}
        | {"seconds": results.read("timing", "ccg-train", f"{name}.json")}
        for name in parsers(results)
    }


def _each(results: Sequence[Results]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield (run and parser, metrics) for every run and parser."""
    for r in results:
        for name, metrics in measured(r).items():
            yield {"run": r.name, "parser": name}, metrics


def _indexed(rows: list[dict[str, Any]], keys: list[str]) -> pd.DataFrame:
    """Return a table of the rows with the index `keys`. Without rows, the table is empty but has the index."""
    return pd.DataFrame(rows, columns=None if rows else keys).set_index(keys)


def treebanks(results: Sequence[Results]) -> pd.DataFrame:
    """Describe the training and test data of each parser, with the number of sentences left out of training.

    Rows: (run, parser).
    """
    rows = []
    for key, metrics in _each(results):
        treebank, splits = metrics["treebank"], ("train", "dev", "test")
        sizes = {split: treebank[split]["sentences"] for split in splits}
        left_out = sum(metrics["training"]["left_out"].values())
        tags = f"predicted, {treebank['accuracy']['test']:.1f} % right" if "accuracy" in treebank else "gold"
        description = {"categories": treebank["train"]["categories"], "tags": tags, "left out": left_out}
        rows.append(key | sizes | description | {"training, CPU s": metrics["seconds"]["cpu_s"]})
    return _indexed(rows, PARSER)


def orders(results: Sequence[Results]) -> pd.DataFrame:
    """Return table 2: scores on dev of the derivations chosen by the parser, the best oracle and the worst oracle.

    Rows: (run, parser, order); the published rows come first. Columns: (who chooses the derivation, name of the score),
    and the number of categories per word in the charts.
    """
    rows: list[dict[Any, Any]] = []
    for line in published.table(PAPER, "oracle").to_dict("records"):
        figures = {("parser", f): line[f] for f in FIGURES}
        figures |= {(f"oracle {which}", f): line[f"{which} {f}"] for which in ("best", "worst") for f in FIGURES}
        rows.append({"run": PRINTED, "parser": CORPUS, "order": line["order"]} | figures)
    for key, metrics in _each(results):
        for order in ORDERS:
            row = metrics["orders"]["dev"][order]
            figures = {("parser", f): row[f] for f in FIGURES}
            for which in ("best", "worst"):
                figures |= {(f"oracle {which}", f): metrics["oracle"][f"{order} {which}"][f] for f in FIGURES}
            rows.append(key | {"order": order} | figures | {("charts", "categories / word"): row["categories"]})
    data = _indexed(rows, [*PARSER, "order"])
    data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data


def accuracy(results: Sequence[Results]) -> pd.DataFrame:
    """Return the accuracy, coverage and speed of each parser under both orders of beams.

    Rows: (run, parser, split, order); the published rows come first. Columns: labelled and unlabelled F-score (LF, UF),
    supertag accuracy (ST), coverage (%), sentences per CPU second, and edges per chart.
    """
    rows = [
        {"run": PRINTED, "parser": f"CCGbank, {line['tags']} tags", "split": line["split"], "order": line["order"]}
        | {name: line[name] for name in ("LF", "UF", "ST")}
        for line in published.table(PAPER, "separate").to_dict("records")
    ]
    speeds = published.table(PAPER, "speed").set_index("order")["sentences / s"]
    coverage = published.table(PAPER, "coverage").set_index("split")["coverage"]
    for row in rows:
        if row["parser"] == "CCGbank, gold tags":
            row["coverage, %"] = coverage[row["split"]]
            row["sentences / CPU s"] = speeds[row["order"]] if row["split"] == "dev" else float("nan")
    for key, metrics in _each(results):
        for split in ("dev", "test"):
            for order in ORDERS:
                row = metrics["orders"][split][order]
                figures = {name: row[name] for name in ("LF", "UF", "ST")} | {"coverage, %": row["coverage"]}
                figures |= {"sentences / CPU s": metrics["speed"][split][order], "edges": row["edges"]}
                rows.append(key | {"split": split, "order": order} | figures)
    return _indexed(rows, [*PARSER, "split", "order"])


def attempts(results: Sequence[Results]) -> pd.DataFrame:
    """Return the share of dev sentences (%) that the first, the second and each later attempt parses.

    Rows: (run, parser, order).
    """
    rows = []
    for key, metrics in _each(results):
        for order in ORDERS:
            row = metrics["orders"]["dev"][order]
            shares = {str(i): 100 * n / row["sentences"] for i, n in enumerate(row["levels"], 1)}
            rows.append(key | {"order": order} | shares | {"none": 100 - sum(shares.values())})
    return _indexed(rows, [*PARSER, "order"])


def beams(results: Sequence[Results]) -> pd.DataFrame:
    """Return the data of figure 1: model score, LF and oracle LF, over the sentences that all beams parse.

    Rows: (run, parser, beam).
    """
    names = {"categories": "categories / word", "score": "model score", "LF": "LF", "oracle": "oracle LF", "ST": "ST"}
    rows = []
    for key, metrics in _each(results):
        for row in metrics["beams"]:
            rows.append(key | {"beam": row["beam"]} | {names[name]: row[name] for name in names})
            rows[-1] |= {"covered, %": row["covered"], "sentences": row["common"]}
    return _indexed(rows, [*PARSER, "beam"])


def differences(results: Sequence[Results]) -> pd.DataFrame:
    """Return the differences in labelled F-score between two systems on dev, with their 95 % intervals.

    Rows: (run, parser, system, baseline). The difference is the score of the system minus the score of the baseline.
    """
    rows = [
        key
        | {
            "system": comparison["a"],
            "baseline": comparison["b"],
            "difference": comparison["value"],
            "low": comparison["low"],
            "high": comparison["high"],
        }
        | {"sentences": comparison["sentences"]}
        for key, metrics in _each(results)
        for comparison in metrics["differences"]
    ]
    return _indexed(rows, [*PARSER, "system", "baseline"])


def wide_charts(gains: pd.DataFrame) -> pd.DataFrame:
    """Return what wide charts (reverse) change against narrow charts (AST), one row per run and parser.

    gains  result of `differences`

    Columns: the difference in labelled F-score with its 95 % interval, for the best derivation in the chart and for the
    derivation of the parser, and the number of sentences of dev.
    """
    pairs = {"best derivation": ("reverse best", "AST best"), "parser": ("reverse", "AST")}
    sides = {}
    for name, (system, baseline) in pairs.items() if len(gains) else ():
        rows = gains.xs(system, level="system").xs(baseline, level="baseline")
        sides[name] = rows[["difference", "low", "high"]]
        sides[""] = rows[["sentences"]].rename(columns={"sentences": "sentences of dev"})
    if not sides:
        return gains.iloc[:0]
    return pd.concat({name: sides[name] for name in (*pairs, "")}, axis=1)
