"""Tables of the joint CCG supertagger and parser (Auli & Lopez 2011, tables 4 to 6, figures 4 to 6).

The tables also report the proved optimum. Every function accepts several runs. Without metrics, a table has only the
published rows, or no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from studies.auli_lopez_2011.ccg import tables as ccg_tables
from studies.auli_lopez_2011.ccg_integration.measure import Column, column_named, column_of
from studies.site import published
from studies.site.collect import Results

PAPER = "auli_lopez_2011/ccg_integration"
PRINTED = "published"  #: value of the level `run` in the rows with figures of the paper
ROW = ["run", "parser", "decoder"]
ORDERS = ("AST", "reverse")
SPLITS = ("dev", "test")
FIGURES = ("LF", "UF", "ST")
Row = dict[tuple[str, ...], float]
Cells = dict[tuple[str, str, str], Row]


def measured(results: Results) -> dict[str, dict[str, Any]]:
    """Return the metrics of the stage `ccg-integration` by parser, with the key `timing`.

    The result is empty for runs that are older than the stage.
    """
    if not results.has("ccg-integration"):
        return {}
    return {
        name: results.read("ccg-integration", f"{name}.json")
        | {"timing": results.read("timing", "ccg-integration", f"{name}.json")}
        for name in ccg_tables.parsers(results)
    }


def _each(results: Sequence[Results]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    """Yield (run and parser, metrics of the joint model) for every run and parser."""
    for r in results:
        for name, metrics in measured(r).items():
            yield {"run": r.name, "parser": name}, metrics


#: decoder -> its name in tables, for decoders whose names differ there
NAMES = {"bp": "BP", "dd": "DD", "dd-published": "DD, steps as published", "parser": "parser alone"}


def name(decoder: str, iterations: int = 0, output: str = "") -> str:
    """Return the name of a column in tables: `BP, k = 5`, `exact, least risk`.

    output  output rule of the column; empty if it is the rule of the paper
    """
    iterations_text = f"k = {iterations}" if iterations else ""
    return ", ".join(part for part in (NAMES.get(decoder, decoder), iterations_text, RULES.get(output, "")) if part)


#: output rule -> its name in tables
RULES = {"viterbi": "Viterbi", "least-risk": "least risk"}


def _titled(column: Column) -> str:
    """Return the name that tables show for a column of the stage: decoder, iterations and output rule."""
    return name(column.decoder, column.iterations, "" if column.usual else column.output)


def titled(column: str) -> str:
    """Return the name of a column in tables (`BP, k = 1`) from its name in comparisons (`reverse bp 1`)."""
    return _titled(column_named(column)[1])


def _table(rows: Cells) -> pd.DataFrame:
    """Convert a mapping from rows to their cells into a table.

    Columns that differ only in their last level are placed side by side.
    """
    if not rows:
        return pd.DataFrame([], columns=ROW).set_index(ROW)
    data = pd.DataFrame(list(rows.values()), index=pd.MultiIndex.from_tuples(list(rows), names=ROW))
    groups = list(dict.fromkeys(column[:-1] for column in data.columns))
    data = data[[column for head in groups for column in data.columns if column[:-1] == head]]
    data.columns = pd.MultiIndex.from_tuples(data.columns)
    return data


def accuracy(results: Sequence[Results]) -> pd.DataFrame:
    """Return tables 4 and 5: labelled and unlabelled F-score (LF, UF) and supertag accuracy (ST) of each decoder.

    Rows: (run, parser, decoder); the published rows come first. Columns: (split, order, name of the score).
    """
    rows: Cells = {}
    for line in published.table(PAPER, "accuracy").to_dict("records"):
        key = (PRINTED, "CCGbank", name(line["decoder"], line["iterations"]))
        rows.setdefault(key, {}).update(_figures(line))
    for run_and_parser, metrics in _each(results):
        for row in metrics["columns"]:
            key = (run_and_parser["run"], run_and_parser["parser"], _titled(column_of(row)))
            rows.setdefault(key, {}).update(_figures(row))
    return _table(rows)


def predicted_tags() -> pd.DataFrame:
    """Return the published table 5: accuracy with predicted tags, by decoder and split."""
    data = published.table(PAPER, "predicted-tags")
    data["decoder"] = [name(row.decoder, row.iterations) for row in data.itertuples()]
    return data.drop(columns="iterations").set_index(["decoder", "split"])


def _figures(row: Mapping[Any, Any]) -> Row:
    """Return the scores in a row of metrics, by the column of the table: (split, order, name of the score)."""
    return {(row["split"], row["order"], figure): row[figure] for figure in FIGURES}


def errors(results: Sequence[Results]) -> pd.DataFrame:
    """Return the share of derivations (%) that score less than the proved optimum.

    Rows: (run, parser, decoder). Each split and order has three columns: this share, the number of sentences whose
    optimum is proved, and the mean loss in score of the derivations below the optimum.
    """
    rows: Cells = {}
    for run_and_parser, metrics in _each(results):
        for row in metrics["columns"]:
            key = (run_and_parser["run"], run_and_parser["parser"], _titled(column_of(row)))
            place, share = (row["split"], row["order"]), 100 * row["less"] / max(1, row["proved"])
            rows.setdefault(key, {}).update(
                {
                    (*place, "below optimum, %"): share,
                    (*place, "proved"): row["proved"],
                    (*place, "mean loss"): row["lost"],
                }
            )
    return _table(rows)


def speed(results: Sequence[Results]) -> pd.DataFrame:
    """Return table 6: sentences per CPU second, LF and derivations below the optimum, on dev.

    Rows: (run, parser, decoder); the published rows come first. Each order has three columns: the speed, LF, and the
    share of derivations (%) that score less than the proved optimum.
    """
    rows: Cells = {}
    for line in published.table(PAPER, "speed").to_dict("records"):
        key = (PRINTED, "CCGbank 00", name(line["decoder"], line["iterations"]))
        cells: Row = {(line["order"], "sentences / s"): line["sentences / s"], (line["order"], "LF"): line["LF"]}
        rows.setdefault(key, {}).update(cells)
    for run_and_parser, metrics in _each(results):
        comparable = [row for row in metrics["columns"] if row["split"] == "dev" and column_of(row).usual]
        dev = {(row["order"], row["decoder"], row["iterations"]): row for row in comparable}
        for line in metrics["timing"]["columns"]:
            row = dev[line["order"], line["decoder"], line["iterations"]]
            key = (run_and_parser["run"], run_and_parser["parser"], name(line["decoder"], line["iterations"]))
            cells_of_row = rows.setdefault(key, {})
            cells_of_row[line["order"], "sentences / s"], cells_of_row[line["order"], "LF"] = (
                line["per_second"],
                row["LF"],
            )
            cells_of_row[line["order"], "below optimum, %"] = 100 * row["less"] / max(1, row["proved"])
    return _table(rows)


def curves(results: Sequence[Results]) -> pd.DataFrame:
    """Return the data of figures 4 and 6: LF and share of settled sentences (%) by iteration.

    Columns: run, parser, order, decoder, iterations, LF (NaN if not measured), settled.
    """
    rows = [run_and_parser | row for run_and_parser, metrics in _each(results) for row in metrics["curves"]]
    return pd.DataFrame(rows, columns=["run", "parser", "order", "decoder", "iterations", "LF", "settled"])


def baselines(results: Sequence[Results]) -> pd.DataFrame:
    """Return the LF on dev of the parser alone and of the optimum. Rows: (run, parser, order)."""
    rows = []
    for run_and_parser, metrics in _each(results):
        for order in ORDERS:
            comparable = [row for row in metrics["columns"] if column_of(row).usual]
            scores = {row["decoder"]: row["LF"] for row in comparable if (row["split"], row["order"]) == ("dev", order)}
            rows.append(run_and_parser | {"order": order, "parser alone": scores["parser"], "exact": scores["exact"]})
    columns = ["run", "parser", "order", "parser alone", "exact"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:3])


def of_parser(table: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table that belong to one parser of one run, without the index levels run and parser.

    table  a table with the index (run, parser, ...)
    curve  rows of `curves` for the parser, which name the run and the parser
    """
    first = curve.iloc[0]
    return table.xs(first["run"], level="run").xs(first["parser"], level="parser")


