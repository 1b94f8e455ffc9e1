"""CCG: translated treebanks, supertagging and its beams (Auli & Lopez 2011, tables 1 to 3 and figure 1).

Every function takes what several runs have; where none has anything, there are no rows.
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
PRINTED = "published"  #: the run that the paper's own figures are of
CORPUS = "CCGbank 00"
PARSER = ["run", "parser"]
ORDERS = ("AST", "reverse")
FIGURES = ("LF", "LP", "LR")


def parsers(results: Results) -> list[str]:
    """Return the names of the parsers. Those trained on all sentences come first, as pages report the first one."""
    settings = results.params.section(CCG).parsers
    return sorted(settings, key=lambda name: -(settings[name].sentences or math.inf))


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """CCG parser -> what the stage `ccg` wrote, with `speed`, `treebank`, `training` and its `seconds`."""
    return {
        name: results.read("ccg", f"{name}.json")
        | {"speed": results.read("timing", "ccg", f"{name}.json")}
        | {"treebank": results.read("ccg-treebank", f"{name}.json")}
        | {"training": results.read("ccg-train", f"{name}.json")}
        | {"seconds": results.read("timing", "ccg-train", f"{name}.json")}
        for name in parsers(results)
    }


def _each(results: Sequence[Results]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """(run and parser, what is known of it)."""
    for r in results:
        for name, found in measured(r).items():
            yield {"run": r.name, "parser": name}, found


def _indexed(rows: list[dict[str, Any]], keys: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=None if rows else keys).set_index(keys)


def treebanks(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser): what it is trained and tested on, and how many sentences were left out of training."""
    rows = []
    for key, found in _each(results):
        of, splits = found["treebank"], ("train", "dev", "test")
        sizes = {split: of[split]["sentences"] for split in splits}
        left = sum(found["training"]["left_out"].values())
        tags = f"predicted, {of['accuracy']['test']:.1f} % right" if "accuracy" in of else "gold"
        about = {"categories": of["train"]["categories"], "tags": tags, "left out": left}
        rows.append(key | sizes | about | {"training, CPU s": found["seconds"]["cpu_s"]})
    return _indexed(rows, PARSER)


def orders(results: Sequence[Results]) -> pd.DataFrame:
    """Table 2: rows (run, parser, order), columns (whose derivation, figure) of dev; the paper's own rows first."""
    rows: list[dict[Any, Any]] = []
    for line in published.table(PAPER, "oracle").to_dict("records"):
        figures = {("parser", f): line[f] for f in FIGURES}
        figures |= {(f"oracle {which}", f): line[f"{which} {f}"] for which in ("best", "worst") for f in FIGURES}
        rows.append({"run": PRINTED, "parser": CORPUS, "order": line["order"]} | figures)
    for key, found in _each(results):
        for order in ORDERS:
            row = found["orders"]["dev"][order]
            figures = {("parser", f): row[f] for f in FIGURES}
            for which in ("best", "worst"):
                figures |= {(f"oracle {which}", f): found["oracle"][f"{order} {which}"][f] for f in FIGURES}
            rows.append(key | {"order": order} | figures | {("charts", "categories / word"): row["categories"]})
    data = _indexed(rows, [*PARSER, "order"])
    data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data


def accuracy(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, split, order): LF, UF, ST, coverage, sentences per CPU second; the paper's own rows first."""
    rows = [
        {"run": PRINTED, "parser": f"CCGbank, {line['tags']} tags", "split": line["split"], "order": line["order"]}
        | {name: line[name] for name in ("LF", "UF", "ST")}
        for line in published.table(PAPER, "separate").to_dict("records")
    ]
    speeds = published.table(PAPER, "speed").set_index("order")["sentences / s"]
    covered = published.table(PAPER, "coverage").set_index("split")["coverage"]
    for row in rows:
        if row["parser"] == "CCGbank, gold tags":
            row["coverage, %"] = covered[row["split"]]
            row["sentences / CPU s"] = speeds[row["order"]] if row["split"] == "dev" else float("nan")
    for key, found in _each(results):
        for split in ("dev", "test"):
            for order in ORDERS:
                row = found["orders"][split][order]
                figures = {name: row[name] for name in ("LF", "UF", "ST")} | {"coverage, %": row["coverage"]}
                figures |= {"sentences / CPU s": found["speed"][split][order], "edges": row["edges"]}
                rows.append(key | {"split": split, "order": order} | figures)
    return _indexed(rows, [*PARSER, "split", "order"])


def attempts(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, order): of the sentences of dev, how many the first attempt parses, the second, ... (%)."""
    rows = []
    for key, found in _each(results):
        for order in ORDERS:
            row = found["orders"]["dev"][order]
            shares = {str(i): 100 * n / row["sentences"] for i, n in enumerate(row["levels"], 1)}
            rows.append(key | {"order": order} | shares | {"none": 100 - sum(shares.values())})
    return _indexed(rows, [*PARSER, "order"])


def beams(results: Sequence[Results]) -> pd.DataFrame:
    """Figure 1: rows (run, parser, beam), on the sentences that all beams parse: score, LF, the oracle's LF."""
    names = {"categories": "categories / word", "score": "model score", "LF": "LF", "oracle": "oracle LF", "ST": "ST"}
    rows = []
    for key, found in _each(results):
        for row in found["beams"]:
            rows.append(key | {"beam": row["beam"]} | {names[name]: row[name] for name in names})
            rows[-1] |= {"covered, %": row["covered"], "sentences": row["common"]}
    return _indexed(rows, [*PARSER, "beam"])


def differences(results: Sequence[Results]) -> pd.DataFrame:
    """Rows (run, parser, what, than): labelled F-score of one less another's, with its 95 % interval, over so many
    sentences of dev.
    """
    rows = [
        key
        | {"what": of["a"], "than": of["b"], "difference": of["value"], "low": of["low"], "high": of["high"]}
        | {"sentences": of["sentences"]}
        for key, found in _each(results)
        for of in found["differences"]
    ]
    return _indexed(rows, [*PARSER, "what", "than"])