def settled(results: Sequence[Results]) -> pd.DataFrame:
    """Return the share of dev sentences (%) that have settled after selected numbers of iterations.

    A sentence has settled if its beliefs have converged, or if dual decomposition has proved its derivation.

    Rows: (run, parser, order, decoder). The last column is the largest measured number of iterations.
    """
    data = curves(results)
    keys = ["run", "parser", "order", "decoder"]
    if not len(data):
        return data.set_index(keys)
    shown = sorted({1, 5, 10, 25, 50, 100, 1000, int(data["iterations"].max())} & set(data["iterations"]))
    wide = data[data["iterations"].isin(shown)].pivot(index=keys, columns="iterations", values="settled")
    return wide.rename(index=NAMES, level="decoder")


def beams(results: Sequence[Results]) -> pd.DataFrame:
    """Return the data of figure 5: joint score and LF over the sentences that all beams parse.

    Rows: (run, parser, decoder, beam).
    """
    rows = [
        run_and_parser
        | {"decoder": name(row["decoder"]), "beam": row["beam"], "joint score": row["score"], "LF": row["LF"]}
        for run_and_parser, metrics in _each(results)
        for row in metrics["beams"]
    ]
    keys = [*ROW, "beam"]
    return pd.DataFrame(rows, columns=[*keys, "joint score", "LF"]).set_index(keys)


def lengths(results: Sequence[Results]) -> pd.DataFrame:
    """Return the number and the cost of proofs of the optimum by sentence length, for dev and test together.

    Rows: (run, parser, order, words from). `at once` is the share of sentences that dual decomposition proves without
    branching.
    """
    columns = [
        "run",
        "parser",
        "order",
        "from",
        "sentences",
        "proved",
        "at once",
        "nodes, most",
        "edges",
        "CPU s",
        "most",
    ]
    rows = []
    for run_and_parser, metrics in _each(results):
        for row, seconds in zip(metrics["lengths"], metrics["timing"]["lengths"], strict=True):
            figures = (row["sentences"], row["proved"], row["root"], row["nodes"], row["edges"] * row["sentences"])
            times = (seconds["cpu_s"] * row["sentences"], seconds["cpu_s_max"])
            rows.append([run_and_parser["run"], run_and_parser["parser"], row["order"], row["from"], *figures, *times])
    data = pd.DataFrame(rows, columns=columns)
    sums = {c: "max" if c in ("nodes, most", "most") else "sum" for c in columns[4:]}
    data = data.groupby(columns[:4], sort=False).agg(sums).astype(float)
    n = data["sentences"]
    out = pd.DataFrame({"sentences": n, "proved, %": 100 * data["proved"] / n, "at once, %": 100 * data["at once"] / n})
    out["nodes, most"], out["edges"] = data["nodes, most"], data["edges"] / n
    out["CPU ms"], out["CPU ms, most"] = 1000 * data["CPU s"] / n, 1000 * data["most"]
    return out.rename_axis([*columns[:3], "words from"])


def differences(results: Sequence[Results], split: str = "test") -> pd.DataFrame:
    """Return the differences in LF between two columns of one order, with their 95 % intervals.

    Rows: (run, parser, system, baseline). Baselines are the parser alone, one iteration of belief propagation, and the
    optimum. Two columns are compared if they have the same output rule, if both have the output rule of the paper, or
    if they differ only in the output rule.
    """
    rows = []
    for run_and_parser, metrics in _each(results):
        for comparison in metrics["differences"]:
            order, _, b = comparison["b"].partition(" ")
            base = b.removesuffix(" least-risk").removesuffix(" viterbi")
            if (
                comparison["split"] == split
                and comparison["a"].startswith(order)
                and base in ("parser", "bp 1", "exact")
            ):
                figures = {"difference": comparison["value"], "low": comparison["low"], "high": comparison["high"]}
                rows.append(
                    run_and_parser
                    | {"system": comparison["a"], "baseline": comparison["b"]}
                    | figures
                    | {"sentences": comparison["sentences"]}
                )
    keys = ["run", "parser", "system", "baseline"]
    return pd.DataFrame(rows, columns=[*keys, "difference", "low", "high", "sentences"]).set_index(keys)
